/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that share one core hand a number round, which each waits for by calls that are over at
 * once: fetches of one place, flushes, MPI_Win_sync. Whoever polls has to give the core away, or
 * it uses up a slice of the scheduler's, milliseconds, before the next one is there. Whoever works
 * by such calls keeps the core, or loses it to each that computes.
 */
#define _GNU_SOURCE
#include "windows.h"
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

enum { HOPS = 200, LONG_HOP_US = 500, CALLS = 128 * 1000, CELLS = 1000, FEW_SWITCHES = 500 };

static void share_a_core(void)
{
    cpu_set_t all, one;
    size_t core = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &all))
        ++core;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static int64_t load(const struct window *w) { return *(volatile int64_t *)(void *)w->base; }

/* What each rank looks at is in its own memory. */
static int64_t sync_and_load(const struct window *w)
{
    CHECK_OK(MPI_Win_sync(w->win));
    return load(w);
}

static int64_t flush_and_load(const struct window *w)
{
    CHECK_OK(MPI_Win_flush_all(w->win));
    return load(w);
}

static int64_t get(const struct window *w)
{
    int64_t seen = 0;
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, w->rank, 0, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(w->rank, w->win));
    return seen;
}

static int64_t rget(const struct window *w)
{
    int64_t seen = 0;
    MPI_Request request;
    CHECK_OK(MPI_Rget(&seen, 1, MPI_INT64_T, w->rank, 0, 1, MPI_INT64_T, w->win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return seen;
}

static int64_t fetch(const struct window *w)
{
    int64_t seen = 0;
    CHECK_OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, w->rank, 0, MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(w->rank, w->win));
    return seen;
}

static int64_t fetch_and_add_nothing(const struct window *w)
{
    const int64_t nothing = 0;
    int64_t seen = 0;
    CHECK_OK(MPI_Fetch_and_op(&nothing, &seen, MPI_INT64_T, w->rank, 0, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(w->rank, w->win));
    return seen;
}

static int64_t compare_and_swap(const struct window *w)
{
    const int64_t never = -2;
    int64_t seen = 0;
    CHECK_OK(MPI_Compare_and_swap(&never, &never, &seen, MPI_INT64_T, w->rank, 0, w->win));
    CHECK_OK(MPI_Win_flush(w->rank, w->win));
    return seen;
}

static int64_t lock_and_get(const struct window *w)
{
    int64_t seen = 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, w->rank, 0, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    return seen;
}

/* What this rank has had of the core, whoever else is there. */
static double processor_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return 1e6 * (double)used.tv_sec + 1e-3 * (double)used.tv_nsec;
}

static void ring(const char *step, int64_t (*poll)(const struct window *), int locks_itself)
{
    check_step(step);
    struct window w = window_open(FLAVOR_SHARED, MPI_COMM_WORLD, 16, 1);
    int64_t *next = NULL;
    MPI_Aint size = 0;
    int unit = 0, short_hops = 0;
    CHECK_OK(MPI_Win_shared_query(w.win, (w.rank + 1) % w.size, &size, &unit, &next));
    if (!locks_itself)
        CHECK_OK(MPI_Win_lock_all(0, w.win));
    *(volatile int64_t *)(void *)w.base = -1;
    CHECK_OK(MPI_Win_sync(w.win));
    MPI_Barrier(w.comm);
    for (int64_t hop = 0; hop < HOPS; ++hop) {
        double const before = processor_us();
        if (w.rank != 0 || hop != 0)
            while (poll(&w) < hop)
                continue;
        short_hops += processor_us() - before < LONG_HOP_US;
        *(volatile int64_t *)next = w.rank == w.size - 1 ? hop + 1 : hop;
        CHECK_OK(MPI_Win_sync(w.win));
    }
    if (!locks_itself)
        CHECK_OK(MPI_Win_unlock_all(w.win));
    CHECK(short_hops > HOPS / 2);
    window_close(&w);
}

static void count(const struct window *w, int step)
{
    int64_t const by = step;
    int64_t old = 0;
    CHECK_OK(MPI_Fetch_and_op(&by, &old, MPI_INT64_T, w->rank, 0, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(w->rank, w->win));
}

static void count_by_one(const struct window *w, int i)
{
    (void)i;
    count(w, 1);
}

static void count_by_many(const struct window *w, int i)
{
    (void)i;
    count(w, 256);
}

static void put(const struct window *w, int i)
{
    int64_t const value = i;
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, w->rank, 0, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(w->rank, w->win));
}

static void get_elsewhere(const struct window *w, int i)
{
    int64_t value = 0;
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, w->rank, i % CELLS, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(w->rank, w->win));
}

static void store_under_lock(const struct window *w, int i)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    *(volatile int64_t *)(void *)w->base = i;
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
}

/* How often this process has given its core away, or lost it. */
static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* A call in 64 may look whether the thread polls: where it yields, it does so 2000 times. */
static void stream(const char *step, void (*call)(const struct window *, int), int locks_itself)
{
    check_step(step);
    struct window w = window_open(FLAVOR_SHARED, MPI_COMM_WORLD, CELLS * 8, 8);
    if (!locks_itself)
        CHECK_OK(MPI_Win_lock_all(0, w.win));
    MPI_Barrier(w.comm);
    long const before = switches();
    for (int i = 0; i < CALLS; ++i)
        call(&w, i);
    CHECK(switches() - before < FEW_SWITCHES);
    MPI_Barrier(w.comm);
    if (!locks_itself)
        CHECK_OK(MPI_Win_unlock_all(w.win));
    window_close(&w);
}

int main(int argc, char **argv)
{
    share_a_core();
    check_begin(&argc, &argv);
    ring("a ring of MPI_Win_sync on one core", sync_and_load, 0);
    ring("a ring of MPI_Win_flush_all on one core", flush_and_load, 0);
    ring("a ring of MPI_Get on one core", get, 0);
    ring("a ring of MPI_Rget on one core", rget, 0);
    ring("a ring of MPI_Fetch_and_op on one core", fetch, 0);
    ring("a ring of MPI_Fetch_and_op, MPI_SUM on one core", fetch_and_add_nothing, 0);
    ring("a ring of MPI_Compare_and_swap on one core", compare_and_swap, 0);
    ring("a ring of MPI_Win_lock and MPI_Get on one core", lock_and_get, 1);
    stream("a stream of MPI_Put on one core", put, 0);
    stream("a stream of MPI_Get on one core", get_elsewhere, 0);
    stream("a counter on one core", count_by_one, 0);
    stream("a counter with large steps on one core", count_by_many, 0);
    stream("stores under locks on one core", store_under_lock, 1);
    return check_end();
}
