/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of one rank that block in calls on one window, and others that must go on meanwhile: with
 * locks that everybody takes in one order, with an exposure beside an access, and with a flush of
 * all that is no thread's waiting for a lock.
 *
 * thread_order    (3 ranks)
 */
#include "workers.h"
#include <unistd.h>

enum { BLOCKED_MICROSECONDS = 50 * 1000 };

static const int64_t value = 11;

static void put_to(const struct window *w, int rank)
{
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, rank, window_at(w, rank, 8 * w->rank), 1, MPI_INT64_T,
                     w->win));
}

static void put_locked(const struct window *w, int rank)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
    put_to(w, rank);
    CHECK_OK(MPI_Win_unlock(rank, w->win));
}

static void *lock_first(void *window)
{
    put_locked(window, 0);
    return NULL;
}

/* By now that thread waits in its call. */
static pthread_t start_blocked(void *(*run)(void *), const struct window *w)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, (void *)w);
    usleep(BLOCKED_MICROSECONDS);
    return thread;
}

/* Everybody takes the locks of ranks 0, 1 and 2 in this order, each thread those that it needs. One
 * of rank 0 waits for the first, another one has the second, which rank 1 wants, and must get on.
 */
static void beside_blocked_lock(const struct window *w, void get_on(const struct window *))
{
    if (w->rank == 0) {
        check_hear(1);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win));
        put_to(w, 1);
        pthread_t const other = start_blocked(lock_first, w);
        check_tell(1);
        usleep(BLOCKED_MICROSECONDS);
        get_on(w);
        CHECK_OK(MPI_Win_unlock(1, w->win));
        pthread_join(other, NULL);
    } else if (w->rank == 1) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        check_tell(0);
        check_hear(0);
        put_locked(w, 1);
        put_to(w, 0);
        CHECK_OK(MPI_Win_unlock(0, w->win));
    }
}

static void lock_third(const struct window *w) { put_locked(w, 2); }

static void locks_in_order(const struct window *w)
{
    check_step("locks in order");
    beside_blocked_lock(w, lock_third);
}

static void flush_all(const struct window *w) { CHECK_OK(MPI_Win_flush_all(w->win)); }

/* It waits for operations, and not for another thread's lock. */
static void flush_beside_lock(const struct window *w)
{
    check_step("a flush beside a thread that waits for a lock");
    beside_blocked_lock(w, flush_all);
}

static MPI_Group neighbour; /* of ranks 0 and 1: the other one */

static void *wait_for_exposure(void *window)
{
    const struct window *w = window;
    CHECK_OK(MPI_Win_wait(w->win));
    return NULL;
}

static void access_neighbour(const struct window *w)
{
    CHECK_OK(MPI_Win_start(neighbour, 0, w->win));
    put_to(w, 1 - w->rank);
    CHECK_OK(MPI_Win_complete(w->win));
}

/* One thread of rank 0 waits for rank 1, which waits for the access of another one first. */
static void access_beside_exposure(const struct window *w)
{
    check_step("an access beside a thread that waits for an exposure");
    if (w->rank == 2)
        return;
    int const other = 1 - w->rank;
    neighbour = check_group(1, &other);
    CHECK_OK(MPI_Win_post(neighbour, 0, w->win));
    if (w->rank == 0) {
        pthread_t const waiting = start_blocked(wait_for_exposure, w);
        access_neighbour(w);
        pthread_join(waiting, NULL);
    } else {
        CHECK_OK(MPI_Win_wait(w->win));
        access_neighbour(w);
    }
    MPI_Group_free(&neighbour);
}

static void *complete_access(void *window)
{
    const struct window *w = window;
    CHECK_OK(MPI_Win_complete(w->win));
    return NULL;
}

/* The other way round: a thread waits in MPI_Win_complete for a target that posts late. */
static void exposure_beside_access(const struct window *w)
{
    check_step("an exposure beside a thread that completes an access");
    if (w->rank == 2)
        return;
    int const other = 1 - w->rank;
    neighbour = check_group(1, &other);
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_start(neighbour, 0, w->win));
        put_to(w, 1);
        pthread_t const completing = start_blocked(complete_access, w);
        CHECK_OK(MPI_Win_post(neighbour, 0, w->win));
        CHECK_OK(MPI_Win_wait(w->win));
        pthread_join(completing, NULL);
    } else {
        access_neighbour(w);
        CHECK_OK(MPI_Win_post(neighbour, 0, w->win));
        CHECK_OK(MPI_Win_wait(w->win));
    }
    MPI_Group_free(&neighbour);
}

static void everything(enum flavor flavor)
{
    struct window w = window_open(flavor, MPI_COMM_WORLD, 8 * WINDOW_MOST_RANKS, 8);
    void (*const scenes[])(const struct window *) = {
        locks_in_order, flush_beside_lock, access_beside_exposure, exposure_beside_access};
    CHECK_EQ(w.size, 3);
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
        MPI_Barrier(MPI_COMM_WORLD);
        scenes[k](&w);
    }
    window_close(&w);
}

int main(int argc, char **argv)
{
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided != MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    everything(FLAVOR_ALLOCATE);
    everything(FLAVOR_CREATE);
    return check_end();
}
