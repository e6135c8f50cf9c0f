/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that share one core hand a number round in shared memory, which each waits for by
 * MPI_Win_sync alone. Whoever polls has to give the core away, or the next one is asked for as
 * often as fits into a slice of the scheduler's, some hundred thousand times.
 */
#define _GNU_SOURCE
#include "windows.h"
#include <sched.h>

enum { HOPS = 400, FEW = 5000 };

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

int main(int argc, char **argv)
{
    share_a_core();
    check_begin(&argc, &argv);
    check_step("a ring of MPI_Win_sync on one core");
    struct window w = window_open(FLAVOR_SHARED, MPI_COMM_WORLD, 16, 1);
    int64_t *next = NULL;
    MPI_Aint size = 0;
    int unit = 0, hops_with_few = 0;
    CHECK_OK(MPI_Win_shared_query(w.win, (w.rank + 1) % w.size, &size, &unit, &next));
    volatile int64_t *mine = (volatile int64_t *)(void *)w.base;
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    *mine = -1;
    CHECK_OK(MPI_Win_sync(w.win));
    MPI_Barrier(w.comm);
    for (int64_t hop = 0; hop < HOPS; ++hop) {
        long syncs = 0;
        if (w.rank != 0 || hop != 0)
            for (; *mine < hop; ++syncs)
                CHECK_OK(MPI_Win_sync(w.win));
        hops_with_few += syncs < FEW;
        *(volatile int64_t *)next = w.rank == w.size - 1 ? hop + 1 : hop;
        CHECK_OK(MPI_Win_sync(w.win));
    }
    CHECK_OK(MPI_Win_unlock_all(w.win));
    CHECK(hops_with_few > HOPS / 2);
    window_close(&w);
    return check_end();
}
