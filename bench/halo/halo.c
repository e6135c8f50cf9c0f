/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo exchange on a 2-D grid of processes: each gives an edge to each of its neighbours and gets
 * one from each.
 *
 *     halo --way=persistent|isend|isend_ahead|gats|nonblocking|ahead|notified [--quick] [LINE...]
 *
 * A line is halo_BYTES, the length of an edge; a repetition is one exchange. The ways: persistent
 * requests; MPI_Irecv and MPI_Isend; the same with receives posted one exchange ahead, into two
 * places in turn; MPI_Win_post, _start, _complete and _wait; the same epochs, both closed by
 * nonblocking calls and waited for together; two windows in turn, whose exposures are posted one
 * exchange ahead; notified puts into two windows in turn. The edges that arrive are checked.
 */
#define _GNU_SOURCE
#include "../agree.h"
#include "../measure.h"
#include "grid.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { CHECKED = 5 }; /* exchanges: both turns, more than once */

static const int sizes[] = {8, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};

struct Measured {
    struct Halo halo;
    const struct Way *way;
};

static void exchange(void *context, long repetitions)
{
    struct Measured *measured = context;
    for (long i = 0; i < repetitions; ++i) {
        measured->way->exchange(&measured->halo);
    }
}

/* What the edge of a process on a side begins and ends with, in an exchange. */
static char mark_of(int rank, int side, int number)
{
    return (char)(1 + (rank * SIDES + side) * CHECKED + number);
}

static void check_exchange(struct Measured *measured, int number)
{
    struct Halo *halo = &measured->halo;
    int rank = 0;
    MPI_Comm_rank(halo->grid, &rank);
    for (int side = 0; side < SIDES; ++side) {
        memset(of_side(halo->edges, side), mark_of(rank, side, number), (size_t)halo->bytes);
    }
    measured->way->exchange(halo);
    for (int side = 0; side < SIDES; ++side) {
        const char *arrived = of_side(halo->places[halo->turn], side);
        const char mark = mark_of(halo->neighbours[side], side ^ 1, number);
        if (halo->neighbours[side] != MPI_PROC_NULL &&
            (arrived[0] != mark || arrived[halo->bytes - 1] != mark)) {
            fprintf(stderr, "halo: the edge of rank %d has not arrived at rank %d\n",
                    halo->neighbours[side], rank);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static void measure_size(struct Measured *measured, const struct Plan *plan, const char *name)
{
    const struct Way *way = measured->way;
    const struct Line line = {name, exchange, exchange};
    struct Team team = {.agree = agree_by_mpi};
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    if (way->begin != NULL) {
        way->begin(&measured->halo);
    }
    for (int number = 0; number < CHECKED; ++number) {
        check_exchange(measured, number);
    }
    measure(&team, &line, measured, plan);
    if (way->end != NULL) {
        way->end(&measured->halo);
    }
}

/* The way that is asked for; NULL if there is none of that name, or not on this host. */
static const struct Way *read_options(int argc, char **argv, bool *quick)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"way", required_argument, NULL, 'w'},
                                          {NULL, 0, NULL, 0}};
    const struct Way *way = NULL;
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            *quick = true;
        } else if (found == 'w') {
            for (int i = 0; i < WAYS; ++i) {
                way = strcmp(optarg, ways[i].name) == 0 ? &ways[i] : way;
            }
        } else {
            return NULL;
        }
    }
    return way == NULL || (way->is_there != NULL && !way->is_there()) ? NULL : way;
}

int main(int argc, char **argv)
{
    bool quick = false;
    int rank = 0;
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct Measured measured = {.way = read_options(argc, argv, &quick)};
    const struct Plan *const alone = quick ? &quick_plan : &full_plan;
    const struct Plan *const crowded = quick ? &quick_crowded_plan : &crowded_plan;
    if (measured.way == NULL || ranks < 2 || !bind_to_core(rank, ranks)) {
        fprintf(
            stderr,
            "usage: halo --way=persistent|isend|isend_ahead|gats|nonblocking|ahead|"
            "notified [--quick] [LINE...], on two ranks or more; nonblocking and notified under "
            "Sidelight alone\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    measured.halo = halo_create();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        char name[32];
        snprintf(name, sizeof name, "halo_%d", sizes[i]);
        measured.halo.bytes = sizes[i];
        if (chosen(name, argv + optind, argc - optind)) {
            measure_size(&measured, ranks > 2 ? crowded : alone, name);
        }
    }
    halo_free(&measured.halo);
    MPI_Finalize();
    return 0;
}
