/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that use a small buffer again before the epoch is over, which MPI does not allow and
 * hosts take: what is sent is what was there at the call, also where the operation has to wait.
 */
#include "nonblocking.h"
#include <sidelight.h>

enum { VALUES = 10 };

/* A variable of a loop, and one more value for each kind of operation; the buffers are changed at
 * once. */
static void issue(struct window *w, int target)
{
    static int64_t before; /* what is answered comes later */
    int64_t value, expected = 0;
    int32_t pair[2];
    for (int i = 0; i < VALUES; ++i) {
        value = 100 + i;
        window_put(w, target, i, &value);
    }
    value = 7;
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT64_T, target, window_at(w, target, 8 * VALUES), 1,
                            MPI_INT64_T, MPI_SUM, w->win));
    value = 9;
    CHECK_OK(MPI_Compare_and_swap(&value, &expected, &before, MPI_INT64_T, target,
                                  window_at(w, target, 8 * (VALUES + 1)), w->win));
    pair[0] = 3;
    pair[1] = 4;
    CHECK_OK(MPI_Put(pair, 2, MPI_INT32_T, target, window_at(w, target, 8 * (VALUES + 2)), 2,
                     MPI_INT32_T, w->win));
    value = expected = -1;
    pair[0] = pair[1] = -1;
}

static void check_cells(const struct window *w)
{
    int32_t pair[2];
    for (int i = 0; i < VALUES; ++i)
        CHECK_EQ(window_cell(w, i), 100 + i);
    CHECK_EQ(window_cell(w, VALUES), 7);
    CHECK_EQ(window_cell(w, VALUES + 1), 9);
    memcpy(pair, w->base + 8 * (VALUES + 2), sizeof pair);
    CHECK_EQ(pair[0], 3);
    CHECK_EQ(pair[1], 4);
}

static void clear(struct window *w)
{
    memset(w->base, 0, 8 * (VALUES + 3));
    MPI_Barrier(w->comm);
}

static void late_post(struct window *w)
{
    MPI_Request opening;
    check_step("late post");
    clear(w);
    if (w->rank == 0) {
        MPI_Group to = only(w, 1);
        CHECK_OK(MPIX_Win_istart(to, 0, w->win, &opening));
        issue(w, 1);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, w->comm);
        CHECK_OK(MPI_Win_complete(w->win));
        wait_for(&opening);
        MPI_Group_free(&to);
    } else if (w->rank == 1) {
        MPI_Group from = only(w, 0);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, w->comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        CHECK_OK(MPI_Win_wait(w->win));
        check_cells(w);
        MPI_Group_free(&from);
    }
}

static void late_unlock(struct window *w)
{
    MPI_Request opening;
    check_step("late unlock");
    clear(w);
    if (w->rank == 1) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win));
        CHECK_OK(MPI_Win_flush(1, w->win));
    }
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win, &opening));
        issue(w, 1);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, w->comm);
        CHECK_OK(MPI_Win_unlock(1, w->win));
        wait_for(&opening);
    } else if (w->rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, w->comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Win_unlock(1, w->win));
    }
    MPI_Barrier(w->comm);
    if (w->rank == 1)
        check_cells(w);
}

/* As a library of trees does it: nobody knows whether the others have come to the fence. */
static void late_fence(struct window *w)
{
    int const target = (w->rank + 1) % w->size;
    check_step("late fence");
    clear(w);
    if (w->rank == 0)
        usleep(20000);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    issue(w, target);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    check_cells(w);
}

static void everything(struct window *w)
{
    if (w->size > 1) {
        late_post(w);
        late_unlock(w);
    }
    late_fence(w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run_everywhere("early_reuse", everything, 8 * (VALUES + 3), 1);
    return check_end();
}
