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
#include "ways.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FLAG = LARGEST, PAIRS = 16, WINDOW_SIZE = LARGEST + 64 };

enum How { FLUSHED, ORDERED, UNORDERED, HOWS };

static const char *const names[HOWS] = {"flushed", "ordered", "unordered"};

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

static MPI_Win make_with_order(int ordered)
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
    const struct Pair pair = begin_pair(&argc, &argv);
    char *const data = make_data(LARGEST);
    struct Bench benches[HOWS];
    struct Way ways[HOWS];
    for (int how = 0; how < HOWS; ++how) {
        benches[how] = (struct Bench){make_with_order(how == ORDERED), (enum How)how, 0, data, 1};
        ways[how] = (struct Way){names[how], put_and_flag, &benches[how], &benches[how].bytes};
        if (pair.rank == ORIGIN) {
            MPI_Win_lock_all(0, benches[how].win);
        }
    }
    measure_ways(&pair, ways, HOWS);
    for (int how = 0; how < HOWS; ++how) {
        if (pair.rank == ORIGIN) {
            MPI_Win_unlock_all(benches[how].win);
        }
        MPI_Win_free(&benches[how].win);
    }
    free(data);
    end_pair();
    return 0;
}
