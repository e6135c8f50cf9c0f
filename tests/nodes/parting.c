/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that end as soon as their last window is freed. Some come out of its last barrier before
 * others, who must not take it for a loss. All talk to rank 0 alone before, so that most
 * connections are made in that barrier, and it takes its time.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 20 };

int main(int argc, char** argv)
{
    int64_t memory = 0;
    int64_t const one = 1;
    int rank, size;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(&memory, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int k = 0; k < ROUNDS; ++k) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win); /* errors are fatal */
    MPI_Finalize();
    bool const good = memory == (rank == 0 ? (int64_t)ROUNDS * size : 0);
    puts(good ? "ok" : "not all have arrived");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
