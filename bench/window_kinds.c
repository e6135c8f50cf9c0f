/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets on an allocated window and on a dynamic one whose region the origin knows, in turn,
 * batch by batch (P2, figure 4; P3, figures 3 and 4).
 *
 *     window_kinds [--quick] [LINE...]
 *
 * A line is OPERATION_WHAT_BYTES, as in put_latency_8:
 *
 *     latency     microseconds of one and its flush
 *     bandwidth   MB/s of many with one flush
 *     overlap     percent of the latency that is hidden behind as long a computation between the
 *                 two, which calls nothing
 */
#define _GNU_SOURCE
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 4 << 20, IN_FLIGHT = 16, KINDS = 2 };

static const char *const figures[KINDS] = {"allocated", "dynamic"};

struct Access {
    const struct PairWindow *window;
    bool get;
    int bytes;
    int in_flight;  /* operations before the flush */
    double compute; /* microseconds before it */
    char *here;
};

static void access_and_flush(void *context, long repetitions)
{
    const struct Access *access = context;
    const MPI_Win win = access->window->win;
    const MPI_Aint there = access->window->remote;
    const int bytes = access->bytes;
    for (long i = 0; i < repetitions; ++i) {
        for (int k = 0; k < access->in_flight; ++k) {
            if (access->get) {
                MPI_Get(access->here, bytes, MPI_BYTE, TARGET, there, bytes, MPI_BYTE, win);
            } else {
                MPI_Put(access->here, bytes, MPI_BYTE, TARGET, there, bytes, MPI_BYTE, win);
            }
        }
        if (access->compute > 0) {
            compute(access->compute);
        }
        MPI_Win_flush(TARGET, win);
    }
}

/* Microseconds of a repetition on each kind of window. */
static void time_accesses(const struct Pair *pair, struct Access *accesses, double *microseconds)
{
    const struct Team team = team_of(pair);
    const struct Line line = {"", access_and_flush, NULL};
    void *contexts[KINDS];
    for (int kind = 0; kind < KINDS; ++kind) {
        contexts[kind] = &accesses[kind];
    }
    measure_several(&team, &line, contexts, KINDS, pair->plan, microseconds);
}

static double hidden_percent(double alone, double computed, double together)
{
    const double hidden = 100 * (1 - (together - computed) / alone);
    return hidden < 0 ? 0 : hidden > 100 ? 100 : hidden;
}

static void measure_overlap(const struct Pair *pair, struct Access *accesses, double *values)
{
    double alone[KINDS] = {0};
    time_accesses(pair, accesses, alone);
    for (int kind = 0; kind < KINDS; ++kind) {
        accesses[kind].compute = alone[kind];
    }
    time_accesses(pair, accesses, values);
    for (int kind = 0; kind < KINDS; ++kind) {
        values[kind] = hidden_percent(alone[kind], alone[kind], values[kind]);
    }
}

static void measure_line(const struct Pair *pair, const struct PairWindow *windows, bool get,
                         const char *what, int bytes)
{
    char name[32];
    double values[KINDS] = {0};
    struct Access accesses[KINDS];
    const bool many = strcmp(what, "bandwidth") == 0;
    char *const here = make_data((size_t)bytes);
    snprintf(name, sizeof name, "%s_%s_%d", get ? "get" : "put", what, bytes);
    if (begin_line(pair, name)) {
        for (int kind = 0; kind < KINDS; ++kind) {
            accesses[kind] =
                (struct Access){&windows[kind], get, bytes, many ? IN_FLIGHT : 1, 0, here};
        }
        if (strcmp(what, "overlap") == 0) {
            measure_overlap(pair, accesses, values);
        } else {
            time_accesses(pair, accesses, values);
        }
        for (int kind = 0; many && pair->rank == ORIGIN && kind < KINDS; ++kind) {
            values[kind] = (double)bytes * IN_FLIGHT / values[kind];
        }
        print_line(pair, name, figures, values, KINDS);
    }
    free(here);
}

int main(int argc, char **argv)
{
    static const char *const whats[] = {"latency", "bandwidth", "overlap"};
    const struct Pair pair = begin_pair(&argc, &argv);
    struct PairWindow windows[KINDS] = {make_window(LARGEST, false), make_window(LARGEST, true)};
    for (int kind = 0; pair.rank == ORIGIN && kind < KINDS; ++kind) {
        MPI_Win_lock_all(0, windows[kind].win);
    }
    for (int get = 0; get < 2; ++get) {
        for (size_t what = 0; what < sizeof whats / sizeof *whats; ++what) {
            for (int bytes = 8; bytes <= LARGEST; bytes *= 8) {
                measure_line(&pair, windows, get != 0, whats[what], bytes);
            }
            measure_line(&pair, windows, get != 0, whats[what], LARGEST);
        }
    }
    for (int kind = 0; kind < KINDS; ++kind) {
        if (pair.rank == ORIGIN) {
            MPI_Win_unlock_all(windows[kind].win);
        }
        free_window(&windows[kind]);
    }
    end_pair();
    return 0;
}
