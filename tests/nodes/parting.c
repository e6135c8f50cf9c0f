/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that end as soon as their last window is freed. Some come out of its last barrier before
 * others, who must not take it for a loss. All talk to rank 0 alone before, so that most
 * connections are made in that barrier, and it takes its time.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 20 };

int main(int argc, char** argv)
{
    int64_t* memory = NULL;
    int64_t const one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int k = 0; k < ROUNDS; ++k) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win); /* errors are fatal */
    MPI_Finalize();
    puts("ok");
    return 0;
}
