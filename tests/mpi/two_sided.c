/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication moves on while its processes sit in other MPI calls: a target in
 * receives, barriers and waits, an origin whose epochs are pending while it waits for something
 * else.
 */
#include "host_defects.h"
#include <sidelight.h>

enum { ROUNDS = 50, CELLS = 8 };

static int64_t values[ROUNDS];
static struct window order;

/* Rank 1 is in a receive all the time; rank 0 locks, puts, flushes and unlocks there. */
static void target_receives(struct window *w)
{
    check_step("target in a receive");
    if (w->rank == 0) {
        for (int64_t k = 0; k < ROUNDS; ++k) {
            int64_t seen = -1;
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win));
            window_put(w, 1, 0, &k);
            CHECK_OK(MPI_Win_flush(1, w->win));
            CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, w->win));
            CHECK_OK(MPI_Win_unlock(1, w->win));
            CHECK_EQ(seen, k);
        }
        check_tell(1);
    } else if (w->rank == 1) {
        check_hear(0);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win));
        CHECK_EQ(window_cell(w, 0), ROUNDS - 1);
        CHECK_OK(MPI_Win_unlock(1, w->win));
    }
    MPI_Barrier(w->comm);
}

/* A pending epoch is granted, performed and its lock given back inside a receive or a barrier: the
 * one who needs that lock next is the one whom this process waits for. */
static void origin_elsewhere(struct window *w, bool barrier)
{
    int64_t const value = 21;
    MPI_Request opening, closing;
    check_step(barrier ? "origin in a barrier" : "origin in a receive");
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        check_tell(1);
        check_hear(1); /* it stands in the queue behind this lock */
        CHECK_OK(MPI_Win_unlock(0, w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win)); /* behind that of rank 1 */
        CHECK_EQ(window_cell(w, 1), 21);
        CHECK_OK(MPI_Win_unlock(0, w->win));
        if (!barrier)
            check_tell(1);
    } else if (w->rank == 1) {
        check_hear(0);
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win, &opening));
        CHECK_OK(MPI_Request_free(&opening));
        window_put(w, 0, 1, &value);
        CHECK_OK(MPIX_Win_iunlock(0, w->win, &closing));
        window_arrive(&order, 0);
        check_tell(0);
        if (!barrier)
            check_hear(0);
    }
    MPI_Barrier(w->comm);
    if (w->rank == 1)
        CHECK_OK(MPI_Wait(&closing, MPI_STATUS_IGNORE));
    if (w->rank == 0) {
        int64_t const zero = 0;
        memcpy(w->base + 8, &zero, sizeof zero);
    }
    MPI_Barrier(w->comm);
}

/* Rank 1 closes its exposure and goes to wait for a message that is sent only when the origin's
 * epoch, and one more after it, are complete. */
static void groups_in_background(struct window *w)
{
    int const other = 1 - w->rank;
    MPI_Group peer = check_group(1, &other);
    MPI_Request r[2 * ROUNDS], opening;
    check_step("post and wait in the background");
    if (w->rank == 1) {
        for (int k = 0; k < ROUNDS; ++k) {
            CHECK_OK(MPIX_Win_ipost(peer, 0, w->win, &opening));
            CHECK_OK(MPI_Request_free(&opening));
            CHECK_OK(MPIX_Win_iwait(w->win, &r[k]));
        }
        check_hear(0); /* each exposure ends, and the next begins, in here */
        CHECK_OK(MPI_Waitall(ROUNDS, r, MPI_STATUSES_IGNORE));
        CHECK_EQ(window_cell(w, 2), 4 * (ROUNDS - 1));
    } else if (w->rank == 0) {
        for (int k = 0; k < ROUNDS; ++k) {
            values[k] = 4 * k;
            CHECK_OK(MPI_Win_start(peer, 0, w->win));
            window_put(w, 1, 2, &values[k]);
            CHECK_OK(MPI_Win_complete(w->win));
        }
        check_tell(1);
    }
    MPI_Group_free(&peer);
    MPI_Barrier(w->comm);
}

/* A barrier of the window pending at one rank while it communicates with the others. */
static void fence_in_background(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    check_step("fence in the background");
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int64_t k = 0; k < ROUNDS; ++k) {
        int64_t received = -1;
        MPI_Request r;
        values[k] = 6 * k + w->rank;
        window_put(w, right, 3, &values[k]);
        CHECK_OK(MPIX_Win_ifence(0, w->win, &r));
        MPI_Sendrecv(&k, 1, MPI_INT64_T, right, 4, &received, 1, MPI_INT64_T, left, 4, w->comm,
                     MPI_STATUS_IGNORE);
        MPI_Barrier(w->comm);
        CHECK_EQ(received, k);
        CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(window_cell(w, 3), 6 * k + left);
        CHECK_OK(MPI_Win_fence(0, w->win));
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* One MPI_Waitall for a message and operations, whichever comes first. What is read was written in
 * the round before: a flush that nobody has waited for yet orders nothing. */
static void waits_for_both(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    check_step("one wait for messages and operations");
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int64_t k = 0; k < ROUNDS; ++k) {
        int64_t received = -1, seen = -1, mine = 8 * k + w->rank;
        MPI_Aint const written = 4 + k % 2, before = 5 - k % 2;
        MPI_Request r[5];
        MPI_Irecv(&received, 1, MPI_INT64_T, left, 5, w->comm, &r[0]);
        CHECK_OK(MPI_Rput(&mine, 1, MPI_INT64_T, right, written, 1, MPI_INT64_T, w->win, &r[1]));
        CHECK_OK(MPIX_Win_iflush(right, w->win, &r[2]));
        CHECK_OK(MPI_Rget(&seen, 1, MPI_INT64_T, right, before, 1, MPI_INT64_T, w->win, &r[3]));
        MPI_Isend(&mine, 1, MPI_INT64_T, right, 5, w->comm, &r[4]);
        CHECK_OK(MPI_Waitall(5, r, MPI_STATUSES_IGNORE));
        CHECK_EQ(received, 8 * k + left);
        if (k > 0)
            CHECK_EQ(seen, mine - 8);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

static void on_window(enum flavor flavor)
{
    struct window w = window_open(flavor, MPI_COMM_WORLD, 8 * CELLS, 8);
    target_receives(&w);
    origin_elsewhere(&w, false);
    origin_elsewhere(&w, true);
    groups_in_background(&w);
    fence_in_background(&w);
    waits_for_both(&w);
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    order = window_open_order(MPI_COMM_WORLD);
    for (int flavor = 0; flavor < FLAVORS; ++flavor)
        if (flavor != FLAVOR_DYNAMIC) /* displacements are numbers of cells */
            on_window((enum flavor)flavor);
    window_close_order(&order);
    return check_end();
}
