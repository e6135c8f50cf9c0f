/* SPDX-License-Identifier: BSD-3-Clause */
/* The nonblocking calls one by one, beside blocking calls and requests of other kinds. */
#include "nonblocking.h"
#include <sidelight.h>

/* --- Each call in its place ------------------------------------------------------------------- */

static void fences(struct window *w)
{
    MPI_Request r[2];
    check_step("ifence");
    CHECK_OK(MPIX_Win_ifence(0, w->win, &r[0]));
    for (int64_t k = 0; k < ROUNDS; ++k) {
        int64_t const value = 10 * k + w->rank;
        window_put(w, window_right_of(w), 0, &value);
        CHECK_OK(MPIX_Win_ifence(0, w->win, &r[1]));
        CHECK_OK(MPI_Waitall(k == 0 ? 2 : 1, k == 0 ? r : &r[1], MPI_STATUSES_IGNORE));
        CHECK_EQ(window_cell(w, 0), 10 * k + window_left_of(w));
        CHECK_OK(MPIX_Win_ifence(0, w->win, &r[1]));
        wait_for(&r[1]);
    }
    CHECK_OK(MPIX_Win_ifence(MPI_MODE_NOSUCCEED, w->win, &r[1]));
    wait_for(&r[1]);
}

/* A ring; the two closing requests are waited for in either order. */
static void groups(struct window *w)
{
    MPI_Group from = only(w, window_left_of(w)), to = only(w, window_right_of(w));
    check_step("ipost, istart, icomplete, iwait");
    for (int64_t k = 0; k < ROUNDS; ++k) {
        int64_t const value = 10 * k + w->rank;
        MPI_Request opening[2], closing[2];
        CHECK_OK(MPIX_Win_ipost(from, 0, w->win, &opening[0]));
        CHECK_OK(MPIX_Win_istart(to, 0, w->win, &opening[1]));
        at_once(&opening[0]);
        at_once(&opening[1]);
        window_put(w, window_right_of(w), 1, &value);
        CHECK_OK(MPIX_Win_icomplete(w->win, &closing[0]));
        CHECK_OK(MPIX_Win_iwait(w->win, &closing[1]));
        wait_for(&closing[k % 2]);
        wait_for(&closing[1 - k % 2]);
        CHECK_EQ(window_cell(w, 1), 10 * k + window_left_of(w));
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

static void locks(struct window *w)
{
    check_step("ilock, iunlock and flushes");
    for (int64_t k = 0; k < ROUNDS; ++k) {
        int64_t const value = 10 * k + w->rank;
        int64_t seen = -1;
        MPI_Request opening, r;
        int const type = k % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
        CHECK_OK(MPIX_Win_ilock(type, window_right_of(w), 0, w->win, &opening));
        at_once(&opening);
        window_put(w, window_right_of(w), 2, &value);
        CHECK_OK(MPIX_Win_iflush(window_right_of(w), w->win, &r));
        wait_for(&r);
        CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, window_right_of(w), 2, 1, MPI_INT64_T, w->win));
        CHECK_OK(MPIX_Win_iflush_local(window_right_of(w), w->win, &r));
        wait_for(&r);
        CHECK_EQ(seen, value);
        CHECK_OK(MPIX_Win_iunlock(window_right_of(w), w->win, &r));
        wait_for(&r);
    }
    MPI_Barrier(w->comm);
}

static void locks_of_all(struct window *w)
{
    int64_t values[ROUNDS], sum = 0, ones[WINDOW_MOST_RANKS];
    MPI_Request opening, r[3];
    check_step("ilock_all, iunlock_all and flushes");
    CHECK_OK(MPIX_Win_ilock_all(0, w->win, &opening));
    at_once(&opening);
    for (int64_t k = 0; k < ROUNDS; ++k) {
        values[k] = k;
        for (int target = 0; target < w->size; ++target)
            CHECK_OK(MPI_Accumulate(&values[k], 1, MPI_INT64_T, target, 3 + w->rank, 1, MPI_INT64_T,
                                    k == 0 ? MPI_REPLACE : MPI_SUM, w->win));
        sum += k;
    }
    CHECK_OK(MPIX_Win_iflush_all(w->win, &r[0]));
    CHECK_OK(MPIX_Win_iflush_local_all(w->win, &r[1]));
    CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int target = 0; target < w->size; ++target)
        CHECK_OK(
            MPI_Get(&ones[target], 1, MPI_INT64_T, target, 3 + w->rank, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPIX_Win_iunlock_all(w->win, &r[2]));
    wait_for(&r[2]);
    for (int target = 0; target < w->size; ++target)
        CHECK_EQ(ones[target], sum);
    MPI_Barrier(w->comm);
}

/* Epochs opened by one form and closed by the other. */
static void mixed(struct window *w)
{
    MPI_Group from = only(w, window_left_of(w)), to = only(w, window_right_of(w));
    MPI_Request r;
    int64_t value;
    check_step("blocking and nonblocking calls");
    for (int64_t k = 0; k < ROUNDS; ++k) {
        value = 100 * k + w->rank;
        if (k % 2 == 0) {
            CHECK_OK(MPI_Win_post(from, 0, w->win));
            CHECK_OK(MPIX_Win_istart(to, 0, w->win, &r));
            at_once(&r);
            window_put(w, window_right_of(w), 0, &value);
            CHECK_OK(MPI_Win_complete(w->win));
            CHECK_OK(MPIX_Win_iwait(w->win, &r));
            wait_for(&r);
        } else {
            CHECK_OK(MPIX_Win_ipost(from, 0, w->win, &r));
            CHECK_OK(MPI_Request_free(&r));
            CHECK_OK(MPI_Win_start(to, 0, w->win));
            window_put(w, window_right_of(w), 0, &value);
            CHECK_OK(MPIX_Win_icomplete(w->win, &r));
            CHECK_OK(MPI_Win_wait(w->win));
            wait_for(&r);
        }
        CHECK_EQ(window_cell(w, 0), 100 * k + window_left_of(w));
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, window_right_of(w), 0, w->win));
    window_put(w, window_right_of(w), 1, &value);
    CHECK_OK(MPIX_Win_iunlock(window_right_of(w), w->win, &r));
    wait_for(&r);
    CHECK_OK(MPIX_Win_ilock_all(0, w->win, &r));
    at_once(&r);
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    window_put(w, window_right_of(w), 2, &value);
    CHECK_OK(MPIX_Win_ifence(0, w->win, &r));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    wait_for(&r);
    CHECK_EQ(window_cell(w, 2), value - w->rank + window_left_of(w));
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Every way to wait or test, together with receives and sends. */
static void finish_in_some_way(int way, int count, MPI_Request *r)
{
    int index, flag = 0, done = 0, some[8];
    switch (way % 5) {
    case 0:
        CHECK_OK(MPI_Waitall(count, r, MPI_STATUSES_IGNORE));
        break;
    case 1:
        for (int i = 0; i < count; ++i)
            CHECK_OK(MPI_Waitany(count, r, &index, MPI_STATUS_IGNORE));
        break;
    case 2:
        while (done != MPI_UNDEFINED)
            CHECK_OK(MPI_Waitsome(count, r, &done, some, MPI_STATUSES_IGNORE));
        break;
    case 3:
        while (done != MPI_UNDEFINED)
            CHECK_OK(MPI_Testsome(count, r, &done, some, MPI_STATUSES_IGNORE));
        break;
    default:
        while (!flag)
            CHECK_OK(MPI_Testall(count, r, &flag, MPI_STATUSES_IGNORE));
        break;
    }
    for (int i = 0; i < count; ++i)
        CHECK(r[i] == MPI_REQUEST_NULL);
}

static void requests_of_all_kinds(struct window *w)
{
    MPI_Group from = only(w, window_left_of(w)), to = only(w, window_right_of(w));
    check_step("requests of all kinds together");
    for (int k = 0; k < ROUNDS; ++k) {
        int64_t const value = 1000 * k + w->rank;
        int sent = k, received = -1;
        MPI_Request r[6], opening;
        CHECK_OK(MPIX_Win_ipost(from, 0, w->win, &r[0]));
        CHECK_OK(MPIX_Win_istart(to, 0, w->win, &opening));
        CHECK_OK(MPI_Request_free(&opening));
        MPI_Irecv(&received, 1, MPI_INT, window_left_of(w), 3, w->comm, &r[1]);
        window_put(w, window_right_of(w), 5, &value);
        CHECK_OK(MPIX_Win_icomplete(w->win, &r[2]));
        MPI_Isend(&sent, 1, MPI_INT, window_right_of(w), 3, w->comm, &r[3]);
        CHECK_OK(MPIX_Win_iwait(w->win, &r[4]));
        r[5] = MPI_REQUEST_NULL;
        finish_in_some_way(k, 6, r);
        CHECK_EQ(received, k);
        CHECK_EQ(window_cell(w, 5), 1000 * k + window_left_of(w));
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

/* The ways to ask for the status of a request that stays. Answer whether it is complete. */
static int by_status(MPI_Request r)
{
    int flag = 0;
    CHECK_OK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE));
    return flag;
}

#if 100 * MPI_VERSION + MPI_SUBVERSION >= 401
static int by_status_of_all(MPI_Request r)
{
    int flag = 0;
    CHECK_OK(MPI_Request_get_status_all(1, &r, &flag, MPI_STATUSES_IGNORE));
    return flag;
}

static int by_status_of_any(MPI_Request r)
{
    int flag = 0, index = -1;
    CHECK_OK(MPI_Request_get_status_any(1, &r, &index, &flag, MPI_STATUS_IGNORE));
    return flag;
}

static int by_status_of_some(MPI_Request r)
{
    int count = 0, index = -1;
    CHECK_OK(MPI_Request_get_status_some(1, &r, &count, &index, MPI_STATUSES_IGNORE));
    return count == 1;
}
#endif

typedef int asking(MPI_Request);

static asking *const askings[] = {
    by_status,
#if 100 * MPI_VERSION + MPI_SUBVERSION >= 401
    by_status_of_all,
    by_status_of_any,
    by_status_of_some,
#endif
};

/* A status says that nothing was received and nothing cancelled. */
static void statuses(struct window *w)
{
    check_step("statuses");
    for (size_t k = 0; k < sizeof askings / sizeof *askings; ++k) {
        MPI_Request r;
        MPI_Status status;
        int flag = 0, count = -1;
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, window_right_of(w), 0, w->win, &r));
        while (!askings[k](r))
            ;
        CHECK(r != MPI_REQUEST_NULL);
        CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_OK(MPIX_Win_iunlock(window_right_of(w), w->win, &r));
        while (!askings[k](r))
            ;
        CHECK(r != MPI_REQUEST_NULL);
        CHECK_OK(MPI_Wait(&r, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK_EQ(flag, 0);
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_EQ(count, 0);
    }
}

/* Freed before completion; the blocking call that comes last says that all of it has happened. */
static void freed(struct window *w)
{
    static int64_t values[ROUNDS];
    MPI_Request r;
    check_step("requests freed before completion");
    for (int k = 0; k < ROUNDS; ++k) {
        values[k] = 7 * k + w->rank;
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, window_right_of(w), 0, w->win, &r));
        CHECK_OK(MPI_Request_free(&r));
        window_put(w, window_right_of(w), 6, &values[k]);
        CHECK_OK(MPIX_Win_iunlock(window_right_of(w), w->win, &r));
        CHECK_OK(MPI_Request_free(&r));
        CHECK(r == MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_EQ(window_cell(w, 6), 7 * (ROUNDS - 1) + window_left_of(w));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

static void everything(struct window *w)
{
    if (is_left_out(w))
        return;
    fences(w);
    groups(w);
    locks(w);
    locks_of_all(w);
    mixed(w);
    requests_of_all_kinds(w);
    statuses(w);
    freed(w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run_everywhere("nonblocking", everything, 8 * CELLS, 8);
    return check_end();
}
