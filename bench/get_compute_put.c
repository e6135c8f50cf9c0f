/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of the target's memory that are fetched, computed on and put back (P3, figures 2 and 5c),
 * in turn:
 *
 *     none       a block after the other, nothing at the same time
 *     lock       the next block is on its way while one is computed on: lock before, unlock after
 *                that; then a lock and an unlock put the result
 *     requests   MPI_Rget of the next blocks and MPI_Rput of the results are all on their way
 *
 *     get_compute_put [--quick] [LINE...]
 *
 * A line is the bytes of a block. Figures are milliseconds for all blocks: these three, and what
 * computing alone takes, and copying alone. Computing takes longer, by a tenth.
 */
#define _GNU_SOURCE
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 25, LARGEST = 4 << 20, BUFFERS = 4, ROUNDS = 5, QUICK_ROUNDS = 3 };

enum Figure { NONE, LOCK, REQUESTS, COMPUTING, COPYING, FIGURES };

static const char *const figures[FIGURES] = {"none", "lock", "requests", "computing", "copying"};

struct Work {
    MPI_Win win;
    int bytes;
    double compute; /* microseconds for a block */
    char *buffers[BUFFERS];
};

static char *buffer(const struct Work *work, int block) { return work->buffers[block % BUFFERS]; }

static MPI_Aint place(const struct Work *work, int block) { return (MPI_Aint)block * work->bytes; }

static void get(const struct Work *work, int block)
{
    MPI_Get(buffer(work, block), work->bytes, MPI_BYTE, TARGET, place(work, block), work->bytes,
            MPI_BYTE, work->win);
}

static void put(const struct Work *work, int block)
{
    MPI_Put(buffer(work, block), work->bytes, MPI_BYTE, TARGET, place(work, block), work->bytes,
            MPI_BYTE, work->win);
}

static void lock(const struct Work *work) { MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, work->win); }

static void unlock(const struct Work *work) { MPI_Win_unlock(TARGET, work->win); }

static void without_overlap(const struct Work *work)
{
    for (int block = 0; block < BLOCKS; ++block) {
        lock(work);
        get(work, block);
        unlock(work);
        compute(work->compute);
        lock(work);
        put(work, block);
        unlock(work);
    }
}

static void with_locks(const struct Work *work)
{
    lock(work);
    get(work, 0);
    unlock(work);
    for (int block = 0; block < BLOCKS; ++block) {
        lock(work);
        if (block + 1 < BLOCKS) {
            get(work, block + 1);
        }
        compute(work->compute);
        unlock(work);
        lock(work);
        put(work, block);
        unlock(work);
    }
}

/* A buffer is used again when its put has read it. */
static void with_requests(const struct Work *work)
{
    MPI_Request gets[BUFFERS];
    MPI_Request puts[BUFFERS];
    for (int i = 0; i < BUFFERS; ++i) {
        gets[i] = puts[i] = MPI_REQUEST_NULL;
    }
    lock(work);
    for (int block = -1; block < BLOCKS; ++block) {
        const int next = block + 1;
        if (next < BLOCKS) {
            MPI_Wait(&puts[next % BUFFERS], MPI_STATUS_IGNORE);
            MPI_Rget(buffer(work, next), work->bytes, MPI_BYTE, TARGET, place(work, next),
                     work->bytes, MPI_BYTE, work->win, &gets[next % BUFFERS]);
        }
        if (block < 0) {
            continue;
        }
        MPI_Wait(&gets[block % BUFFERS], MPI_STATUS_IGNORE);
        compute(work->compute);
        MPI_Rput(buffer(work, block), work->bytes, MPI_BYTE, TARGET, place(work, block),
                 work->bytes, MPI_BYTE, work->win, &puts[block % BUFFERS]);
    }
    MPI_Waitall(BUFFERS, puts, MPI_STATUSES_IGNORE);
    unlock(work);
}

static void only_compute(const struct Work *work)
{
    for (int block = 0; block < BLOCKS; ++block) {
        compute(work->compute);
    }
}

static void only_copy(const struct Work *work)
{
    struct Work idle = *work;
    idle.compute = 0;
    without_overlap(&idle);
}

static double milliseconds_of(void (*run)(const struct Work *), const struct Work *work)
{
    const double start = now_microseconds();
    run(work);
    return (now_microseconds() - start) / 1e3;
}

/* The origin's part. Computing is as long as copying takes, and a tenth more. */
static void measure_ways(struct Work *work, int rounds, double *values)
{
    static void (*const ways[FIGURES])(const struct Work *) = {
        without_overlap, with_locks, with_requests, only_compute, only_copy};
    double samples[FIGURES][ROUNDS];
    only_copy(work); /* warms up */
    for (int round = 0; round < rounds; ++round) {
        samples[COPYING][round] = milliseconds_of(only_copy, work);
    }
    work->compute = 1.1e3 * median(samples[COPYING], rounds) / BLOCKS;
    for (int round = 0; round < rounds; ++round) {
        for (int way = 0; way < FIGURES; ++way) {
            samples[way][round] = milliseconds_of(ways[way], work);
        }
    }
    for (int way = 0; way < FIGURES; ++way) {
        values[way] = median(samples[way], rounds);
    }
}

int main(int argc, char **argv)
{
    const struct Pair pair = begin_pair(&argc, &argv);
    struct PairWindow window = make_window((MPI_Aint)BLOCKS * LARGEST, false);
    struct Work work = {.win = window.win};
    for (int i = 0; i < BUFFERS; ++i) {
        work.buffers[i] = calloc(1, LARGEST);
    }
    for (int bytes = 16 << 10; bytes <= LARGEST; bytes *= 4) {
        char name[16];
        double values[FIGURES] = {0};
        snprintf(name, sizeof name, "%d", bytes);
        if (begin_line(&pair, name)) {
            work.bytes = bytes;
            if (pair.rank == ORIGIN) {
                measure_ways(&work, pair.quick ? QUICK_ROUNDS : ROUNDS, values);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            print_line(&pair, name, figures, values, FIGURES);
        }
    }
    for (int i = 0; i < BUFFERS; ++i) {
        free(work.buffers[i]);
    }
    free_window(&window);
    end_pair();
    return 0;
}
