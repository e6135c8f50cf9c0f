/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Massive unstructured transactions, after figure 12 of J. A. Zounmevo et al., "Nonblocking Epochs
 * in MPI One-Sided Communication" (2014): every process updates others, each update in an exclusive
 * lock epoch of its own.
 *
 *     transactions [--quick] [--nonblocking] [--key] [--pending N] [--graph FILE] [LINE...]
 *
 * A line is WHAT_RANKS, and is measured at that number of ranks alone:
 *
 *     random   one is added to a number at a random place of a random other process
 *     links    over a graph of pages: one is added to the count of links into a page
 *     ranks    over the same: a page adds its share of its rank to a page that it links to
 *
 * For a fixed time all processes update as fast as they can, with nonblocking calls up to N epochs
 * ahead (default 64). Then the sums are checked: no update is lost, none is done twice.
 */
#define _GNU_SOURCE
#include "epochs.h"
#include "measure.h"
#include "web_graph.h"

#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_BLOCK = 1 << 14, MOST_PENDING = 1024, LOOK_AT_CLOCK = 16 };

static const double damping = 0.85;

enum What { RANDOM, LINKS, RANKS, WHATS };

static const char *const what_names[WHATS] = {"random", "links", "ranks"};

struct Options {
    double microseconds; /* that a line takes */
    bool nonblocking;
    bool key;
    int pending;
    const char *graph;
    char *const *names;
    int count;
};

/* One update: `value` is added to the number `page`. */
struct Update {
    int page;
    double value;
};

/* Where this process's updates come from. */
struct Source {
    enum What what;
    const struct WebGraph *graph; /* none for RANDOM */
    int pages;
    int block;
    int rank;
    int ranks;
    uint64_t state; /* of the random numbers */
    int link;       /* the next one */
};

/* Epochs that are closed and not known to be complete. A value belongs to the library so long. */
struct Pending {
    MPI_Request requests[MOST_PENDING];
    double values[MOST_PENDING];
    int most;
    int next;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct Update next_update(struct Source *source)
{
    if (source->what == RANDOM) {
        const uint64_t random = next_random(&source->state);
        const int other = (int)((random >> 32) % (uint64_t)(source->ranks - 1));
        const int target = other + (other >= source->rank);
        return (struct Update){target * source->block + (int)(random % RANDOM_BLOCK), 1};
    }
    const struct WebGraph *graph = source->graph;
    const int link = source->link;
    source->link = link + 1 < graph->links ? link + 1 : 0;
    const int degree = graph->degrees[graph->from[link] - source->rank * graph->block];
    const double share = damping / graph->pages / degree;
    return (struct Update){graph->to[link], source->what == LINKS ? 1 : share};
}

/* One transaction: an exclusive lock epoch with one accumulate. */
static void transact(MPI_Win win, const struct Options *options, const struct Source *source,
                     const struct Update *update, struct Pending *pending)
{
    const int target = update->page / source->block;
    const int slot = pending->next;
    MPI_Wait(&pending->requests[slot], MPI_STATUS_IGNORE);
    pending->values[slot] = update->value;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Accumulate(&pending->values[slot], 1, MPI_DOUBLE, target, update->page % source->block, 1,
                   MPI_DOUBLE, MPI_SUM, win);
    close_lock(win, options->nonblocking, target, &pending->requests[slot]);
    pending->next = slot + 1 < pending->most ? slot + 1 : 0;
}

/* Updates until the time is over and all are complete; `done` counts what was added where. Returns
 * how many there were. */
static long transact_all(MPI_Win win, const struct Options *options, struct Source *source,
                         double *done)
{
    static struct Pending pending;
    long count = 0;
    const double end = now_microseconds() + options->microseconds;
    pending.most = options->nonblocking ? options->pending : 1;
    pending.next = 0;
    for (int slot = 0; slot < pending.most; ++slot) {
        pending.requests[slot] = MPI_REQUEST_NULL;
    }
    while (count % LOOK_AT_CLOCK != 0 || now_microseconds() < end) {
        const struct Update update = next_update(source);
        transact(win, options, source, &update, &pending);
        done[update.page] += update.value;
        ++count;
    }
    MPI_Waitall(pending.most, pending.requests, MPI_STATUSES_IGNORE);
    return count;
}

/* Collective: whether this process's numbers are what all have added to them. Additions of the same
 * doubles in another order differ in their last bits. */
static bool sums_agree(const struct Source *source, const double *numbers, double *done)
{
    int good = 1;
    MPI_Allreduce(MPI_IN_PLACE, done, source->pages, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < source->block; ++i) {
        const int page = source->rank * source->block + i;
        if (page < source->pages && fabs(numbers[i] - done[page]) > 1e-9 * fabs(done[page])) {
            good = 0;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return good;
}

static void print_rate(const char *name, const struct Source *source, long count, double took)
{
    double longest = 0;
    long all = 0;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&count, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (source->rank == 0) {
        printf("{\"line\": \"%s\", \"rate\": %.1f, \"transactions\": %ld}\n", name,
               1e6 * (double)all / longest, all);
        fflush(stdout);
    }
}

static MPI_Win make_window(int block, bool key, double **numbers)
{
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    if (key) {
        MPI_Info_set(info, "sidelight_a_a_a_r", "1");
    }
    MPI_Win_allocate((MPI_Aint)block * (MPI_Aint)sizeof(double), sizeof(double), info,
                     MPI_COMM_WORLD, numbers, &win);
    MPI_Info_free(&info);
    memset(*numbers, 0, (size_t)block * sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

/* Collective. */
static void measure_line(const char *name, struct Source *source, const struct Options *options)
{
    double *numbers = NULL;
    double *const done = calloc((size_t)source->pages, sizeof *done);
    if (source->rank == 0) {
        printf("{\"starts\": \"%s\"}\n", name);
        fflush(stdout);
    }
    MPI_Win win = make_window(source->block, options->key, &numbers);
    const double start = now_microseconds();
    const long count = transact_all(win, options, source, done);
    const double took = now_microseconds() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, source->rank, 0, win); /* to look at what others have written */
    if (!sums_agree(source, numbers, done)) {
        fprintf(stderr, "transactions: %s: the sums are not what was added\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_unlock(source->rank, win);
    print_rate(name, source, count, took);
    MPI_Win_free(&win);
    free(done);
}

static struct Source source_of(enum What what, const struct WebGraph *graph, int rank, int ranks)
{
    const bool random = what == RANDOM;
    return (struct Source){.what = what,
                           .graph = graph,
                           .pages = random ? ranks * RANDOM_BLOCK : graph->pages,
                           .block = random ? RANDOM_BLOCK : graph->block,
                           .rank = rank,
                           .ranks = ranks,
                           .state = 0x9e3779b97f4a7c15u * (uint64_t)(rank + 1)};
}

static void measure_lines(const struct Options *options, int rank, int ranks)
{
    struct WebGraph graph = {0};
    if (options->graph != NULL) {
        graph = web_graph_read(options->graph, MPI_COMM_WORLD);
    }
    for (int what = 0; what < WHATS; ++what) {
        char name[32];
        snprintf(name, sizeof name, "%s_%d", what_names[what], ranks);
        if (chosen(name, options->names, options->count) && (what == RANDOM || graph.pages > 0)) {
            struct Source source = source_of((enum What)what, &graph, rank, ranks);
            measure_line(name, &source, options);
        }
    }
    web_graph_free(&graph);
}

static bool read_options(int argc, char **argv, struct Options *options)
{
    static const struct option known[] = {
        {"quick", no_argument, NULL, 'q'},       {"nonblocking", no_argument, NULL, 'n'},
        {"key", no_argument, NULL, 'k'},         {"pending", required_argument, NULL, 'p'},
        {"graph", required_argument, NULL, 'g'}, {NULL, 0, NULL, 0}};
    *options = (struct Options){.microseconds = 400e3, .pending = 64};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            options->microseconds = 60e3;
        } else if (found == 'n') {
            options->nonblocking = true;
        } else if (found == 'k') {
            options->key = true;
        } else if (found == 'p') {
            options->pending = atoi(optarg);
        } else if (found == 'g') {
            options->graph = optarg;
        } else {
            return false;
        }
    }
    options->names = argv + optind;
    options->count = argc - optind;
    return options->pending >= 1 && options->pending <= MOST_PENDING;
}

int main(int argc, char **argv)
{
    struct Options options;
    int rank = 0;
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!read_options(argc, argv, &options) || ranks < 2 || !bind_to_core(rank, ranks)) {
        fprintf(stderr, "usage: transactions [--quick] [--nonblocking] [--key] [--pending N] "
                        "[--graph FILE] [LINE...], on two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (options.nonblocking && !epochs_can_be_nonblocking()) {
        fprintf(stderr, "transactions: --nonblocking needs Sidelight\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    measure_lines(&options, rank, ranks);
    MPI_Finalize();
    return 0;
}
