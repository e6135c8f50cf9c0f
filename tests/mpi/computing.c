/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is pending moves on while its process computes, with SIDELIGHT_PROGRESS=thread: rank 1 calls
 * no MPI until it sees in its memory that rank 0 has been where only rank 1's progress lets it.
 */
#include "windows.h"
#include <sidelight.h>

enum { CELLS = 8, ROUNDS = 30 };

static int64_t values[ROUNDS + 1];
static struct window order;

static int64_t cell(const struct window *w, int index)
{
    return __atomic_load_n((const int64_t *)(const void *)w->base + index, __ATOMIC_ACQUIRE);
}

/* No MPI in here. */
static void compute_until(const struct window *w, int index, int64_t value)
{
    while (cell(w, index) != value) {}
}

/* Rank 1's epoch waits for the lock that rank 0 holds, and rank 0 then waits for rank 1's. */
static void lock_in_queue(struct window *w, int64_t round)
{
    MPI_Request opening, closing;
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        check_tell(1);
        check_hear(1);
        CHECK_OK(MPI_Win_unlock(0, w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        CHECK_EQ(cell(w, 0), round);
        CHECK_OK(MPI_Win_unlock(0, w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win));
        window_put(w, 1, 1, &round);
        CHECK_OK(MPI_Win_unlock(1, w->win));
    } else {
        check_hear(0);
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win, &opening));
        CHECK_OK(MPI_Request_free(&opening));
        window_put(w, 0, 0, &round);
        CHECK_OK(MPIX_Win_iunlock(0, w->win, &closing));
        window_arrive(&order, 0);
        check_tell(0);
        compute_until(w, 1, round);
        CHECK_OK(MPI_Wait(&closing, MPI_STATUS_IGNORE));
        CHECK(closing == MPI_REQUEST_NULL);
    }
}

/* Rank 1 has closed its exposures one behind the other: each ends, and the next begins, while it
 * computes. */
static void exposures_in_queue(struct window *w)
{
    int const other = 1 - w->rank;
    MPI_Group peer = check_group(1, &other);
    MPI_Request r[ROUNDS], opening;
    if (w->rank == 1) {
        for (int k = 0; k < ROUNDS; ++k) {
            CHECK_OK(MPIX_Win_ipost(peer, 0, w->win, &opening));
            CHECK_OK(MPI_Request_free(&opening));
            CHECK_OK(MPIX_Win_iwait(w->win, &r[k]));
        }
        compute_until(w, 2, ROUNDS);
        CHECK_OK(MPI_Waitall(ROUNDS, r, MPI_STATUSES_IGNORE));
    } else {
        for (int k = 0; k < ROUNDS; ++k) {
            values[k] = k + 1;
            CHECK_OK(MPI_Win_start(peer, 0, w->win));
            window_put(w, 1, 2, &values[k]);
            CHECK_OK(MPI_Win_complete(w->win));
        }
    }
    MPI_Group_free(&peer);
    MPI_Barrier(w->comm);
}

/* Requests that the thread has found complete are so at the next test, one of many or not. */
static void tested(struct window *w)
{
    MPI_Request opening, r[2];
    int64_t const value = -7;
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        check_tell(1);
        check_hear(1);
        CHECK_OK(MPI_Win_unlock(0, w->win));
    } else {
        int flag = 0;
        check_hear(0);
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win, &opening));
        CHECK_OK(MPI_Request_free(&opening));
        window_put(w, 0, 3, &value);
        CHECK_OK(MPIX_Win_iflush(0, w->win, &r[0]));
        CHECK_OK(MPIX_Win_iunlock(0, w->win, &r[1]));
        check_tell(0);
        while (!flag)
            CHECK_OK(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
    }
    MPI_Barrier(w->comm);
}

static void on_window(enum flavor flavor)
{
    struct window w = window_open(flavor, MPI_COMM_WORLD, 8 * CELLS, 8);
    for (int64_t round = 1; round <= ROUNDS; ++round) {
        check_step("a lock in a queue");
        lock_in_queue(&w, round);
        check_step("requests that are tested");
        tested(&w);
    }
    check_step("exposures in a queue");
    exposures_in_queue(&w);
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
