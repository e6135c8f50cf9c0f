/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Wait on requests of ours, of which it serves the one that was handed out last by itself: in
 * any order among others, after other calls have ended one, and beside the host's requests, which
 * must not be taken for ours when they get the handle of one that is gone.
 *
 * waits
 */
#include "nonblocking.h"
#include <sidelight.h>
#include <sidelight_notify.h>

enum { COUNTERS = 4, TURNS = 500, OTHERS = 2000, LATE_MICROSECONDS = 20000 };

static void await(struct window *w, int counter, MPI_Count expected, MPI_Request *request)
{
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, counter, expected, request));
}

static void notify(struct window *w, int target, int counter)
{
    static int64_t value; /* always the same: it is not free before a flush */
    value = 1 + w->rank;
    CHECK_OK(
        MPI_Put_notify(&value, 1, MPI_INT64_T, target, w->rank, 1, MPI_INT64_T, counter, w->win));
}

static void begin(struct window *w, const char *what)
{
    check_step(what);
    CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, COUNTERS));
    CHECK_OK(MPI_Win_lock_all(0, w->win));
}

static void end(struct window *w)
{
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

/* The data go around; each rank has them when its request says so. */
static void one_after_the_other(struct window *w)
{
    begin(w, "one after the other");
    for (int turn = 1; turn <= TURNS; ++turn) {
        MPI_Request r;
        MPI_Status status;
        if (w->rank == 0)
            notify(w, window_right_of(w), 0);
        await(w, 0, turn, &r);
        CHECK_OK(MPI_Wait(&r, &status));
        CHECK(r == MPI_REQUEST_NULL);
        check_empty(&status);
        CHECK_EQ(window_cell(w, window_left_of(w)), 1 + window_left_of(w));
        if (w->rank != 0)
            notify(w, window_right_of(w), 0);
    }
    end(w);
}

/* Three at once, ended in each order, by MPI_Wait or by another call. */
static void in_any_order(struct window *w)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    begin(w, "in any order");
    for (int turn = 0; turn < 6 * 8; ++turn) {
        MPI_Request r[3];
        for (int i = 0; i < 3; ++i)
            await(w, i, turn + 1, &r[i]);
        MPI_Barrier(w->comm);
        for (int i = 0; i < 3; ++i)
            notify(w, window_right_of(w), i);
        for (int i = 0; i < 3; ++i) {
            int const which = orders[turn % 6][i];
            int flag = 0, index = -1;
            if (turn / 6 % 4 == 1 && i == 0)
                while (!flag)
                    CHECK_OK(MPI_Test(&r[which], &flag, MPI_STATUS_IGNORE));
            else if (turn / 6 % 4 == 2 && i == 1)
                CHECK_OK(MPI_Waitany(1, &r[which], &index, MPI_STATUS_IGNORE));
            else if (turn / 6 % 4 == 3)
                CHECK_OK(MPI_Waitall(1, &r[which], MPI_STATUSES_IGNORE));
            else
                wait_for(&r[which]);
            CHECK(r[which] == MPI_REQUEST_NULL);
        }
        MPI_Barrier(w->comm);
    }
    end(w);
}

/* So late that the host has the wait. */
static void late(struct window *w)
{
    MPI_Request r;
    begin(w, "a late one");
    await(w, 0, 1, &r);
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        usleep(LATE_MICROSECONDS);
        notify(w, window_right_of(w), 0);
    }
    wait_for(&r);
    if (w->rank != 0)
        notify(w, window_right_of(w), 0);
    end(w);
}

/* The host's requests, with a tag for each, after one of ours was ended otherwise, or given away
 * while it was pending and completed later. */
static void beside_the_hosts(struct window *w)
{
    begin(w, "beside the host's requests");
    for (int turn = 0; turn < OTHERS; ++turn) {
        MPI_Request ours, theirs;
        MPI_Status status;
        int sent = turn, got = -1, flag = 0;
        await(w, 0, turn + 1, &ours);
        if (turn % 2 == 0)
            CHECK_OK(MPI_Request_free(&ours));
        CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, window_left_of(w), turn, w->comm, &theirs));
        notify(w, window_right_of(w), 0);
        while (turn % 2 != 0 && !flag)
            CHECK_OK(MPI_Test(&ours, &flag, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(&sent, 1, MPI_INT, window_right_of(w), turn, w->comm));
        CHECK_OK(MPI_Wait(&theirs, &status));
        CHECK_EQ(got, turn);
        CHECK_EQ(status.MPI_TAG, turn);
        CHECK_EQ(status.MPI_SOURCE, window_left_of(w));
    }
    MPI_Request none = MPI_REQUEST_NULL;
    wait_for(&none);
    end(w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD, 8 * CELLS, 8);
        if (!is_left_out(&w)) {
            one_after_the_other(&w);
            in_any_order(&w);
            late(&w);
            beside_the_hosts(&w);
        }
        window_close(&w);
    }
    return check_end();
}
