/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs of one origin, rank 0, and one target, rank 1, have in common: options, windows,
 * and the target's waiting. They know nothing of Sidelight.
 *
 *     PROGRAM [--quick] [LINE...]
 */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "measure.h"

#include <mpi.h>

enum { ORIGIN, TARGET };

struct Pair {
    int rank;
    bool quick;
    const struct Plan *plan;
    char **names; /* of lines; none: all */
    int count;
};

/* Takes what begins so out of the arguments, ahead of begin_pair. Returns what followed; NULL: none
 * does. */
const char *take_option(int *argc, char **argv, const char *prefix);

/* Starts MPI, reads the options and binds each rank to a core of its own. Ends the job where that
 * cannot be done. */
struct Pair begin_pair(int *argc, char ***argv);

void end_pair(void);

/* Whether the line is to be measured; then rank 0 has announced it. */
bool begin_line(const struct Pair *pair, const char *name);

/* The members of the result, "NAME": VALUE, from rank 0. */
void print_line(const struct Pair *pair, const char *name, const char *const *figures,
                const double *values, int count);

/* Where the target waits while the origin measures: MPI_Bcast. */
struct Team team_of(const struct Pair *pair);

/* A window with memory in both ranks. */
struct PairWindow {
    MPI_Win win;
    MPI_Aint remote; /* the displacement of the target's memory */
    char *memory;    /* of this rank */
    bool dynamic;
};

/* Collective. Allocated, or dynamic with memory of MPI_Alloc_mem attached. Every page is there. */
struct PairWindow make_window(MPI_Aint bytes, bool dynamic);
void free_window(struct PairWindow *window);

#endif
