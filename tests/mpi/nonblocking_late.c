/* SPDX-License-Identifier: BSD-3-Clause */
/* What the nonblocking calls do when the other side is late, and when they are wrong. */
#include "nonblocking.h"
#include <sidelight.h>

/* --- The other side is late: ranks 0 and 1 ---------------------------------------------------- */

static void late_post(struct window *w)
{
    int64_t const value = 11;
    MPI_Request r;
    check_step("late post");
    if (w->rank == 0) {
        MPI_Group to = only(w, 1);
        CHECK_OK(MPIX_Win_istart(to, 0, w->win, &r)); /* MPI_Win_start may wait */
        at_once(&r);
        window_put(w, 1, 8, &value);
        CHECK_OK(MPIX_Win_icomplete(w->win, &r));
        CHECK(check_pending(&r));
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, w->comm);
        wait_for(&r);
        MPI_Group_free(&to);
    } else if (w->rank == 1) {
        MPI_Group from = only(w, 0);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, w->comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        CHECK_OK(MPI_Win_wait(w->win));
        CHECK_EQ(window_cell(w, 8), 11);
        MPI_Group_free(&from);
    }
}

static void late_complete(struct window *w)
{
    int64_t const value = 12;
    MPI_Request r;
    check_step("late complete");
    if (w->rank == 1) {
        MPI_Group from = only(w, 0);
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        CHECK_OK(MPIX_Win_iwait(w->win, &r));
        CHECK(check_pending(&r));
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, w->comm);
        wait_for(&r);
        CHECK_EQ(window_cell(w, 8), 12);
        MPI_Group_free(&from);
    } else if (w->rank == 0) {
        MPI_Group to = only(w, 1);
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        window_put(w, 1, 8, &value);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, w->comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Win_complete(w->win));
        MPI_Group_free(&to);
    }
}

static void late_unlock(struct window *w)
{
    int64_t const value = 13;
    MPI_Request opening, flush, r;
    check_step("late unlock");
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, w->comm);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, w->comm, MPI_STATUS_IGNORE);
        CHECK(window_cell(w, 8) != 13);
        CHECK_OK(MPI_Win_unlock(0, w->win));
    } else if (w->rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, w->comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win, &opening));
        at_once(&opening);
        window_put(w, 0, 8, &value);
        CHECK_OK(MPIX_Win_iflush(0, w->win, &flush));
        CHECK_OK(MPIX_Win_iunlock(0, w->win, &r));
        CHECK(check_pending(&flush));
        CHECK(check_pending(&r));
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, w->comm);
        wait_for(&r);
        wait_for(&flush);
    }
    MPI_Barrier(w->comm);
    if (w->rank == 0)
        CHECK_EQ(window_cell(w, 8), 13);
}

static void late_fence(struct window *w)
{
    MPI_Request r = MPI_REQUEST_NULL;
    check_step("late fence");
    CHECK_OK(MPI_Win_fence(0, w->win));
    if (w->rank == 0) {
        int64_t const value = 14;
        window_put(w, 1, 8, &value);
        CHECK_OK(MPIX_Win_ifence(MPI_MODE_NOSUCCEED, w->win, &r));
        CHECK(check_pending(&r));
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, w->comm);
        wait_for(&r);
    } else {
        if (w->rank == 1)
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, w->comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    }
    if (w->rank == 1)
        CHECK_EQ(window_cell(w, 8), 14);
}

/* A flush waits for what was issued to its target and before it, and for nothing else: rank 1 has
 * its own lock, and waits for the one that rank 0 holds. */
static void flush_what_was_before(struct window *w)
{
    int64_t const value = 15;
    MPI_Request r[5], opening;
    check_step("ages of flushes");
    MPI_Barrier(w->comm);
    if (w->rank == 0)
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    MPI_Barrier(w->comm);
    if (w->rank == 1) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win));
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_SHARED, 0, 0, w->win, &opening));
        at_once(&opening);
        window_put(w, 1, 9, &value);
        window_put(w, 0, 9, &value);
        CHECK_OK(MPIX_Win_iflush(1, w->win, &r[0]));
        wait_for(&r[0]);
        CHECK_OK(MPIX_Win_iflush_all(w->win, &r[0]));
        CHECK_OK(MPIX_Win_iflush(0, w->win, &r[1]));
        CHECK_OK(MPIX_Win_iflush_local(0, w->win, &r[2]));
        CHECK_OK(MPIX_Win_iflush_local_all(w->win, &r[3]));
        for (int i = 0; i < 4; ++i)
            CHECK(check_pending(&r[i]));
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, w->comm);
        CHECK_OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Win_unlock(0, w->win));
        CHECK_OK(MPIX_Win_iunlock(1, w->win, &r[4]));
        wait_for(&r[4]);
    } else if (w->rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, w->comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Win_unlock(0, w->win));
    }
    MPI_Barrier(w->comm);
}

/* --- Errors ----------------------------------------------------------------------------------- */

static void wrong_calls(struct window *w)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Win const win = w->win;
    check_step("wrong calls");
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPIX_Win_icomplete(win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_iwait(win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_iunlock(0, win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_iunlock_all(win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_iflush(0, win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_iflush_all(win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_iflush_local(0, win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_iflush_local_all(win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_ilock(MPI_LOCK_SHARED, w->size, 0, win, &r), MPI_ERR_RANK);
    CHECK_ERROR(MPIX_Win_ilock(4711, 0, 0, win, &r), MPI_ERR_LOCKTYPE);
    CHECK_ERROR(MPIX_Win_ilock(MPI_LOCK_SHARED, 0, 1 << 27, win, &r), MPI_ERR_ASSERT);
    CHECK_ERROR(MPIX_Win_ilock_all(1 << 27, win, &r), MPI_ERR_ASSERT);
    CHECK_ERROR(MPIX_Win_ifence(1 << 27, win, &r), MPI_ERR_ASSERT);
    CHECK_ERROR(MPIX_Win_ipost(MPI_GROUP_NULL, 0, win, &r), MPI_ERR_GROUP);
    CHECK_ERROR(MPIX_Win_istart(MPI_GROUP_NULL, 0, win, &r), MPI_ERR_GROUP);
    CHECK(r == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL));
}

static void everything(struct window *w)
{
    if (is_left_out(w))
        return;
    if (w->size > 1) {
        late_post(w);
        late_complete(w);
        late_unlock(w);
        late_fence(w);
        flush_what_was_before(w);
    }
    wrong_calls(w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run_everywhere("nonblocking", everything, 8 * CELLS, 8);
    return check_end();
}
