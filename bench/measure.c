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

/* What a line is measured on: the second is NULL unless something is measured beside it. */
struct Subjects {
    void *contexts[2];
};

enum { OWN, BESIDE };

/* How the leader tells which subject a batch is for. */
static long signed_for(int subject, long repetitions)
{
    return subject == BESIDE ? -repetitions : repetitions;
}

/* One batch: the time in microseconds that it took. Leader only. Where the others take part, one
 * repetition before it waits until all of them have left Team.agree: among more processes than
 * cores that takes longer than a batch. */
static double time_batch(const struct Team *team, const struct Line *line,
                         const struct Subjects *subjects, int subject, long repetitions)
{
    void *context = subjects->contexts[subject];
    team->agree(team->context, signed_for(subject, repetitions));
    if (line->follow != NULL) {
        line->lead(context, 1);
    }
    const double start = now_microseconds();
    line->lead(context, repetitions);
    return now_microseconds() - start;
}

/* The shortest of a few batches: one that nothing interrupted. */
static double time_undisturbed_batch(const struct Team *team, const struct Line *line,
                                     const struct Subjects *subjects, long repetitions)
{
    double shortest = time_batch(team, line, subjects, OWN, repetitions);
    for (int i = 0; i < 2; ++i) {
        const double took = time_batch(team, line, subjects, OWN, repetitions);
        shortest = took < shortest ? took : shortest;
    }
    return shortest;
}

/* How many repetitions make a batch. Trying it out is the warm-up as well. */
static long calibrate(const struct Team *team, const struct Line *line,
                      const struct Subjects *subjects, const struct Plan *plan)
{
    const long least = plan->least_repetitions;
    const long most = (1L << 20) / least * least;
    for (long repetitions = least; repetitions < most; repetitions *= 2) {
        const double took = time_undisturbed_batch(team, line, subjects, repetitions);
        if (took >= plan->batch_microseconds / 2) {
            const long fitting = (long)((double)repetitions * plan->batch_microseconds / took);
            return fitting > least ? fitting / least * least : least;
        }
    }
    return most;
}

/* The samples of one subject. */
struct Samples {
    double microseconds[MAX_BATCHES];
    int count;
};

static double median_of(struct Samples *samples)
{
    qsort(samples->microseconds, (size_t)samples->count, sizeof *samples->microseconds,
          compare_doubles);
    return samples->microseconds[samples->count / 2];
}

static void print_result(const char *name, struct Samples *own, struct Samples *beside,
                         long repetitions)
{
    const double median = median_of(own);
    printf("{\"line\": \"%s\", \"microseconds\": %.6f, \"least\": %.6f, \"upper_quartile\": %.6f, "
           "\"batches\": %d, \"repetitions\": %ld",
           name, median, own->microseconds[0], own->microseconds[3 * own->count / 4], own->count,
           repetitions);
    if (beside->count != 0) {
        printf(", \"beside\": %.6f", median_of(beside));
    }
    printf("}\n");
    fflush(stdout);
}

static void lead(const struct Team *team, const struct Line *line, const struct Subjects *subjects,
                 const struct Plan *plan)
{
    struct Samples samples[2] = {{.count = 0}, {.count = 0}};
    printf("{\"starts\": \"%s\"}\n", line->name);
    fflush(stdout);
    const long repetitions = calibrate(team, line, subjects, plan);
    const int measured = subjects->contexts[BESIDE] != NULL ? 2 : 1;
    if (measured == 2) {
        time_batch(team, line, subjects, BESIDE, repetitions);
    }
    const double end = now_microseconds() + measured * plan->limit_microseconds;
    do {
        for (int subject = 0; subject < measured; ++subject) {
            struct Samples *taken = &samples[subject];
            taken->microseconds[taken->count++] =
                time_batch(team, line, subjects, subject, repetitions) / (double)repetitions;
        }
    } while (samples[OWN].count < plan->batches && now_microseconds() < end);
    team->agree(team->context, 0);
    print_result(line->name, &samples[OWN], &samples[BESIDE], repetitions);
}

static void follow(const struct Team *team, const struct Line *line,
                   const struct Subjects *subjects)
{
    long agreed = team->agree(team->context, 0);
    while (agreed != 0) {
        if (line->follow != NULL) {
            void *context = subjects->contexts[agreed < 0 ? BESIDE : OWN];
            line->follow(context, 1);
            line->follow(context, labs(agreed));
        }
        agreed = team->agree(team->context, 0);
    }
}

void measure_beside(const struct Team *team, const struct Line *line, void *context, void *beside,
                    const struct Plan *plan)
{
    const struct Subjects subjects = {{context, beside}};
    if (team->rank == 0) {
        lead(team, line, &subjects, plan);
    } else {
        follow(team, line, &subjects);
    }
}

void measure(const struct Team *team, const struct Line *line, void *context,
             const struct Plan *plan)
{
    measure_beside(team, line, context, NULL, plan);
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
