/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A put and a flush: in an allocated window, in a dynamic one, through the window of a memory
 * handle, and through one that is opened before each put and freed after its flush. The calls for
 * memory handles are looked up, so that a host alone shows the first two.
 *
 *     memhandle [--quick] [LINE...]
 *
 * Two ranks. A line is HOW_BYTES: allocated_8, dynamic_8, memhandle_8, opened_8 and so on. Rank 0
 * measures, rank 1 waits in MPI_Bcast. Its memory is of MPI_Alloc_mem, but for the allocated
 * window's.
 */
#define _GNU_SOURCE
#include "ways.h"

#include <stdlib.h>

enum { MOST_BYTES = 256 };

enum How { ALLOCATED, DYNAMIC, MEMHANDLE, OPENED, HOWS };

static const char *const names[HOWS] = {"allocated", "dynamic", "memhandle", "opened"};

static int (*create)(void *, MPI_Aint, MPI_Info, MPI_Win, void *, int *);
static int (*from_handle)(const void *, MPI_Aint, int, MPI_Info, int, MPI_Win, MPI_Win *);
static int (*release)(void *, MPI_Win);

struct Bench {
    MPI_Win win, parent;
    enum How how;
    int bytes;
    char *data;
    MPI_Aint displacement;
    const void *handle;
};

static void open_window(const struct Bench *bench, MPI_Win *win)
{
    from_handle(bench->handle, LARGEST, 1, MPI_INFO_NULL, TARGET, bench->parent, win);
}

static void put_and_flush(void *context, long repetitions)
{
    const struct Bench *bench = context;
    MPI_Win win = bench->win;
    for (long i = 0; i < repetitions; ++i) {
        if (bench->how == OPENED) {
            open_window(bench, &win);
        }
        MPI_Put(bench->data, bench->bytes, MPI_BYTE, TARGET, bench->displacement, bench->bytes,
                MPI_BYTE, win);
        MPI_Win_flush(TARGET, win);
        if (bench->how == OPENED) {
            MPI_Win_free(&win);
        }
    }
}

/* The handle of rank 1, at all ranks. */
static void make_handle(char *memory, MPI_Win parent, int rank, unsigned char *handle)
{
    int bytes = 0;
    if (create != NULL && rank == TARGET) {
        create(memory, LARGEST, MPI_INFO_NULL, parent, handle, &bytes);
    }
    MPI_Bcast(handle, MOST_BYTES, MPI_BYTE, TARGET, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const struct Pair pair = begin_pair(&argc, &argv);
    unsigned char handle[MOST_BYTES] = {0};
    char *const data = make_data(LARGEST);
    look_up("MPIX_Memhandle_create", &create);
    look_up("MPIX_Win_from_memhandle", &from_handle);
    look_up("MPIX_Memhandle_release", &release);
    struct PairWindow allocated = make_window(LARGEST, false);
    struct PairWindow dynamic = make_window(LARGEST, true);
    make_handle(dynamic.memory, dynamic.win, pair.rank, handle);

    struct Bench benches[HOWS];
    struct Way ways[HOWS];
    for (int how = 0; how < HOWS; ++how) {
        const MPI_Win win = how == ALLOCATED ? allocated.win : dynamic.win;
        const MPI_Aint displacement = how == DYNAMIC ? dynamic.remote : 0;
        benches[how] =
            (struct Bench){win, dynamic.win, (enum How)how, 0, data, displacement, handle};
        ways[how] = (struct Way){names[how], put_and_flush, &benches[how], &benches[how].bytes};
    }
    const bool has_handles = create != NULL;
    if (has_handles && pair.rank == ORIGIN) {
        open_window(&benches[MEMHANDLE], &benches[MEMHANDLE].win);
    }
    if (pair.rank == ORIGIN) {
        MPI_Win_lock_all(0, allocated.win);
        MPI_Win_lock_all(0, dynamic.win);
    }
    measure_ways(&pair, ways, has_handles ? HOWS : MEMHANDLE);
    if (pair.rank == ORIGIN) {
        MPI_Win_unlock_all(dynamic.win);
        MPI_Win_unlock_all(allocated.win);
    }
    if (has_handles && pair.rank == ORIGIN) {
        MPI_Win_free(&benches[MEMHANDLE].win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (has_handles && pair.rank == TARGET) {
        release(handle, dynamic.win);
    }
    free_window(&dynamic);
    free_window(&allocated);
    free(data);
    end_pair();
    return 0;
}
