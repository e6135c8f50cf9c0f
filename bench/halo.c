/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo exchange on a 2-D grid of processes: each gives an edge to each of its neighbours and gets
 * one from each.
 *
 *     halo --way=persistent|isend|gats|nonblocking [--quick] [LINE...]
 *
 * A line is halo_BYTES, the length of an edge; a repetition is one exchange. The ways: persistent
 * requests; MPI_Irecv and MPI_Isend; MPI_Win_post, _start, _complete and _wait; the same epochs,
 * both closed by nonblocking calls and waited for together. The edges that arrive are checked.
 */
#define _GNU_SOURCE
#include "epochs.h"
#include "measure.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 4, LARGEST = 1 << 20 };
enum Way { PERSISTENT, ISEND, GATS, NONBLOCKING, WAYS };

static const char *const way_names[WAYS] = {"persistent", "isend", "gats", "nonblocking"};
static const int sizes[] = {8, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};

/* Sides are numbered so that a neighbour on side s has this process on side s ^ 1. */
struct Halo {
    MPI_Comm grid;
    int neighbours[SIDES]; /* MPI_PROC_NULL where there is none */
    int bytes;             /* of an edge */
    char *edges;           /* [side] to be given */
    char *halo;            /* [side] of the neighbours; of one-sided ways, the window */
    enum Way way;
    MPI_Win win;
    MPI_Group group; /* of all neighbours */
    MPI_Request requests[2 * SIDES];
};

static char *of_side(char *base, int side) { return base + (ptrdiff_t)side * LARGEST; }

static void start_receives_and_sends(struct Halo *halo)
{
    for (int side = 0; side < SIDES; ++side) {
        MPI_Irecv(of_side(halo->halo, side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                  side ^ 1, halo->grid, &halo->requests[side]);
    }
    for (int side = 0; side < SIDES; ++side) {
        MPI_Isend(of_side(halo->edges, side), halo->bytes, MPI_BYTE, halo->neighbours[side], side,
                  halo->grid, &halo->requests[SIDES + side]);
    }
}

static void make_persistent(struct Halo *halo)
{
    for (int side = 0; side < SIDES; ++side) {
        MPI_Recv_init(of_side(halo->halo, side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                      side ^ 1, halo->grid, &halo->requests[side]);
        MPI_Send_init(of_side(halo->edges, side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                      side, halo->grid, &halo->requests[SIDES + side]);
    }
}

static void free_persistent(struct Halo *halo)
{
    for (int i = 0; i < 2 * SIDES; ++i) {
        MPI_Request_free(&halo->requests[i]);
    }
}

static void put_edges(struct Halo *halo)
{
    for (int side = 0; side < SIDES; ++side) {
        MPI_Put(of_side(halo->edges, side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                (MPI_Aint)(side ^ 1) * LARGEST, halo->bytes, MPI_BYTE, halo->win);
    }
}

static void exchange_by_epochs(struct Halo *halo)
{
    const bool nonblocking = halo->way == NONBLOCKING;
    MPI_Win_post(halo->group, 0, halo->win);
    MPI_Win_start(halo->group, 0, halo->win);
    put_edges(halo);
    close_access(halo->win, nonblocking, &halo->requests[0]);
    close_exposure(halo->win, nonblocking, &halo->requests[1]);
    MPI_Waitall(2, halo->requests, MPI_STATUSES_IGNORE);
}

static void exchange(void *context, long repetitions)
{
    struct Halo *halo = context;
    for (long i = 0; i < repetitions; ++i) {
        if (halo->way == PERSISTENT) {
            MPI_Startall(2 * SIDES, halo->requests);
            MPI_Waitall(2 * SIDES, halo->requests, MPI_STATUSES_IGNORE);
        } else if (halo->way == ISEND) {
            start_receives_and_sends(halo);
            MPI_Waitall(2 * SIDES, halo->requests, MPI_STATUSES_IGNORE);
        } else {
            exchange_by_epochs(halo);
        }
    }
}

/* What the edge of a process on a side begins and ends with. */
static char mark_of(int rank, int side) { return (char)(1 + rank * SIDES + side); }

/* One exchange, and a look at what has arrived. */
static void check_exchange(struct Halo *halo)
{
    int rank = 0;
    MPI_Comm_rank(halo->grid, &rank);
    for (int side = 0; side < SIDES; ++side) {
        memset(of_side(halo->edges, side), mark_of(rank, side), (size_t)halo->bytes);
        memset(of_side(halo->halo, side), 0, (size_t)halo->bytes);
    }
    MPI_Barrier(halo->grid);
    exchange(halo, 1);
    for (int side = 0; side < SIDES; ++side) {
        const char *arrived = of_side(halo->halo, side);
        const char mark = mark_of(halo->neighbours[side], side ^ 1);
        if (halo->neighbours[side] != MPI_PROC_NULL &&
            (arrived[0] != mark || arrived[halo->bytes - 1] != mark)) {
            fprintf(stderr, "halo: the edge of rank %d has not arrived at rank %d\n",
                    halo->neighbours[side], rank);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Barrier(halo->grid);
}

static long agree(void *context, long repetitions)
{
    (void)context;
    MPI_Bcast(&repetitions, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return repetitions;
}

static struct Halo halo_create(enum Way way)
{
    struct Halo halo = {.way = way, .edges = calloc(SIDES, LARGEST)};
    int ranks = 0;
    int dimensions[2] = {0, 0};
    const int periodic[2] = {0, 0};
    int several[SIDES];
    int count = 0;
    MPI_Group all;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dimensions);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periodic, 0, &halo.grid);
    MPI_Cart_shift(halo.grid, 0, 1, &halo.neighbours[0], &halo.neighbours[1]);
    MPI_Cart_shift(halo.grid, 1, 1, &halo.neighbours[2], &halo.neighbours[3]);
    for (int side = 0; side < SIDES; ++side) {
        if (halo.neighbours[side] != MPI_PROC_NULL) {
            several[count++] = halo.neighbours[side];
        }
    }
    MPI_Comm_group(halo.grid, &all);
    MPI_Group_incl(all, count, several, &halo.group);
    MPI_Group_free(&all);
    MPI_Win_allocate((MPI_Aint)SIDES * LARGEST, 1, MPI_INFO_NULL, halo.grid, &halo.halo, &halo.win);
    return halo;
}

static void halo_free(struct Halo *halo)
{
    MPI_Win_free(&halo->win);
    MPI_Group_free(&halo->group);
    MPI_Comm_free(&halo->grid);
    free(halo->edges);
}

static void measure_size(struct Halo *halo, const struct Plan *plan, const char *name, int rank)
{
    const struct Team team = {rank, NULL, agree};
    const struct Line line = {name, exchange, exchange};
    if (halo->way == PERSISTENT) {
        make_persistent(halo);
    }
    check_exchange(halo);
    measure(&team, &line, halo, plan);
    if (halo->way == PERSISTENT) {
        free_persistent(halo);
    }
}

static bool read_options(int argc, char **argv, enum Way *way, const struct Plan **plan)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"way", required_argument, NULL, 'w'},
                                          {NULL, 0, NULL, 0}};
    *way = WAYS;
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            *plan = &quick_plan;
        } else if (found == 'w') {
            for (int i = 0; i < WAYS; ++i) {
                *way = strcmp(optarg, way_names[i]) == 0 ? (enum Way)i : *way;
            }
        } else {
            return false;
        }
    }
    return *way != WAYS;
}

int main(int argc, char **argv)
{
    const struct Plan *plan = &full_plan;
    enum Way way = WAYS;
    int rank = 0;
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    plan = ranks > 2 ? &crowded_plan : plan;
    if (!read_options(argc, argv, &way, &plan) || ranks < 2 || !bind_to_core(rank, ranks) ||
        (way == NONBLOCKING && !epochs_can_be_nonblocking())) {
        fprintf(stderr, "usage: halo --way=persistent|isend|gats|nonblocking [--quick] [LINE...], "
                        "on two ranks or more; nonblocking under Sidelight alone\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct Halo halo = halo_create(way);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        char name[32];
        snprintf(name, sizeof name, "halo_%d", sizes[i]);
        halo.bytes = sizes[i];
        if (chosen(name, argv + optind, argc - optind)) {
            measure_size(&halo, plan, name, rank);
        }
    }
    halo_free(&halo);
    MPI_Finalize();
    return 0;
}
