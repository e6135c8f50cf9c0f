/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages, after X. Zhao et al., "MPI-Interoperable Generalized Active Messages" (2013),
 * section V: 100 segments of 20 characters or of 100 integers each way.
 *
 *     am [--quick] [--concurrent] [--unordered] [--one-at-a-time] [--buffer BYTES] [--messages N]
 *        [LINE...]
 *
 * The last rank is the target of all others, and attaches BYTES (default 65536). A line begins with
 * one of these names, and goes on with whatever tells it from others for who reads the figures:
 *
 *     search_latency    one message in a lock epoch of rank 0, likewise absolute_latency
 *     search_rate       N messages (default 10,000) in one epoch of each origin; absolute_rate
 *     mixed_rate        the same with large and small ones in turn
 *     empty             a handler that does nothing, in turn with a fetch_and_op, of rank 0
 *
 * All that comes back is checked, off the clock, and whether handlers ran for each segment that was
 * sent. --concurrent asserts MPIX_MODE_CONCURRENT_AM, --unordered sets
 * am_ordering to none, --one-at-a-time flushes behind each message of an epoch: so messages keep
 * their order where a library does no more for it than to finish each before the next, as the
 * paper's.
 */
#define _GNU_SOURCE
#include "../agree.h"
#include "../measure.h"
#include "workload.h"

#include <getopt.h>
#include <sidelight.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum Measure { LATENCY, RATE, MIXED, AGAINST_ATOMIC };

struct LineKind {
    const char *name;
    enum Work work;
    enum Measure measure;
};

static const struct LineKind kinds[] = {
    {"search_latency", SEARCH, LATENCY}, {"absolute_latency", ABSOLUTE, LATENCY},
    {"search_rate", SEARCH, RATE},       {"absolute_rate", ABSOLUTE, RATE},
    {"mixed_rate", SEARCH, MIXED},       {"empty", EMPTY, AGAINST_ATOMIC},
};

enum { KINDS = sizeof kinds / sizeof kinds[0], MOST_TIMES = 2000, CHECKED = 1000 };

struct Options {
    bool quick;
    bool one_at_a_time;
    int assertion;
    struct Wishes wishes;
    int messages; /* in an epoch */
};

/* What the first message of an epoch is: in mixed ones the large ones begin. */
static enum Work first_of(const struct LineKind *kind)
{
    return kind->measure == MIXED ? LARGE : kind->work;
}

static bool is_origin(const struct Workload *workload)
{
    return workload->rank != workload->target;
}

/* Rank 0 alone measures; it has the median of the epochs. */
static double measure_latency(struct Workload *workload, enum Work work, int assertion, int times)
{
    static double taken[MOST_TIMES];
    double result = 0;
    if (workload->rank == 0) {
        for (int i = 0; i < times; ++i) {
            const double start = now_microseconds();
            MPI_Win_lock(MPI_LOCK_SHARED, workload->target, assertion, workload->win);
            workload_send(workload, work);
            MPI_Win_unlock(workload->target, workload->win);
            taken[i] = now_microseconds() - start;
            workload_look(workload);
        }
        result = median(taken, times);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* where the others wait */
    return result;
}

/* An epoch of each origin with so many messages: how long the slowest one took. */
static double measure_epoch(struct Workload *workload, const struct LineKind *kind,
                            const struct Options *options, int messages)
{
    workload->looking = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_microseconds();
    if (is_origin(workload)) {
        MPI_Win_lock(MPI_LOCK_SHARED, workload->target, options->assertion, workload->win);
        for (int i = 0; i < messages; ++i) {
            workload_send(workload, i % 2 == 0 ? first_of(kind) : kind->work);
            if (options->one_at_a_time) {
                MPI_Win_flush(workload->target, workload->win);
            }
        }
        MPI_Win_unlock(workload->target, workload->win);
    }
    double took = is_origin(workload) ? now_microseconds() - start - workload->looking : 0;
    workload_look(workload);
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return took;
}

/* Collective: ends the job unless all that came back was right, and handlers have counted all that
 * was sent. */
static struct Counts check(const struct Workload *workload, const char *name)
{
    const struct Counts counts = counts_sum();
    if (!workload->right || counts.segments != counts.sent) {
        fprintf(stderr, "am: %s: what came back is %s, of %.0f segments handlers have seen %.0f\n",
                name, workload->right ? "right" : "wrong", counts.sent, counts.segments);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return counts;
}

static void print_epoch(const struct Workload *workload, const char *name, double took,
                        double messages)
{
    const struct Counts counts = check(workload, name);
    if (workload->rank == 0) {
        printf("{\"line\": \"%s\", \"milliseconds\": %.4f, \"rate\": %.1f, \"handler\": %.4f, "
               "\"calls\": %.3f, \"internal\": %.2f, \"user\": %.2f}\n",
               name, 1e-3 * took, 1e6 * messages / took, counts.microseconds / messages,
               counts.calls / messages, 100 * (1 - counts.in_buffer / counts.segments),
               100 * counts.in_buffer / counts.segments);
    }
}

static void print_latency(const struct Workload *workload, const char *name, double took,
                          double messages)
{
    const struct Counts counts = check(workload, name);
    if (workload->rank == 0) {
        printf("{\"line\": \"%s\", \"microseconds\": %.4f, \"handler\": %.4f, \"calls\": %.3f}\n",
               name, took, counts.microseconds / messages, counts.calls / messages);
    }
}

static void send_and_flush(void *context, long repetitions)
{
    struct Workload *const workload = context;
    for (long i = 0; i < repetitions; ++i) {
        workload_send_empty(workload);
        MPI_Win_flush(workload->target, workload->win);
    }
}

static void add_and_flush(void *context, long repetitions)
{
    static const int64_t one = 1;
    static int64_t old;
    struct Workload *const workload = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, workload->target, 0, MPI_SUM, workload->win);
        MPI_Win_flush(workload->target, workload->win);
    }
}

/* What measure_several takes for its subject: which of the two. */
struct Subject {
    struct Workload *workload;
    Action *action;
};

static void act(void *context, long repetitions)
{
    const struct Subject *const subject = context;
    subject->action(subject->workload, repetitions);
}

/* An active message and a fetch_and_op of rank 0, in turn. */
static void measure_against_atomic(struct Workload *workload, const char *name, int assertion,
                                   const struct Plan *plan)
{
    const struct Team team = {workload->rank, NULL, agree_by_mpi};
    const struct Line line = {name, act, NULL};
    struct Subject subjects[] = {{workload, send_and_flush}, {workload, add_and_flush}};
    void *const contexts[] = {&subjects[0], &subjects[1]};
    double medians[2] = {0};
    if (workload->rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, workload->target, assertion, workload->win);
    }
    measure_several(&team, &line, contexts, 2, plan, medians);
    if (workload->rank == 0) {
        MPI_Win_unlock(workload->target, workload->win);
        printf("{\"line\": \"%s\", \"microseconds\": %.6f, \"fetch_and_op\": %.6f, "
               "\"ratio\": %.4f}\n",
               name, medians[0], medians[1], medians[0] / medians[1]);
    }
}

/* Collective. Off the clock, since counting takes longer than a handler that does nothing. */
static void check_empty(struct Workload *workload, const char *name, int assertion)
{
    count_empty(true);
    counts_reset();
    if (workload->rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, workload->target, assertion, workload->win);
        for (int i = 0; i < CHECKED; ++i) {
            workload_send(workload, EMPTY);
        }
        MPI_Win_unlock(workload->target, workload->win);
        workload_look(workload);
    }
    check(workload, name);
    count_empty(false);
}

/* Collective. */
static void measure_line(const struct LineKind *kind, const char *name,
                         const struct Options *options)
{
    const int assertion = options->assertion;
    struct Workload workload = workload_create(&options->wishes);
    if (workload.rank == 0) {
        printf("{\"starts\": \"%s\"}\n", name);
        fflush(stdout);
    }
    if (kind->measure == AGAINST_ATOMIC) {
        const struct Plan *const plan = options->quick ? &quick_plan : &full_plan;
        measure_against_atomic(&workload, name, assertion, plan);
        check_empty(&workload, name, assertion);
    } else if (kind->measure == LATENCY) {
        const int times = options->quick ? MOST_TIMES / 10 : MOST_TIMES;
        measure_latency(&workload, kind->work, assertion, times / 10);
        counts_reset();
        const double took = measure_latency(&workload, kind->work, assertion, times);
        print_latency(&workload, name, took, times);
    } else {
        const int messages = options->messages;
        measure_epoch(&workload, kind, options, messages / 10);
        counts_reset();
        const double took = measure_epoch(&workload, kind, options, messages);
        print_epoch(&workload, name, took, (double)messages * (workload.ranks - 1));
    }
    fflush(stdout);
    workload_free(&workload);
}

/* The kind that the line's name begins with. */
static const struct LineKind *kind_of(const char *name)
{
    for (int i = 0; i < KINDS; ++i) {
        if (strncmp(name, kinds[i].name, strlen(kinds[i].name)) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static bool read_options(int argc, char **argv, struct Options *options)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"concurrent", no_argument, NULL, 'c'},
                                          {"unordered", no_argument, NULL, 'u'},
                                          {"buffer", required_argument, NULL, 'b'},
                                          {"messages", required_argument, NULL, 'm'},
                                          {"one-at-a-time", no_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct Options){.wishes = {NULL, 65536}, .messages = 10000};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            options->quick = true;
        } else if (found == 'c') {
            options->assertion = MPIX_MODE_CONCURRENT_AM;
        } else if (found == 'u') {
            options->wishes.ordering = "none";
        } else if (found == 'o') {
            options->one_at_a_time = true;
        } else if (found == 'b') {
            options->wishes.buffer = atol(optarg);
        } else if (found == 'm') {
            options->messages = atoi(optarg);
        } else {
            return false;
        }
    }
    for (int i = optind; i < argc; ++i) {
        if (kind_of(argv[i]) == NULL) {
            return false;
        }
    }
    return options->wishes.buffer >= 0 && options->messages >= 1;
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
        fprintf(stderr, "usage: am [--quick] [--concurrent] [--unordered] [--one-at-a-time] "
                        "[--buffer BYTES] [--messages N] [LINE...], on two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = optind; i < argc; ++i) {
        measure_line(kind_of(argv[i]), argv[i], &options);
    }
    for (int i = 0; i < KINDS && optind == argc; ++i) {
        measure_line(&kinds[i], kinds[i].name, &options);
    }
    MPI_Finalize();
    return 0;
}
