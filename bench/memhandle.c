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
#include "measure.h"

#include <dlfcn.h>
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET = 1, LARGEST = 1 << 20, MOST_BYTES = 256 };

enum How { ALLOCATED, DYNAMIC, MEMHANDLE, OPENED, HOWS };

static const char *const names[HOWS] = {"allocated", "dynamic", "memhandle", "opened"};
static const int sizes[] = {8, 1 << 10, 16 << 10, 64 << 10, 1 << 20};

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
        const struct Line line = {name, put_and_flush, NULL};
        benches[how].bytes = bytes;
        if (chosen(name, chosen_names, count) && (how < MEMHANDLE || create != NULL)) {
            measure(&team, &line, &benches[how], plan);
        }
    }
}

/* A function of the library's, where it is there. */
static void look_up(void *function, const char *name)
{
    void *const found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
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
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'}, {NULL, 0, NULL, 0}};
    const struct Plan *plan = &full_plan;
    int rank = 0, ranks = 0, option = 0;
    char *memory = NULL, *base = NULL;
    unsigned char handle[MOST_BYTES] = {0};
    MPI_Win allocated, dynamic, of_handle = MPI_WIN_NULL;
    MPI_Aint address = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt_long(argc, argv, "", options, NULL)) == 'q') {
        plan = &quick_plan;
    }
    char *const data = calloc(1, LARGEST);
    if (option != -1 || ranks != 2 || data == NULL || !bind_to_core(rank, ranks)) {
        fprintf(stderr, "usage: memhandle [--quick] [LINE...], on two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    look_up(&create, "MPIX_Memhandle_create");
    look_up(&from_handle, "MPIX_Win_from_memhandle");
    look_up(&release, "MPIX_Memhandle_release");
    MPI_Alloc_mem(LARGEST, MPI_INFO_NULL, &memory);
    memset(memory, 0, LARGEST);
    MPI_Win_allocate(LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
    memset(base, 0, LARGEST);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_attach(dynamic, memory, LARGEST);
    MPI_Get_address(memory, &address);
    MPI_Bcast(&address, 1, MPI_AINT, TARGET, MPI_COMM_WORLD);
    make_handle(memory, dynamic, rank, handle);

    struct Bench benches[HOWS] = {{allocated, dynamic, ALLOCATED, 0, data, 0, handle},
                                  {dynamic, dynamic, DYNAMIC, 0, data, address, handle},
                                  {of_handle, dynamic, MEMHANDLE, 0, data, 0, handle},
                                  {of_handle, dynamic, OPENED, 0, data, 0, handle}};
    if (create != NULL && rank == 0) {
        open_window(&benches[MEMHANDLE], &benches[MEMHANDLE].win);
    }
    if (rank == 0) {
        MPI_Win_lock_all(0, allocated);
        MPI_Win_lock_all(0, dynamic);
    }
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        measure_size(plan, benches, rank, sizes[k], argv + optind, argc - optind);
    }
    if (rank == 0) {
        MPI_Win_unlock_all(dynamic);
        MPI_Win_unlock_all(allocated);
    }
    if (create != NULL && rank == 0) {
        MPI_Win_free(&benches[MEMHANDLE].win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (create != NULL && rank == TARGET) {
        release(handle, dynamic);
    }
    MPI_Win_detach(dynamic, memory);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&allocated);
    MPI_Free_mem(memory);
    free(data);
    MPI_Finalize();
    return 0;
}
