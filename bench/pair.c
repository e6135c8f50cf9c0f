/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include "agree.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *take_option(int *argc, char **argv, const char *prefix)
{
    const size_t length = strlen(prefix);
    const char *found = NULL;
    int kept = 1;
    for (int i = 1; i < *argc; ++i) {
        if (strncmp(argv[i], prefix, length) == 0) {
            found = argv[i] + length;
        } else {
            argv[kept++] = argv[i];
        }
    }
    *argc = kept;
    return found;
}

struct Pair begin_pair(int *argc, char ***argv)
{
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'}, {NULL, 0, NULL, 0}};
    struct Pair pair = {.plan = &full_plan};
    int ranks = 0;
    int option = 0;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &pair.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt_long(*argc, *argv, "", options, NULL)) == 'q') {
        pair.quick = true;
        pair.plan = &quick_plan;
    }
    if (option != -1 || ranks != 2 || !bind_to_core(pair.rank, ranks)) {
        fprintf(stderr, "usage: %s [--quick] [LINE...], on two ranks\n", (*argv)[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    pair.names = *argv + optind;
    pair.count = *argc - optind;
    return pair;
}

void end_pair(void) { MPI_Finalize(); }

bool begin_line(const struct Pair *pair, const char *name)
{
    const bool wanted = chosen(name, pair->names, pair->count);
    if (wanted && pair->rank == ORIGIN) {
        announce_line(name);
    }
    return wanted;
}

void print_line(const struct Pair *pair, const char *name, const char *const *figures,
                const double *values, int count)
{
    if (pair->rank == ORIGIN) {
        print_values(name, figures, values, count);
    }
}

struct Team team_of(const struct Pair *pair)
{
    return (struct Team){pair->rank, NULL, agree_by_mpi};
}

struct PairWindow make_window(MPI_Aint bytes, bool dynamic)
{
    struct PairWindow window = {.dynamic = dynamic};
    if (dynamic) {
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &window.memory);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window.win);
        memset(window.memory, 0, (size_t)bytes);
        MPI_Win_attach(window.win, window.memory, bytes);
        MPI_Get_address(window.memory, &window.remote);
        MPI_Bcast(&window.remote, 1, MPI_AINT, TARGET, MPI_COMM_WORLD);
    } else {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.memory, &window.win);
        memset(window.memory, 0, (size_t)bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return window;
}

void free_window(struct PairWindow *window)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (window->dynamic) {
        MPI_Win_detach(window->win, window->memory);
    }
    MPI_Win_free(&window->win);
    if (window->dynamic) {
        MPI_Free_mem(window->memory);
    }
}
