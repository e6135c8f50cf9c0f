/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that sit in epochs until they are killed: rank 0 holds a lock, the others wait in the
 * library for a lock, a fence, an exposure and a nonblocking unlock that never come.
 */
#include "../windows.h"
#include <sidelight.h>

static void hold_lock(struct window *w)
{
    int64_t const one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w[0].win);
    MPI_Win_lock_all(0, w[1].win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, w[0].win);
    MPI_Win_flush(0, w[0].win);
}

static void wait_for_lock(struct window *w)
{
    int64_t const one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w[0].win);
    MPI_Put(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w[0].win);
    MPI_Win_unlock(0, w[0].win);
}

static void wait_for_fence(struct window *w) { MPI_Win_fence(0, w[1].win); }

static void wait_for_exposure(struct window *w)
{
    int const origin = 0;
    MPI_Group group = check_group(1, &origin);
    MPI_Win_post(group, 0, w[1].win);
    MPI_Win_wait(w[1].win);
}

static void wait_for_request(struct window *w)
{
    MPI_Request requests[2];
    MPIX_Win_ilock(MPI_LOCK_SHARED, 0, 0, w[0].win, &requests[0]);
    MPIX_Win_iunlock(0, w[0].win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    static void (*const sit[])(struct window *) = {wait_for_lock, wait_for_fence, wait_for_exposure,
                                                   wait_for_request};
    struct window w[2];
    check_begin(&argc, &argv);
    w[0] = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 1 << 16, 8);
    w[1] = window_open(FLAVOR_SHARED, MPI_COMM_WORLD, 4096, 8);
    if (check_rank == 0)
        hold_lock(w);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("sitting: rank=%d pid=%d\n", check_rank, (int)getpid());
    fflush(stdout);
    if (check_rank > 0)
        sit[(check_rank - 1) % 4](w);
    for (;;)
        pause();
}
