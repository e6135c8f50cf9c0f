/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs with the library of another host preloaded, or with SIDELIGHT_ENABLE=0: the library steps
 * aside, and each call of every kind that it takes over does what the host does alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "whose_memory.h"

static void says_so(void)
{
    int (*active)(void) = NULL;
    *(void **)&active = dlsym(RTLD_DEFAULT, "sidelight_active");
    CHECK(active != NULL && active() == 0);
}

static MPI_Win new_window(int64_t **memory)
{
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(4 * sizeof **memory, sizeof **memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                              (void *)memory, &win));
    memset(*memory, 0, 4 * sizeof **memory);
    CHECK(!is_sidelights(NULL));
    return win;
}

static void asked(MPI_Win win, const int64_t *memory)
{
    void *base = NULL;
    int flag = 0, size = 0;
    MPI_Group group;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, (void *)&base, &flag));
    CHECK(flag != 0 && base == memory);
    CHECK_OK(MPI_Win_get_group(win, &group));
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_EQ(size, check_size);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Win_set_info(win, info));
    CHECK_OK(MPI_Info_free(&info));
}

static void fences(void)
{
    int64_t *memory, seven = 7, got = -1;
    const int next = (check_rank + 1) % check_size;
    MPI_Win win = new_window(&memory);
    asked(win, memory);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&seven, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Accumulate(&seven, 1, MPI_INT64_T, next, 1, 1, MPI_INT64_T, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(memory[0], 7);
    CHECK_EQ(memory[1], 7);
    CHECK_OK(MPI_Get(&got, 1, MPI_INT64_T, next, 1, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(got, 7);
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
}

static void locks(void)
{
    int64_t *memory, one = 1, before = -1, sum = 0;
    MPI_Request request;
    MPI_Win win = new_window(&memory);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK(before >= 0 && before < check_size);
    CHECK_OK(MPI_Rput(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &sum, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T,
                                MPI_NO_OP, win));
    CHECK_OK(MPI_Win_sync(win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_EQ(sum, check_size);
    CHECK_OK(MPI_Win_free(&win));
}

static void memory_of_mpi(void)
{
    void *block = NULL;
    CHECK_OK(MPI_Alloc_mem(4096, MPI_INFO_NULL, (void *)&block));
    memset(block, 1, 4096);
    CHECK(!is_sidelights(NULL));
    CHECK_OK(MPI_Free_mem(block));
}

/* Handles of another host are not as wide: where the library is one's, it makes none. */
static void no_operation(void)
{
    int (*create)(void (*)(void), MPI_Op *) = NULL;
    MPI_Op op[3] = {MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL};
    *(void **)&create = dlsym(RTLD_DEFAULT, "MPIX_Am_op_create");
    if (getenv("SIDELIGHT_ENABLE") == NULL) {
        CHECK(create != NULL && create(locks, &op[1]) != MPI_SUCCESS);
    }
    for (int i = 0; i < 3; ++i)
        CHECK(op[i] == MPI_OP_NULL);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    says_so();
    no_operation();
    fences();
    locks();
    memory_of_mpi();
    return check_end();
}
