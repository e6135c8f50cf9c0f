/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two windows, locked by everyone in the same order: nobody waits in a circle, although a blocking
 * call returns before all of its locks are granted. Here the first is a lock_all that has to wait
 * for an earlier epoch before it can ask. And a lock waits for none but the lock of the blocking
 * call before it, if that is still open: not for a start epoch of another window, or a lock that a
 * nonblocking call has asked for, whose target hears of what the caller does behind that lock.
 *
 * locks_in_order    (3 ranks)
 */
#include "nonblocking.h"
#include <sidelight.h>
#include <unistd.h>

enum { ASLEEP_MICROSECONDS = 200 * 1000 };

static void signal_to(const struct window *w, int rank)
{
    MPI_Send(NULL, 0, MPI_BYTE, rank, 3, w->comm);
}

static void await_signal(const struct window *w, int rank)
{
    MPI_Recv(NULL, 0, MPI_BYTE, rank, 3, w->comm, MPI_STATUS_IGNORE);
}

/* Its exposure comes late, so that rank 0's lock_all is asked for after rank 1's lock. */
static void locks_all(struct window *first, struct window *second)
{
    MPI_Group late = only(first, 2);
    MPI_Request opened, closed;
    int64_t const value = 5;
    CHECK_OK(MPIX_Win_istart(late, 0, first->win, &opened));
    wait_for(&opened);
    window_put(first, 2, 2, &value);
    CHECK_OK(MPIX_Win_icomplete(first->win, &closed));
    CHECK(check_pending(&closed));
    signal_to(first, 1);
    CHECK_OK(MPI_Win_lock_all(0, first->win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, second->win));
    window_put(first, 1, 1, &value);
    CHECK_OK(MPI_Win_flush(1, first->win));
    window_put(second, 1, 1, &value);
    CHECK_OK(MPI_Win_unlock(1, second->win));
    CHECK_OK(MPI_Win_unlock_all(first->win));
    wait_for(&closed);
    MPI_Group_free(&late);
}

static void locks_itself(struct window *first, struct window *second)
{
    await_signal(first, 0);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first->win));
    signal_to(first, 2);
    usleep(ASLEEP_MICROSECONDS);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, second->win));
    CHECK_EQ(window_cell(first, 1), 0);
    CHECK_EQ(window_cell(second, 1), 0);
    CHECK_OK(MPI_Win_unlock(1, second->win));
    CHECK_OK(MPI_Win_unlock(1, first->win));
}

static void exposes(struct window *first, int told_by)
{
    MPI_Group origin = only(first, 0);
    await_signal(first, told_by);
    CHECK_OK(MPI_Win_post(origin, 0, first->win));
    CHECK_OK(MPI_Win_wait(first->win));
    MPI_Group_free(&origin);
}

static void starts_then_locks(struct window *first, struct window *second)
{
    MPI_Group target = only(first, 1);
    MPI_Request opened, closed;
    int64_t const value = 6;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first->win));
    window_put(first, 1, 2, &value);
    CHECK_OK(MPI_Win_unlock(1, first->win));
    CHECK_OK(MPIX_Win_istart(target, 0, first->win, &opened));
    window_put(first, 1, 3, &value);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, second->win));
    CHECK_OK(MPI_Win_unlock(2, second->win));
    signal_to(first, 1);
    CHECK_OK(MPIX_Win_icomplete(first->win, &closed));
    wait_for(&opened);
    wait_for(&closed);
    MPI_Group_free(&target);
}

/* Its blocking call before that has waited for a lock of the same window. */
static void asks_then_locks(struct window *first, struct window *second)
{
    MPI_Request asked;
    int64_t const value = 7;
    await_signal(first, 1);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first->win));
    window_put(first, 1, 4, &value);
    CHECK_OK(MPI_Win_unlock(1, first->win));
    signal_to(first, 1);
    await_signal(first, 1);
    CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 1, 0, first->win, &asked));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, second->win));
    window_put(second, 1, 4, &value);
    CHECK_OK(MPI_Win_unlock(1, second->win));
    signal_to(first, 1);
    wait_for(&asked);
    CHECK_OK(MPI_Win_unlock(1, first->win));
}

static void holds_twice(struct window *first, struct window *second)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first->win));
    signal_to(first, 0);
    usleep(ASLEEP_MICROSECONDS);
    CHECK_OK(MPI_Win_unlock(1, first->win));
    await_signal(first, 0);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first->win));
    CHECK_EQ(window_cell(first, 4), 7);
    signal_to(first, 0);
    await_signal(first, 0);
    CHECK_EQ(window_cell(second, 4), 7);
    CHECK_OK(MPI_Win_unlock(1, first->win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    struct window first = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    struct window second = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    CHECK_EQ(first.size, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    if (first.rank == 0)
        locks_all(&first, &second);
    else if (first.rank == 1)
        locks_itself(&first, &second);
    else
        exposes(&first, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    check_step("a lock behind a start epoch of another window");
    if (first.rank == 0)
        starts_then_locks(&first, &second);
    else if (first.rank == 1)
        exposes(&first, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    check_step("a lock behind a nonblocking one of another window");
    if (first.rank == 0)
        asks_then_locks(&first, &second);
    else if (first.rank == 1)
        holds_twice(&first, &second);
    window_close(&second);
    window_close(&first);
    return check_end();
}
