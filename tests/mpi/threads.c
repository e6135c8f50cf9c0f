/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: eight threads of each rank in the library at the same time, on one window,
 * on one each, and while windows come and go. All sums are exact.
 */
#include "workers.h"

enum { ROUNDS = 500, COUNTERS = 8, SLOTS = MOST_THREADS * WINDOW_MOST_RANKS };

/* What the memory of the window that all threads share is used for, in words. */
enum { SUM, RAISED, LOCKED, ARRAY, SLOT = ARRAY + COUNTERS, WORDS = SLOT + SLOTS };

static enum flavor flavor; /* of the windows that threads make */

static MPI_Aint word(const struct window *w, int target, int index)
{
    return window_at(w, target, 8 * index);
}

static int64_t fetch_add(struct window *w, int target, int index, int64_t value)
{
    int64_t old = -1;
    CHECK_OK(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, target, word(w, target, index), MPI_SUM,
                              w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    return old;
}

static int64_t read_word(struct window *w, int target, int index)
{
    int64_t value = -1;
    CHECK_OK(
        MPI_Get(&value, 1, MPI_INT64_T, target, word(w, target, index), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    return value;
}

static void write_word(struct window *w, int target, int index, const int64_t *value)
{
    CHECK_OK(
        MPI_Put(value, 1, MPI_INT64_T, target, word(w, target, index), 1, MPI_INT64_T, w->win));
}

/* --- One window, one lock_all epoch, all threads in it ---------------------------------------- */

/* The same word of every target, in a different order for each thread; what one thread sees of it
 * only grows. */
static void same_word(struct worker *me)
{
    int64_t seen[WINDOW_MOST_RANKS];
    memset(seen, -1, sizeof seen);
    for (int k = 0; k < ROUNDS; ++k) {
        int const target = (me->number + k) % me->w->size;
        int64_t const old = fetch_add(me->w, target, SUM, 1);
        CHECK(old > seen[target]);
        seen[target] = old;
    }
}

/* A word of its own at every target: put, flush, get back. */
static void own_words(struct worker *me)
{
    int const slot = SLOT + me->w->rank * MOST_THREADS + me->number;
    for (int64_t k = 0; k < ROUNDS; ++k) {
        int const target = (int)(me->number + k) % me->w->size;
        int64_t const value = 1000 * k + me->number;
        write_word(me->w, target, slot, &value);
        if (k % 2 == 0)
            CHECK_OK(MPI_Win_flush(target, me->w->win));
        else
            CHECK_OK(MPI_Win_flush_all(me->w->win));
        CHECK_EQ(read_word(me->w, target, slot), value);
    }
}

/* Arrays added to the same place by everyone, several before each flush, also with requests. */
static void same_array(struct worker *me)
{
    int64_t const ones[COUNTERS] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int k = 0; k < ROUNDS; ++k) {
        int const target = k % me->w->size;
        MPI_Aint const at = word(me->w, target, ARRAY);
        if (k % 5 == 0) {
            MPI_Request request;
            CHECK_OK(MPI_Raccumulate(ones, COUNTERS, MPI_INT64_T, target, at, COUNTERS, MPI_INT64_T,
                                     MPI_SUM, me->w->win, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Accumulate(ones, COUNTERS, MPI_INT64_T, target, at, COUNTERS, MPI_INT64_T,
                                    MPI_SUM, me->w->win));
        }
        if (k % 7 == 0)
            CHECK_OK(MPI_Win_flush_local_all(me->w->win));
    }
    CHECK_OK(MPI_Win_flush_all(me->w->win));
}

/* A counter at rank 0 that is raised by compare-and-swap until it succeeds. */
static void raised_by_swap(struct worker *me)
{
    for (int k = 0; k < ROUNDS / 5; ++k) {
        int64_t expected = read_word(me->w, 0, RAISED), found = expected;
        do {
            expected = found;
            int64_t const next = expected + 1;
            CHECK_OK(MPI_Compare_and_swap(&next, &expected, &found, MPI_INT64_T, 0,
                                          word(me->w, 0, RAISED), me->w->win));
            CHECK_OK(MPI_Win_flush(0, me->w->win));
        } while (found != expected);
    }
}

static int share_of(int rounds, int size, int target)
{
    return rounds / size + (target < rounds % size);
}

static void one_epoch(struct window *w, MPI_Comm *comms)
{
    int sum = 0;
    for (int t = 0; t < threads_each(); ++t)
        sum += share_of(ROUNDS, w->size, (w->rank - t % w->size + w->size) % w->size);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    check_step("the same word");
    in_threads(same_word, w, 0, comms);
    check_step("own words");
    in_threads(own_words, w, 0, comms);
    check_step("the same array");
    in_threads(same_array, w, 0, comms);
    check_step("compare and swap");
    if (host_defect("threads", w->flavor, w->size) == NULL)
        in_threads(raised_by_swap, w, 0, comms);
    window_meet(w);
    CHECK_EQ(read_word(w, w->rank, SUM), sum * w->size);
    for (int i = 0; i < COUNTERS; ++i)
        CHECK_EQ(read_word(w, w->rank, ARRAY + i),
                 share_of(ROUNDS, w->size, w->rank) * threads_each() * w->size);
    if (host_defect("threads", w->flavor, w->size) == NULL)
        CHECK_EQ(read_word(w, 0, RAISED), ROUNDS / 5 * threads_each() * w->size);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

/* --- One window, a lock for each thread ------------------------------------------------------- */

/* Each thread locks targets that the others do not; the lock alone keeps the counter exact. */
static void different_targets(struct worker *me)
{
    for (int target = me->number; target < me->w->size; target += threads_each())
        for (int k = 0; k < ROUNDS / 5; ++k) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, me->w->win));
            int64_t const next = read_word(me->w, target, LOCKED) + 1;
            write_word(me->w, target, LOCKED, &next);
            CHECK_OK(MPI_Win_unlock(target, me->w->win));
        }
}

static void many_locks(struct window *w, MPI_Comm *comms)
{
    check_step("locks of different targets");
    in_threads(different_targets, w, 0, comms);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_EQ(read_word(w, w->rank, LOCKED), ROUNDS / 5 * w->size);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    MPI_Barrier(w->comm);
}

/* --- A window for each thread ----------------------------------------------------------------- */

static void add_one_to_all(struct window *w)
{
    static int64_t const one = 1; /* needed until the epoch ends */
    for (int target = 0; target < w->size; ++target)
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, word(w, target, SUM), 1, MPI_INT64_T,
                                MPI_SUM, w->win));
}

static void fence_round(struct window *w)
{
    CHECK_OK(MPI_Win_fence(0, w->win));
    add_one_to_all(w);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* All ranks are in both groups, the own rank too. */
static void gats_round(struct window *w)
{
    MPI_Group group;
    CHECK_OK(MPI_Win_get_group(w->win, &group));
    CHECK_OK(MPI_Win_post(group, 0, w->win));
    CHECK_OK(MPI_Win_start(group, 0, w->win));
    add_one_to_all(w);
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    CHECK_OK(MPI_Group_free(&group));
}

static void lock_round(struct window *w)
{
    for (int target = 0; target < w->size; ++target) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        int64_t const next = read_word(w, target, SUM) + 1;
        write_word(w, target, SUM, &next);
        CHECK_OK(MPI_Win_unlock(target, w->win));
    }
}

static void use_window(struct window *w, int rounds)
{
    for (int k = 0; k < rounds; ++k) {
        fence_round(w);
        gats_round(w);
        meet_by_window(w);
        lock_round(w);
        meet_by_window(w);
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_EQ(read_word(w, w->rank, SUM), 3 * rounds * w->size);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    meet_by_window(w);
}

static void own_window(struct worker *me) { use_window(me->w, 20); }

static void several_windows(MPI_Comm *comms)
{
    struct window windows[MOST_THREADS];
    check_step("a window for each thread");
    for (int i = 0; i < threads_each(); ++i)
        windows[i] = window_open(flavor, comms[i], 8, 1);
    in_threads(own_window, windows, 1, comms);
    for (int i = 0; i < threads_each(); ++i)
        window_close(&windows[i]);
}

/* Made and freed by the threads themselves, each on its communicator, while the others work. */
static void passing_windows(struct worker *me)
{
    for (int k = 0; k < 4; ++k) {
        struct window w = window_open(flavor, me->comm, 8 + 4096 * me->number, 1);
        use_window(&w, 2);
        window_close(&w);
    }
}

/* Of this process alone, so that threads are in the host at the same time as often as can be. */
static void lonely_windows(struct worker *me)
{
    for (int k = 0; k < ROUNDS / 2; ++k) {
        MPI_Win win;
        void *base;
        CHECK_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, me->comm, &base, &win));
        CHECK_OK(MPI_Win_free(&win));
    }
}

int main(int argc, char **argv)
{
    static const enum flavor tested[] = {FLAVOR_ALLOCATE, FLAVOR_SHARED};
    MPI_Comm comms[MOST_THREADS], lonely[MOST_THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    for (int i = 0; i < threads_each(); ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Comm_dup(MPI_COMM_SELF, &lonely[i]);
    }
    for (size_t f = 0; f < sizeof tested / sizeof *tested; ++f) {
        flavor = tested[f];
        struct window w = window_open(flavor, MPI_COMM_WORLD, 8 * WORDS, 1);
        one_epoch(&w, comms);
        many_locks(&w, comms);
        window_close(&w);
        several_windows(comms);
        check_step("windows made by threads");
        in_threads(passing_windows, &w, 0, comms);
    }
    check_step("windows of one process, made by threads");
    struct window none = {.size = 1};
    in_threads(lonely_windows, &none, 0, lonely);
    for (int i = 0; i < threads_each(); ++i) {
        MPI_Comm_free(&comms[i]);
        MPI_Comm_free(&lonely[i]);
    }
    return check_end();
}
