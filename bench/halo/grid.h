/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A 2-D grid of processes that give an edge to each of their neighbours and get one from each, and
 * the ways to do that.
 */
#ifndef BENCH_HALO_GRID_H
#define BENCH_HALO_GRID_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { SIDES = 4, LARGEST_EDGE = 1 << 20, TURNS = 2 };

/* Sides are numbered so that a neighbour on side s has this process on side s ^ 1. */
struct Halo {
    MPI_Comm grid;
    int neighbours[SIDES]; /* MPI_PROC_NULL where there is none */
    int bytes;             /* of an edge */
    char *edges;           /* [side] to be given */
    /* [side] of the neighbours, in the memory of a window. Ways that need one place use the first;
     * others use both in turn, so that an exchange may begin while the last one's edges are read.
     */
    char *places[TURNS];
    MPI_Win wins[TURNS];
    int turn;        /* of the place that the last exchange has filled */
    MPI_Group group; /* of all neighbours */
    MPI_Request requests[2 * SIDES];
    MPI_Request receiving[TURNS][SIDES]; /* where the next exchange's begin before this one */
    MPI_Count counted;                   /* notifications of each neighbour that were waited for */
};

/* One exchange ends when all edges have arrived at places[turn] and those given may be written
 * again. The caller has read what the last one brought. */
struct Way {
    const char *name;
    bool (*is_there)(void);       /* whether this host has what it needs; NULL: all have */
    void (*begin)(struct Halo *); /* once for a length of the edge; NULL: nothing to do */
    void (*exchange)(struct Halo *);
    void (*end)(struct Halo *); /* NULL likewise */
};

enum { WAYS = 7 };
extern const struct Way ways[WAYS];

struct Halo halo_create(void);
void halo_free(struct Halo *halo);

static inline char *of_side(char *base, int side) { return base + (ptrdiff_t)side * LARGEST_EDGE; }

#endif
