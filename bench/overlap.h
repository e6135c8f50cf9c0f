/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far communication overlaps with work (P4, chapters 4 and 5). An action is performed by all
 * ranks at once; some of them work between its beginning and its end.
 *
 *     PROGRAM [--quick] [--sleep] [LINE...]
 */
#ifndef BENCH_OVERLAP_H
#define BENCH_OVERLAP_H

#include "work.h"

#include <mpi.h>

struct Job {
    int rank, ranks;
    bool quick;
    struct Work work;
    char **names; /* of lines; none: all */
    int count;
};

/* Starts MPI and reads the options. Ends the program unless there are an even number of ranks. */
struct Job begin_job(int *argc, char ***argv);
void end_job(void);

/* Whether the line is to be measured; then rank 0 has announced it. */
bool begin_job_line(const struct Job *job, const char *name);
/* The members of the result, "NAME": VALUE, from rank 0. */
void print_job_line(const struct Job *job, const char *name, const char *const *figures,
                    const double *values, int count);

/* Performs the action once, with work of so long. Returns the microseconds that it took this rank;
 * negative: they do not count. */
typedef double Action_with_work(void *context, double microseconds);

/* Of one action over some rounds: the median of each rank. */
struct Times {
    double mean; /* over the ranks that count */
    double most;
};

/* Collective. */
struct Times time_action(const struct Job *job, Action_with_work *action, void *context,
                         double microseconds);

/* Collective: the overlap in percent, by equations 4.1 and 4.2 of P4. The work is raised by tenths
 * of the latency without any, up to 1.1 of it; of those that all ranks do in no more than 1.1 of
 * the latency the longest counts. */
double overlap_of(const struct Job *job, Action_with_work *action, void *context, double latency);

#endif
