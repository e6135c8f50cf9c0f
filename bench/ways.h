/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of a pair (pair.h) that do one thing in several ways and at several sizes. */
#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include "pair.h"

enum { LARGEST = 1 << 20 };

/* One way: a line for each size, NAME_BYTES. */
struct Way {
    const char *name;
    Action *action; /* of the origin; the target waits in MPI_Bcast */
    void *context;
    int *bytes; /* where the action finds the size */
};

/* Size by size all ways, so that ratios are of one time. */
void measure_ways(const struct Pair *pair, const struct Way *ways, int count);

#endif
