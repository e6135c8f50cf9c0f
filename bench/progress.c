/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a late target waits for an origin that computes (P4, figures 5.8 and later): the origin
 * opens an epoch without waiting, issues one operation, closes the epoch likewise and computes for
 * some milliseconds; the target comes half a millisecond later. Who has progress does not let it
 * wait that long.
 *
 *     progress [--quick] --calls|--thread|--smart [BYTES=N] [MILLISECONDS...]
 *
 * A line is a time of computing. Figures are microseconds from the target's call until it may go
 * on; `fetch_and_op`: from the origin's lock to its unlock, while the target computes.
 */
#define _GNU_SOURCE
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int MPIX_Progress_set(int mode) __attribute__((weak));
int MPIX_Win_ifence(int, MPI_Win, MPI_Request *) __attribute__((weak));
int MPIX_Win_istart(MPI_Group, int, MPI_Win, MPI_Request *) __attribute__((weak));
int MPIX_Win_icomplete(MPI_Win, MPI_Request *) __attribute__((weak));
int MPIX_Win_ilock(int, int, int, MPI_Win, MPI_Request *) __attribute__((weak));
int MPIX_Win_iunlock(int, MPI_Win, MPI_Request *) __attribute__((weak));

enum { ROUNDS = 21, QUICK_ROUNDS = 5, LATE_MICROSECONDS = 500 };

enum Kind { FENCE, PUT, GET, ACCUMULATE, LOCK, FETCH_AND_OP, KINDS };

static const char *const figures[KINDS] = {"fence",      "put",  "get",
                                           "accumulate", "lock", "fetch_and_op"};
static const char *const lines[] = {"1", "2", "5", "10", "20", "50"};

struct Late {
    const struct Pair *pair;
    struct PairWindow window;
    MPI_Group other;
    char *buffer;
    int bytes;
    double computing; /* microseconds */
};

static void issue(const struct Late *late, enum Kind kind)
{
    const MPI_Win win = late->window.win;
    if (kind == GET) {
        MPI_Get(late->buffer, late->bytes, MPI_BYTE, TARGET, 0, late->bytes, MPI_BYTE, win);
    } else if (kind == ACCUMULATE) {
        MPI_Accumulate(late->buffer, late->bytes / 8, MPI_INT64_T, TARGET, 0, late->bytes / 8,
                       MPI_INT64_T, MPI_SUM, win);
    } else {
        MPI_Put(late->buffer, late->bytes, MPI_BYTE, TARGET, 0, late->bytes, MPI_BYTE, win);
    }
}

static void run_origin(const struct Late *late, enum Kind kind)
{
    MPI_Request requests[2];
    const MPI_Win win = late->window.win;
    if (kind == FENCE) {
        MPIX_Win_ifence(0, win, &requests[0]);
    } else if (kind == LOCK) {
        MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win, &requests[0]);
    } else {
        MPIX_Win_istart(late->other, 0, win, &requests[0]);
    }
    issue(late, kind);
    if (kind == FENCE) {
        MPIX_Win_ifence(MPI_MODE_NOSUCCEED, win, &requests[1]);
    } else if (kind == LOCK) {
        MPIX_Win_iunlock(TARGET, win, &requests[1]);
    } else {
        MPIX_Win_icomplete(win, &requests[1]);
    }
    compute(late->computing);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static double run_target(const struct Late *late, enum Kind kind)
{
    const MPI_Win win = late->window.win;
    usleep(LATE_MICROSECONDS);
    const double start = now_microseconds();
    if (kind == FENCE) {
        MPI_Win_fence(0, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    } else if (kind == LOCK) {
        MPI_Win_unlock(TARGET, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
    } else {
        MPI_Win_post(late->other, 0, win);
        MPI_Win_wait(win);
    }
    const double taken = now_microseconds() - start;
    if (kind == LOCK) {
        MPI_Win_unlock(TARGET, win);
    }
    return taken;
}

/* Here the target computes. */
static double fetch_and_op(const struct Late *late)
{
    const int64_t one = 1;
    int64_t before = 0;
    const MPI_Win win = late->window.win;
    if (late->pair->rank == TARGET) {
        compute(late->computing);
        return 0;
    }
    usleep(LATE_MICROSECONDS);
    const double start = now_microseconds();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, TARGET, 0, MPI_SUM, win);
    MPI_Win_unlock(TARGET, win);
    return now_microseconds() - start;
}

/* Collective: the median, in the origin. */
static double median_wait(const struct Late *late, enum Kind kind)
{
    double taken[ROUNDS];
    const int rounds = late->pair->quick ? QUICK_ROUNDS : ROUNDS;
    const int waits = kind == FETCH_AND_OP ? ORIGIN : TARGET;
    for (int round = 0; round < rounds; ++round) {
        if (kind == LOCK && late->pair->rank == TARGET) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, late->window.win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (kind == FETCH_AND_OP) {
            taken[round] = fetch_and_op(late);
        } else if (late->pair->rank == TARGET) {
            taken[round] = run_target(late, kind);
        } else {
            run_origin(late, kind);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Bcast(taken, rounds, MPI_DOUBLE, waits, MPI_COMM_WORLD);
    return median(taken, rounds);
}

/* Takes the options that are not those of every pair. */
static int read_options(int *argc, char **argv, int *bytes)
{
    static const char *const modes[] = {"--auto", "--calls", "--thread", "--smart"};
    int mode = 0;
    for (int m = 0; m < 4; ++m) {
        mode = take_option(argc, argv, modes[m]) != NULL ? m : mode;
    }
    const char *const size = take_option(argc, argv, "BYTES=");
    *bytes = size != NULL ? atoi(size) : *bytes;
    return mode;
}

int main(int argc, char **argv)
{
    struct Late late = {.bytes = 8};
    const int mode = read_options(&argc, argv, &late.bytes);
    const struct Pair pair = begin_pair(&argc, &argv);
    const int rank_of_other = 1 - pair.rank;
    MPI_Group all;
    if (MPIX_Progress_set == NULL || late.bytes < 8 || MPIX_Progress_set(mode) != MPI_SUCCESS) {
        fprintf(stderr, "progress: for Sidelight, and 8 bytes or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank_of_other, &late.other);
    late.pair = &pair;
    late.window = make_window(late.bytes, false);
    late.buffer = make_data((size_t)late.bytes);
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; ++line) {
        double values[KINDS];
        if (!begin_line(&pair, lines[line])) {
            continue;
        }
        late.computing = 1000 * atof(lines[line]);
        for (int kind = 0; kind < KINDS; ++kind) {
            values[kind] = median_wait(&late, (enum Kind)kind);
        }
        print_line(&pair, lines[line], figures, values, KINDS);
    }
    free(late.buffer);
    free_window(&late.window);
    MPI_Group_free(&late.other);
    MPI_Group_free(&all);
    end_pair();
    return 0;
}
