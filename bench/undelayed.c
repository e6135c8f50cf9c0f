/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epochs in which nobody is late (P1, VIII.A): how long one takes at its origin, and how much of
 * the origin's computing is hidden behind it.
 *
 *     undelayed [--quick] [--nonblocking] [LINE...]
 *
 * A line is OPERATION_BYTES, such as put_1048576: the operations are put and accumulate (sums of
 * doubles). Figures are microseconds for an epoch of each kind, and its overlap in percent: of a
 * computation as long as the epoch, how much takes no time of its own. The origin computes inside
 * the epoch; with --nonblocking behind the call that closes it, before it waits.
 */
#define _GNU_SOURCE
#include "epochs.h"
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20, ROUNDS = 31, QUICK_ROUNDS = 7, REPETITIONS = 20 };
enum Kind { GATS, FENCE, LOCK, KINDS };
enum { FIGURES = 2 * KINDS };

static const char *const figures[FIGURES] = {"gats",         "fence",         "lock",
                                             "gats_overlap", "fence_overlap", "lock_overlap"};
static const char *const operations[] = {"put", "accumulate"};
static const int sizes[] = {8, 1 << 10, 8 << 10, 16 << 10, 64 << 10, 1 << 20};

struct Undelayed {
    const struct Pair *pair;
    MPI_Win win;
    MPI_Group other;
    char *buffer;
    bool nonblocking;
    bool accumulates;
    int bytes;
};

static void issue(const struct Undelayed *epochs)
{
    const int doubles = epochs->bytes / (int)sizeof(double);
    if (epochs->accumulates) {
        MPI_Accumulate(epochs->buffer, doubles, MPI_DOUBLE, TARGET, 0, doubles, MPI_DOUBLE, MPI_SUM,
                       epochs->win);
    } else {
        MPI_Put(epochs->buffer, epochs->bytes, MPI_BYTE, TARGET, 0, epochs->bytes, MPI_BYTE,
                epochs->win);
    }
}

static void run_origin(const struct Undelayed *epochs, enum Kind kind, double computing)
{
    MPI_Request request;
    if (kind == GATS) {
        MPI_Win_start(epochs->other, 0, epochs->win);
    } else if (kind == LOCK) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, epochs->win);
    } else {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, epochs->win);
    }
    issue(epochs);
    compute(epochs->nonblocking ? 0 : computing);
    if (kind == GATS) {
        close_access(epochs->win, epochs->nonblocking, &request);
    } else if (kind == LOCK) {
        close_lock(epochs->win, epochs->nonblocking, TARGET, &request);
    } else {
        close_fence(epochs->win, epochs->nonblocking, &request);
    }
    compute(epochs->nonblocking ? computing : 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_target(const struct Undelayed *epochs, enum Kind kind)
{
    if (kind == GATS) {
        MPI_Win_post(epochs->other, 0, epochs->win);
        MPI_Win_wait(epochs->win);
    } else if (kind == FENCE) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, epochs->win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, epochs->win);
    }
}

/* Collective: microseconds for one epoch, in the origin. The target of locks waits in a barrier of
 * the host's. */
static double microseconds_of(const struct Undelayed *epochs, enum Kind kind, double computing)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_microseconds();
    for (int i = 0; i < REPETITIONS; ++i) {
        if (epochs->pair->rank == ORIGIN) {
            run_origin(epochs, kind, computing);
        } else {
            run_target(epochs, kind);
        }
    }
    const double taken = (now_microseconds() - start) / REPETITIONS;
    MPI_Barrier(MPI_COMM_WORLD);
    return taken;
}

/* Collective. With computing and without, in turns; medians. */
static void measure_kind(const struct Undelayed *epochs, enum Kind kind, double *values)
{
    double alone[ROUNDS];
    double together[ROUNDS];
    const int rounds = epochs->pair->quick ? QUICK_ROUNDS : ROUNDS;
    for (int round = -1; round < rounds; ++round) { /* the first one warms up */
        alone[round < 0 ? 0 : round] = microseconds_of(epochs, kind, 0);
    }
    const double computing = median(alone, rounds); /* one round may have been interrupted */
    for (int round = 0; round < rounds; ++round) {
        alone[round] = microseconds_of(epochs, kind, 0);
        together[round] = microseconds_of(epochs, kind, computing);
    }
    values[kind] = median(alone, rounds);
    const double added = median(together, rounds) - values[kind];
    values[KINDS + kind] = 100 * (1 - added / computing);
}

int main(int argc, char **argv)
{
    struct Undelayed epochs = {.nonblocking = take_option(&argc, argv, "--nonblocking") != NULL};
    const struct Pair pair = begin_pair(&argc, &argv);
    struct PairWindow window = make_window(LARGEST, false);
    const int rank_of_other = 1 - pair.rank;
    MPI_Group all;
    if (epochs.nonblocking && !epochs_can_be_nonblocking()) {
        fprintf(stderr, "undelayed: nonblocking epochs under Sidelight alone\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank_of_other, &epochs.other);
    epochs.pair = &pair;
    epochs.win = window.win;
    epochs.buffer = make_data(LARGEST);
    for (int operation = 0; operation < 2; ++operation) {
        epochs.accumulates = operation == 1;
        for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; ++size) {
            char name[32];
            double values[FIGURES];
            epochs.bytes = sizes[size];
            snprintf(name, sizeof name, "%s_%d", operations[operation], epochs.bytes);
            if (begin_line(&pair, name)) {
                for (int kind = 0; kind < KINDS; ++kind) {
                    measure_kind(&epochs, (enum Kind)kind, values);
                }
                print_line(&pair, name, figures, values, FIGURES);
            }
        }
    }
    free(epochs.buffer);
    MPI_Group_free(&epochs.other);
    MPI_Group_free(&all);
    free_window(&window);
    end_pair();
    return 0;
}
