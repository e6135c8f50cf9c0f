/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profiling tool for the bindings of mpif.h and the module mpi: it defines two of them under the
 * names that gfortran makes, counts the calls, and calls their PMPI twins. One of the two is taken
 * over by Sidelight. When a rank ends that called any, it prints how often each was called.
 */
#include <mpi.h>
#include <stdio.h>

void mpi_put_(void *origin, MPI_Fint *origin_count, MPI_Fint *origin_type, MPI_Fint *target,
              MPI_Aint *displacement, MPI_Fint *target_count, MPI_Fint *target_type, MPI_Fint *win,
              MPI_Fint *error);
void pmpi_put_(void *origin, MPI_Fint *origin_count, MPI_Fint *origin_type, MPI_Fint *target,
               MPI_Aint *displacement, MPI_Fint *target_count, MPI_Fint *target_type, MPI_Fint *win,
               MPI_Fint *error);
void mpi_win_get_attr_(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag,
                       MPI_Fint *error);
void pmpi_win_get_attr_(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag,
                        MPI_Fint *error);

static int puts_seen, attributes_seen, own_rank = -1;

static void count(int *calls)
{
    if (own_rank < 0)
        PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    ++*calls;
}

__attribute__((destructor)) static void report(void)
{
    if (own_rank >= 0)
        printf("tool: rank=%d mpi_put_=%d mpi_win_get_attr_=%d\n", own_rank, puts_seen,
               attributes_seen);
    fflush(stdout);
}

void mpi_put_(void *origin, MPI_Fint *origin_count, MPI_Fint *origin_type, MPI_Fint *target,
              MPI_Aint *displacement, MPI_Fint *target_count, MPI_Fint *target_type, MPI_Fint *win,
              MPI_Fint *error)
{
    count(&puts_seen);
    pmpi_put_(origin, origin_count, origin_type, target, displacement, target_count, target_type,
              win, error);
}

void mpi_win_get_attr_(MPI_Fint *win, MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag,
                       MPI_Fint *error)
{
    count(&attributes_seen);
    pmpi_win_get_attr_(win, key, value, flag, error);
}
