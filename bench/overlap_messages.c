/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of messages and collectives with work (P4, figures 4.6 to 4.13).
 *
 *     overlap_messages [--quick] [--sleep] [LINE...]
 *
 * A line is KIND_BYTES. Kinds: `pairs`, each rank of the first half sends to one of the second,
 * which works; `alltoall`, `gather`, `scatter`, the host's nonblocking collectives, all work;
 * `naive_gather` and `naive_scatter`, the same by a message from or to each rank. Figures:
 * `latency`, without work; `overlap`, in percent; `late`, the latency where senders begin after
 * receivers; and `after_15` to `after_30`, microseconds until the data are there while work of so
 * many tenths of that is done.
 */
#include "overlap.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOT = 0, TAG = 1, MOST_BYTES = 1 << 20, LATE_MICROSECONDS = 10 };

enum Kind { PAIRS, ALLTOALL, GATHER, SCATTER, NAIVE_GATHER, NAIVE_SCATTER, KINDS };

static const char *const kinds[KINDS] = {"pairs",   "alltoall",     "gather",
                                         "scatter", "naive_gather", "naive_scatter"};
static const int sizes[] = {16 << 10, 32 << 10, 64 << 10, 256 << 10, 512 << 10, MOST_BYTES};
static const double factors[] = {1.5, 2, 2.5, 3};

enum { SIZES = sizeof sizes / sizeof sizes[0], FACTORS = sizeof factors / sizeof factors[0] };
enum { LATENCY, OVERLAP, LATE, AFTER, FIGURES = AFTER + FACTORS };

static const char *const figures[FIGURES] = {"latency",  "overlap",  "late",    "after_15",
                                             "after_20", "after_25", "after_30"};

struct Exchange {
    const struct Job *job;
    enum Kind kind;
    int bytes;
    char *out, *in;     /* a block for each rank */
    char mark;          /* at the end of each block of this round */
    bool senders_late;  /* so that receivers come first */
    bool until_arrival; /* the clock is stopped when the data are there */
    MPI_Request *requests;
};

static bool is_root(const struct Exchange *all) { return all->job->rank == ROOT; }

static bool is_sender(const struct Exchange *all)
{
    return all->kind == PAIRS && all->job->rank < all->job->ranks / 2;
}

/* Of `in`: those that others send to this rank. */
static int first_block(const struct Exchange *all)
{
    const bool to_root = all->kind == GATHER || all->kind == NAIVE_GATHER;
    const bool from_root = all->kind == SCATTER || all->kind == NAIVE_SCATTER;
    const bool none = is_sender(all) || (is_root(all) ? from_root : to_root);
    return none ? all->job->ranks : 0;
}

static int blocks(const struct Exchange *all)
{
    const bool one = all->kind == PAIRS || all->kind == SCATTER || all->kind == NAIVE_SCATTER;
    return one ? 1 : all->job->ranks;
}

static bool has_arrived(void *context)
{
    const struct Exchange *all = context;
    const volatile char *in = all->in;
    for (int block = first_block(all); block < blocks(all); ++block) {
        if (in[(size_t)(block + 1) * (size_t)all->bytes - 1] != all->mark) {
            return false;
        }
    }
    return true;
}

static void set_marks(const struct Exchange *all)
{
    for (int block = 0; block < all->job->ranks; ++block) {
        all->out[(size_t)(block + 1) * (size_t)all->bytes - 1] = all->mark;
    }
}

/* A message to or from each other rank; the root's own block is copied. */
static int begin_naive(const struct Exchange *all)
{
    const int bytes = all->bytes;
    const bool gathers = all->kind == NAIVE_GATHER;
    if (!is_root(all)) {
        if (gathers) {
            MPI_Isend(all->out, bytes, MPI_BYTE, ROOT, TAG, MPI_COMM_WORLD, all->requests);
        } else {
            MPI_Irecv(all->in, bytes, MPI_BYTE, ROOT, TAG, MPI_COMM_WORLD, all->requests);
        }
        return 1;
    }
    all->in[bytes - 1] = all->mark;
    for (int rank = 1; rank < all->job->ranks; ++rank) {
        char *const block = (gathers ? all->in : all->out) + (size_t)rank * (size_t)bytes;
        MPI_Request *const request = &all->requests[rank - 1];
        if (gathers) {
            MPI_Irecv(block, bytes, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, request);
        } else {
            MPI_Isend(block, bytes, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, request);
        }
    }
    return all->job->ranks - 1;
}

/* Returns how many requests there are. */
static int begin(const struct Exchange *all)
{
    const int half = all->job->ranks / 2;
    const int rank = all->job->rank;
    const int bytes = all->bytes;
    switch (all->kind) {
    case PAIRS:
        if (is_sender(all)) {
            compute(all->senders_late ? LATE_MICROSECONDS : 0);
            MPI_Isend(all->out, bytes, MPI_BYTE, rank + half, TAG, MPI_COMM_WORLD, all->requests);
        } else {
            MPI_Irecv(all->in, bytes, MPI_BYTE, rank - half, TAG, MPI_COMM_WORLD, all->requests);
        }
        return 1;
    case ALLTOALL:
        MPI_Ialltoall(all->out, bytes, MPI_BYTE, all->in, bytes, MPI_BYTE, MPI_COMM_WORLD,
                      all->requests);
        return 1;
    case GATHER:
        MPI_Igather(all->out, bytes, MPI_BYTE, all->in, bytes, MPI_BYTE, ROOT, MPI_COMM_WORLD,
                    all->requests);
        return 1;
    case SCATTER:
        MPI_Iscatter(all->out, bytes, MPI_BYTE, all->in, bytes, MPI_BYTE, ROOT, MPI_COMM_WORLD,
                     all->requests);
        return 1;
    default:
        return begin_naive(all);
    }
}

static double perform(void *context, double microseconds)
{
    struct Exchange *all = context;
    const bool receives = first_block(all) < blocks(all);
    double arrived = 0;
    all->mark = (char)(all->mark + 1);
    set_marks(all);
    const double start = now_microseconds();
    const int count = begin(all);
    if (!is_sender(all) && all->until_arrival) {
        arrived = work_until(&all->job->work, microseconds, has_arrived, all);
    } else if (!is_sender(all)) {
        work_for(&all->job->work, microseconds);
    }
    MPI_Waitall(count, all->requests, MPI_STATUSES_IGNORE);
    const bool counts = !is_sender(all) && (receives || !all->until_arrival);
    return counts ? (arrived > 0 ? arrived : now_microseconds()) - start : -1;
}

static void run_line(struct Exchange *all, const char *name)
{
    double values[FIGURES];
    all->senders_late = false;
    all->until_arrival = false;
    values[LATENCY] = time_action(all->job, perform, all, 0).mean;
    all->senders_late = true;
    values[LATE] = time_action(all->job, perform, all, 0).mean;
    values[OVERLAP] = overlap_of(all->job, perform, all, values[LATE]);
    all->until_arrival = true;
    for (int i = 0; i < FACTORS; ++i) {
        values[AFTER + i] = time_action(all->job, perform, all, factors[i] * values[LATE]).mean;
    }
    print_job_line(all->job, name, figures, values, FIGURES);
}

int main(int argc, char **argv)
{
    const struct Job job = begin_job(&argc, &argv);
    const size_t ranks = (size_t)job.ranks;
    struct Exchange all = {.job = &job};
    char name[64];
    all.out = make_data(ranks * MOST_BYTES);
    all.in = calloc(ranks, MOST_BYTES);
    all.requests = malloc(ranks * sizeof(MPI_Request));
    for (int kind = 0; kind < KINDS; ++kind) {
        for (int size = 0; size < SIZES; ++size) {
            all.kind = (enum Kind)kind;
            all.bytes = sizes[size];
            snprintf(name, sizeof name, "%s_%d", kinds[kind], sizes[size]);
            if (begin_job_line(&job, name)) {
                run_line(&all, name);
            }
        }
    }
    free(all.out);
    free(all.in);
    free(all.requests);
    end_job();
    return 0;
}
