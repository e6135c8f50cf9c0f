/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A put or a get and what completes it (P3, figures 5a and 5b): unlock, and the lock before it;
 * flush; flush_local; nothing, but for a flush after all of them. In turn, batch by batch.
 *
 *     flush_local [--quick] [LINE...]
 *
 * A line is an operation and its bytes, as in put_8. Figures are microseconds.
 */
#define _GNU_SOURCE
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 1 << 20, HOWS = 4 };

enum How { UNLOCK, FLUSH, FLUSH_LOCAL, NOTHING };

static const char *const figures[HOWS] = {"unlock", "flush", "flush_local", "nothing"};
static const int sizes[] = {8, 64, 512, 4 << 10, 16 << 10, 64 << 10, LARGEST};

struct Access {
    MPI_Win win; /* with an epoch open, but for UNLOCK */
    enum How how;
    bool get;
    int bytes;
    char *here;
};

static void access_and_complete(void *context, long repetitions)
{
    const struct Access *access = context;
    const int bytes = access->bytes;
    const MPI_Win win = access->win;
    for (long i = 0; i < repetitions; ++i) {
        if (access->how == UNLOCK) {
            MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        }
        if (access->get) {
            MPI_Get(access->here, bytes, MPI_BYTE, TARGET, 0, bytes, MPI_BYTE, win);
        } else {
            MPI_Put(access->here, bytes, MPI_BYTE, TARGET, 0, bytes, MPI_BYTE, win);
        }
        if (access->how == UNLOCK) {
            MPI_Win_unlock(TARGET, win);
        } else if (access->how == FLUSH) {
            MPI_Win_flush(TARGET, win);
        } else if (access->how == FLUSH_LOCAL) {
            MPI_Win_flush_local(TARGET, win);
        }
    }
    if (access->how == FLUSH_LOCAL || access->how == NOTHING) {
        MPI_Win_flush(TARGET, win); /* once in a batch: its puts are all there */
    }
}

static void measure_line(const struct Pair *pair, const struct PairWindow *windows, bool get,
                         int bytes)
{
    char name[32];
    double values[HOWS] = {0};
    struct Access accesses[HOWS];
    void *contexts[HOWS];
    char *const here = make_data((size_t)bytes);
    snprintf(name, sizeof name, "%s_%d", get ? "get" : "put", bytes);
    if (begin_line(pair, name)) {
        const struct Team team = team_of(pair);
        const struct Line line = {name, access_and_complete, NULL};
        for (int how = 0; how < HOWS; ++how) {
            const MPI_Win win = windows[how == UNLOCK ? 0 : 1].win;
            accesses[how] = (struct Access){win, (enum How)how, get, bytes, here};
            contexts[how] = &accesses[how];
        }
        measure_several(&team, &line, contexts, HOWS, pair->plan, values);
        print_line(pair, name, figures, values, HOWS);
    }
    free(here);
}

int main(int argc, char **argv)
{
    const struct Pair pair = begin_pair(&argc, &argv);
    struct PairWindow windows[] = {make_window(LARGEST, false), make_window(LARGEST, false)};
    if (pair.rank == ORIGIN) {
        MPI_Win_lock_all(0, windows[1].win);
    }
    for (int get = 0; get < 2; ++get) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
            measure_line(&pair, windows, get != 0, sizes[k]);
        }
    }
    if (pair.rank == ORIGIN) {
        MPI_Win_unlock_all(windows[1].win);
    }
    free_window(&windows[0]);
    free_window(&windows[1]);
    end_pair();
    return 0;
}
