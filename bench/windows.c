/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows that come and go: how long making one, the first operation in it, and freeing it take. It
 * knows nothing of Sidelight.
 *
 *     windows [--quick] [LINE...]
 *
 * All ranks make a window, rank 0 puts a word into the memory of rank 1, and all free it, again and
 * again. They meet before each of the three. Rank 0's times count: the medians, and those of the
 * first window of the line.
 */
#define _GNU_SOURCE
#include "measure.h"

#include <getopt.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 400, QUICK_WINDOWS = 100, LARGE = 1 << 20, STEPS = 3 };

enum kind { ALLOCATED, SHARED, CREATED, FROM_ALLOC_MEM, DYNAMIC };

struct sort {
    const char *name;
    enum kind kind;
    MPI_Aint bytes;
};

static const struct sort sorts[] = {
    {"allocate_8", ALLOCATED, 8},      {"allocate_4096", ALLOCATED, 4096},
    {"allocate_1m", ALLOCATED, LARGE}, {"shared_4096", SHARED, 4096},
    {"create_8", CREATED, 8},          {"create_4096", CREATED, 4096},
    {"create_1m", CREATED, LARGE},     {"create_alloc_mem_4096", FROM_ALLOC_MEM, 4096},
    {"dynamic", DYNAMIC, 0},
};

static char of_malloc[LARGE];
static void *of_alloc_mem;
static int rank;

static MPI_Win make(const struct sort *sort)
{
    MPI_Win win = MPI_WIN_NULL;
    void *base = NULL;
    MPI_Comm const comm = MPI_COMM_WORLD;
    switch (sort->kind) {
    case ALLOCATED:
        MPI_Win_allocate(sort->bytes, 1, MPI_INFO_NULL, comm, &base, &win);
        break;
    case SHARED:
        MPI_Win_allocate_shared(sort->bytes, 1, MPI_INFO_NULL, comm, &base, &win);
        break;
    case CREATED:
        MPI_Win_create(of_malloc, sort->bytes, 1, MPI_INFO_NULL, comm, &win);
        break;
    case FROM_ALLOC_MEM:
        MPI_Win_create(of_alloc_mem, sort->bytes, 1, MPI_INFO_NULL, comm, &win);
        break;
    case DYNAMIC:
        MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
        break;
    }
    return win;
}

static void put(const struct sort *sort, MPI_Win win)
{
    static const int64_t word = 7;
    if (rank == 0 && sort->kind != DYNAMIC) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&word, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
        MPI_Win_unlock(1, win);
    }
}

static double microseconds_since(double begin) { return (MPI_Wtime() - begin) * 1e6; }

static void measure_windows(const struct sort *sort, int windows)
{
    static double times[STEPS][WINDOWS];
    double first[STEPS];
    if (rank == 0) {
        printf("{\"starts\": \"%s\"}\n", sort->name);
        fflush(stdout);
    }
    for (int k = 0; k < windows; ++k) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        MPI_Win win = make(sort);
        times[0][k] = microseconds_since(begin);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        put(sort, win);
        times[1][k] = microseconds_since(begin);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        MPI_Win_free(&win);
        times[2][k] = microseconds_since(begin);
    }
    for (int step = 0; step < STEPS; ++step) {
        first[step] = times[step][0];
    }
    if (rank == 0) {
        printf("{\"line\": \"%s\", \"make\": %.3f, \"first_put\": %.3f, \"free\": %.3f, "
               "\"make_first\": %.3f, \"free_first\": %.3f, \"windows\": %d}\n",
               sort->name, median(times[0], windows), median(times[1], windows),
               median(times[2], windows), first[0], first[2], windows);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'}, {NULL, 0, NULL, 0}};
    int windows = WINDOWS, ranks = 0, option = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt_long(argc, argv, "", options, NULL)) == 'q') {
        windows = QUICK_WINDOWS;
    }
    if (option != -1 || ranks < 2 || !bind_to_core(rank, ranks)) {
        fprintf(stderr, "usage: windows [--quick] [LINE...], on two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &of_alloc_mem);
    for (size_t k = 0; k < sizeof sorts / sizeof *sorts; ++k) {
        if (chosen(sorts[k].name, argv + optind, argc - optind)) {
            measure_windows(&sorts[k], windows);
        }
    }
    MPI_Free_mem(of_alloc_mem);
    MPI_Finalize();
    return 0;
}
