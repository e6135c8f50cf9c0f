/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program as a shared object, as an extension module of an interpreter is one. It uses
 * predefined handles where Sidelight compares with them or takes them apart.
 */
#include "../whose_memory.h"

/* What the loader of this object calls. */
int run(void);

static MPI_Win new_window(int64_t **memory)
{
    MPI_Win win;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "same_size", "true"));
    CHECK_OK(MPI_Win_allocate(4 * sizeof **memory, sizeof **memory, info, MPI_COMM_WORLD,
                              (void *)memory, &win));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(is_sidelights(NULL));
    memset(*memory, 0, 4 * sizeof **memory);
    return win;
}

static void sums(void)
{
    int64_t *memory, seven = 7, before = -1;
    MPI_Win win = new_window(&memory);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Accumulate(&seven, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    CHECK_OK(MPI_Fetch_and_op(&seven, &before, MPI_INT64_T, 0, 1, MPI_NO_OP, win));
    CHECK_OK(
        MPI_Put(&seven, 1, MPI_INT64_T, (check_rank + 1) % check_size, 2, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Put(&seven, 1, MPI_INT64_T, MPI_PROC_NULL, 3, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(memory[0], check_rank == 0 ? 7 * check_size : 0);
    CHECK_EQ(before, 0);
    CHECK_EQ(memory[2], 7);
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
}

static void own_window_of_one(void)
{
    int64_t memory = 1, two = 2;
    MPI_Win win;
    CHECK_OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK_OK(MPI_Accumulate(&two, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_EQ(memory, 3);
    CHECK_OK(MPI_Win_free(&win));
}

int run(void)
{
    check_begin(NULL, NULL);
    sums();
    own_window_of_one();
    return check_end();
}
