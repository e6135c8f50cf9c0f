/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data and then a flag, both put, one pair after the other: with a flush behind each put, in an
 * ordered window without one, and in an ordinary window without one, which orders nothing (P2,
 * figure 10). It knows nothing of Sidelight but the info key; a host that does not know it orders
 * nothing either.
 *
 *     ordered_put [--quick] [LINE...]
 *
 * Two ranks. A line is HOW_BYTES: flushed_8, ordered_8, unordered_8 and so on. A repetition is the
 * data and the flag; whoever does not flush behind each put does so behind every 16 pairs, and at
 * the end. Rank 0 measures, rank 1 waits in MPI_Bcast.
 */
#define _GNU_SOURCE
#include "measure.h"

#include <getopt.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET = 1, LARGEST = 1 << 20, FLAG = LARGEST, PAIRS = 16, WINDOW_SIZE = LARGEST + 64 };

enum How { FLUSHED, ORDERED, UNORDERED, HOWS };

static const char *const names[HOWS] = {"flushed", "ordered", "unordered"};
static const int sizes[] = {8, 1 << 10, 16 << 10, 64 << 10, 1 << 20};

struct Bench {
    MPI_Win win;
    enum How how;
    int bytes;
    char *data;
    int64_t flag;
};

static void put_and_flag(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Put(bench->data, bench->bytes, MPI_BYTE, TARGET, 0, bench->bytes, MPI_BYTE, bench->win);
        if (bench->how == FLUSHED) {
            MPI_Win_flush(TARGET, bench->win);
        }
        MPI_Put(&bench->flag, 1, MPI_INT64_T, TARGET, FLAG, 1, MPI_INT64_T, bench->win);
        if (bench->how == FLUSHED || (i + 1) % PAIRS == 0 || i + 1 == repetitions) {
            MPI_Win_flush(TARGET, bench->win);
        }
    }
}

static long agree(void *context, long repetitions)
{
    (void)context;
    MPI_Bcast(&repetitions, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return repetitions;
}

static void measure_size(const struct Plan *plan, struct Bench *benches, int rank, int bytes,
                         char *const *chosen_names, int count)
{
    for (int how = 0; how < HOWS; ++how) {
        char name[32];
        const struct Team team = {rank, NULL, agree};
        snprintf(name, sizeof name, "%s_%d", names[how], bytes);
        const struct Line line = {name, put_and_flag, NULL};
        benches[how].bytes = bytes;
        if (chosen(name, chosen_names, count)) {
            measure(&team, &line, &benches[how], plan);
        }
    }
}

static MPI_Win make_window(int ordered)
{
    MPI_Info info;
    MPI_Win win;
    char *base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_order", ordered ? "true" : "false");
    MPI_Win_allocate(WINDOW_SIZE, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    memset(base, 0, WINDOW_SIZE);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'}, {NULL, 0, NULL, 0}};
    struct Bench benches[HOWS];
    const struct Plan *plan = &full_plan;
    int rank = 0, ranks = 0, option = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt_long(argc, argv, "", options, NULL)) == 'q') {
        plan = &quick_plan;
    }
    char *const data = calloc(1, LARGEST);
    if (option != -1 || ranks != 2 || data == NULL || !bind_to_core(rank, ranks)) {
        fprintf(stderr, "usage: ordered_put [--quick] [LINE...], on two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int how = 0; how < HOWS; ++how) {
        benches[how] = (struct Bench){make_window(how == ORDERED), (enum How)how, 0, data, 1};
        if (rank == 0) {
            MPI_Win_lock_all(0, benches[how].win);
        }
    }
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        measure_size(plan, benches, rank, sizes[k], argv + optind, argc - optind);
    }
    for (int how = 0; how < HOWS; ++how) {
        if (rank == 0) {
            MPI_Win_unlock_all(benches[how].win);
        }
        MPI_Win_free(&benches[how].win);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
