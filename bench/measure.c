/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "measure.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct Plan full_plan = {
    .batch_microseconds = 500, .limit_microseconds = 1e6, .batches = 61, .least_repetitions = 1};
const struct Plan crowded_plan = {
    .batch_microseconds = 20e3, .limit_microseconds = 3e6, .batches = 61, .least_repetitions = 100};
const struct Plan quick_plan = {
    .batch_microseconds = 200, .limit_microseconds = 2e5, .batches = 15, .least_repetitions = 1};

static double now_microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* One batch: the time in microseconds that it took. Leader only. Where the others take part, one
 * repetition before it waits until all of them have left Team.agree: among more processes than
 * cores that takes longer than a batch. */
static double time_batch(const struct Team *team, const struct Line *line, void *context,
                         long repetitions)
{
    team->agree(team->context, repetitions);
    if (line->follow != NULL) {
        line->lead(context, 1);
    }
    const double start = now_microseconds();
    line->lead(context, repetitions);
    return now_microseconds() - start;
}

/* The shortest of a few batches: one that nothing interrupted. */
static double time_undisturbed_batch(const struct Team *team, const struct Line *line,
                                     void *context, long repetitions)
{
    double shortest = time_batch(team, line, context, repetitions);
    for (int i = 0; i < 2; ++i) {
        const double took = time_batch(team, line, context, repetitions);
        shortest = took < shortest ? took : shortest;
    }
    return shortest;
}

/* How many repetitions make a batch. Trying it out is the warm-up as well. */
static long calibrate(const struct Team *team, const struct Line *line, void *context,
                      const struct Plan *plan)
{
    const long least = plan->least_repetitions;
    const long most = (1L << 20) / least * least;
    for (long repetitions = least; repetitions < most; repetitions *= 2) {
        const double took = time_undisturbed_batch(team, line, context, repetitions);
        if (took >= plan->batch_microseconds / 2) {
            const long fitting = (long)((double)repetitions * plan->batch_microseconds / took);
            return fitting > least ? fitting / least * least : least;
        }
    }
    return most;
}

static void print_result(const char *name, double *samples, int count, long repetitions)
{
    qsort(samples, (size_t)count, sizeof *samples, compare_doubles);
    printf("{\"line\": \"%s\", \"microseconds\": %.6f, \"least\": %.6f, \"upper_quartile\": %.6f, "
           "\"batches\": %d, \"repetitions\": %ld}\n",
           name, samples[count / 2], samples[0], samples[3 * count / 4], count, repetitions);
    fflush(stdout);
}

static void lead(const struct Team *team, const struct Line *line, void *context,
                 const struct Plan *plan)
{
    double samples[MAX_BATCHES];
    printf("{\"starts\": \"%s\"}\n", line->name);
    fflush(stdout);
    const long repetitions = calibrate(team, line, context, plan);
    const double end = now_microseconds() + plan->limit_microseconds;
    int count = 0;
    do {
        samples[count++] = time_batch(team, line, context, repetitions) / (double)repetitions;
    } while (count < plan->batches && now_microseconds() < end);
    team->agree(team->context, 0);
    print_result(line->name, samples, count, repetitions);
}

static void follow(const struct Team *team, const struct Line *line, void *context)
{
    long repetitions = team->agree(team->context, 0);
    while (repetitions > 0) {
        if (line->follow != NULL) {
            line->follow(context, 1);
            line->follow(context, repetitions);
        }
        repetitions = team->agree(team->context, 0);
    }
}

void measure(const struct Team *team, const struct Line *line, void *context,
             const struct Plan *plan)
{
    if (team->rank == 0) {
        lead(team, line, context, plan);
    } else {
        follow(team, line, context);
    }
}

bool bind_to_core(int rank, int ranks)
{
    cpu_set_t allowed;
    cpu_set_t wanted;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return false;
    }
    CPU_ZERO(&wanted);
    int index = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && index < 2; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) {
            continue;
        }
        if (ranks > 2 || index == rank) {
            CPU_SET(cpu, &wanted);
        }
        ++index;
    }
    return CPU_COUNT(&wanted) > 0 && sched_setaffinity(0, sizeof wanted, &wanted) == 0;
}

bool chosen(const char *name, char *const *names, int count)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return count == 0;
}
