/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a way of searching gives to the program: it spreads the parts of the genome over the ranks,
 * and asks all of them about the queries of its own rank.
 */
#ifndef SEARCH_WAY_H
#define SEARCH_WAY_H

#include "search_part.h"

#include <mpi.h>

/* What is to be done. */
typedef struct {
    int rank;
    int ranks;
    int length; /* of the genome */
    const char *genome;
    int mismatches;
    int batch; /* queries that are asked about at once */
} Job;

typedef struct Way Way;

extern const char *const way_name;
extern const int way_threads; /* the level that it needs */

/* Collective. The part of this rank is in its place from then on. */
Way *way_create(const Job *job);

/* Finds the matches of `count` queries in the whole genome. Collective, as others may have to
 * answer: when it returns they may not be done. */
void way_search(Way *way, const char *queries, int count, Answer *answers);

/* Collective. */
void way_destroy(Way *way);

#endif
