/* SPDX-License-Identifier: BSD-3-Clause */
/* How one rank tells another one that computes, and is in no call of MPI's: by a window. Where it
 * is reached by messages, a thread for progress has to take them in. */
#ifndef SIDELIGHT_TESTS_SIGNALS_H
#define SIDELIGHT_TESTS_SIGNALS_H

#include "check.h"

#include <time.h>

enum { PATIENCE_SECONDS = 150 };

struct signals {
    MPI_Win win;
    volatile int *word; /* of this rank */
};

static inline void signal_to(const struct signals *signals, int rank, int value)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, signals->win);
    MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, signals->win);
    MPI_Win_unlock(rank, signals->win);
}

/* Collective. All have met when it returns. */
static inline struct signals make_signals(void)
{
    struct signals made;
    int *word = NULL;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &word, &made.win);
    *word = -1;
    made.word = word;
    MPI_Barrier(MPI_COMM_WORLD);
    return made;
}

static inline void free_signals(struct signals *made) { MPI_Win_free(&made->win); }

/* No call of MPI until the value is there. */
static inline void compute_until(const struct signals *signals, int value)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const time_t end = now.tv_sec + PATIENCE_SECONDS;
    while (*signals->word != value && now.tv_sec < end)
        clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK_EQ(*signals->word, value);
}

#endif
