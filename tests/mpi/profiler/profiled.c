/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a known number of calls, for the tool to count. Each rank also prints whether the
 * memory of its window is Sidelight's.
 */
#include "../whose_memory.h"

enum { ROUNDS = 10 };

int main(int argc, char **argv)
{
    int64_t *base = NULL, value = 1, old = -1, got = 0;
    MPI_Win win;
    check_begin(&argc, &argv);
    CHECK_OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    printf("profiled: rank=%d sidelight=%d\n", check_rank, is_sidelights(base));
    base[0] = base[1] = 0;
    CHECK_OK(MPI_Win_fence(0, win));
    for (int k = 0; k < ROUNDS; ++k)
        CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(base[0], check_rank == 0 ? ROUNDS * check_size : 0);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int k = 0; k < ROUNDS; ++k) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, 0, 2 + check_rank, 1, MPI_INT64_T, win));
        CHECK_OK(MPI_Win_flush(0, win));
        CHECK_OK(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, 0, 1, MPI_SUM, win));
        CHECK_OK(MPI_Get(&got, 1, MPI_INT64_T, 0, 2 + check_rank, 1, MPI_INT64_T, win));
        CHECK_OK(MPI_Win_unlock(0, win));
        CHECK_EQ(got, value);
        CHECK(old >= k && old < ROUNDS * check_size);
    }
    CHECK_OK(MPI_Win_free(&win));
    return check_end();
}
