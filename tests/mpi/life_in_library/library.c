/* SPDX-License-Identifier: BSD-3-Clause */
/* Initialises MPI before preloaded libraries are initialised, and ends it when they have been. */
#include <mpi.h>
#include <stddef.h>

__attribute__((constructor)) static void begin(void) { MPI_Init(NULL, NULL); }

__attribute__((destructor)) static void end(void) { MPI_Finalize(); }

int rank_in_library(void);

int rank_in_library(void)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
