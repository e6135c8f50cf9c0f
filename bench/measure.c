/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "measure.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct Plan full_plan = {
    .batch_microseconds = 500, .limit_microseconds = 1e6, .batches = 61, .least_repetitions = 1};
const struct Plan crowded_plan = {
    .batch_microseconds = 20e3, .limit_microseconds = 3e6, .batches = 61, .least_repetitions = 100};
const struct Plan quick_crowded_plan = {
    .batch_microseconds = 20e3, .limit_microseconds = 5e5, .batches = 15, .least_repetitions = 20};
const struct Plan quick_plan = {
    .batch_microseconds = 200, .limit_microseconds = 2e5, .batches = 15, .least_repetitions = 1};

double now_microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

char *make_data(size_t bytes)
{
    char *const data = malloc(bytes);
    if (data == NULL) {
        abort();
    }
    return memset(data, 1, bytes);
}

/* ISO C has no conversion from what dlsym returns to a function. */
bool look_up(const char *name, void *call)
{
    void *const address = dlsym(RTLD_DEFAULT, name);
    memcpy(call, &address, sizeof address);
    return address != NULL;
}

void compute(double microseconds)
{
    const double end = now_microseconds() + microseconds;
    while (now_microseconds() < end) {
    }
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* What a line is measured on, one after the other, and how often in a batch. */
struct Subjects {
    void *contexts[MAX_SUBJECTS];
    long repetitions[MAX_SUBJECTS];
    int count;
};

/* How the leader tells which subject a batch is for, and its length. 0: no further batch. */
static long number_for(int subject, long repetitions)
{
    return repetitions * MAX_SUBJECTS + subject;
}

/* One batch: the time in microseconds that it took. Leader only. Where the others take part, one
 * repetition before it waits until all of them have left Team.agree: among more processes than
 * cores that takes longer than a batch. */
static double time_batch(const struct Team *team, const struct Line *line,
                         const struct Subjects *subjects, int subject, long repetitions)
{
    void *context = subjects->contexts[subject];
    team->agree(team->context, number_for(subject, repetitions));
    if (line->follow != NULL) {
        line->lead(context, 1);
    }
    const double start = now_microseconds();
    line->lead(context, repetitions);
    return now_microseconds() - start;
}

/* The shortest of a few batches: one that nothing interrupted. */
static double time_undisturbed_batch(const struct Team *team, const struct Line *line,
                                     const struct Subjects *subjects, int subject, long repetitions)
{
    double shortest = time_batch(team, line, subjects, subject, repetitions);
    for (int i = 0; i < 2; ++i) {
        const double took = time_batch(team, line, subjects, subject, repetitions);
        shortest = took < shortest ? took : shortest;
    }
    return shortest;
}

/* How many repetitions make a batch. Trying it out is the warm-up as well. */
static long calibrate(const struct Team *team, const struct Line *line,
                      const struct Subjects *subjects, int subject, const struct Plan *plan)
{
    const long least = plan->least_repetitions;
    const long most = (1L << 20) / least * least;
    for (long repetitions = least; repetitions < most; repetitions *= 2) {
        const double took = time_undisturbed_batch(team, line, subjects, subject, repetitions);
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

static void print_result(const char *name, struct Samples *samples, const struct Subjects *subjects)
{
    struct Samples *own = &samples[0];
    const double middle = median(own->microseconds, own->count);
    printf("{\"line\": \"%s\", \"microseconds\": %.6f, \"least\": %.6f, \"upper_quartile\": %.6f, "
           "\"batches\": %d, \"repetitions\": %ld",
           name, middle, own->microseconds[0], own->microseconds[3 * own->count / 4], own->count,
           subjects->repetitions[0]);
    if (subjects->count > 1) {
        printf(", \"beside\": %.6f", median(samples[1].microseconds, samples[1].count));
    }
    printf("}\n");
    fflush(stdout);
}

static void lead(const struct Team *team, const struct Line *line, struct Subjects *subjects,
                 const struct Plan *plan, struct Samples *samples)
{
    for (int subject = 0; subject < subjects->count; ++subject) {
        samples[subject].count = 0;
        subjects->repetitions[subject] = calibrate(team, line, subjects, subject, plan);
    }
    const double end = now_microseconds() + subjects->count * plan->limit_microseconds;
    do {
        for (int subject = 0; subject < subjects->count; ++subject) {
            struct Samples *taken = &samples[subject];
            const long repetitions = subjects->repetitions[subject];
            taken->microseconds[taken->count++] =
                time_batch(team, line, subjects, subject, repetitions) / (double)repetitions;
        }
    } while (samples[0].count < plan->batches && now_microseconds() < end);
    team->agree(team->context, 0);
}

static void follow(const struct Team *team, const struct Line *line,
                   const struct Subjects *subjects)
{
    long agreed = team->agree(team->context, 0);
    while (agreed != 0) {
        if (line->follow != NULL) {
            void *context = subjects->contexts[agreed % MAX_SUBJECTS];
            line->follow(context, 1);
            line->follow(context, agreed / MAX_SUBJECTS);
        }
        agreed = team->agree(team->context, 0);
    }
}

void announce_line(const char *name)
{
    printf("{\"starts\": \"%s\"}\n", name);
    fflush(stdout);
}

void print_values(const char *name, const char *const *figures, const double *values, int count)
{
    printf("{\"line\": \"%s\"", name);
    for (int i = 0; i < count; ++i) {
        printf(", \"%s\": %.6f", figures[i], values[i]);
    }
    printf("}\n");
    fflush(stdout);
}

void measure_beside(const struct Team *team, const struct Line *line, void *context, void *beside,
                    const struct Plan *plan)
{
    struct Samples samples[2];
    struct Subjects subjects = {{context, beside}, {0}, beside != NULL ? 2 : 1};
    if (team->rank == 0) {
        announce_line(line->name);
        lead(team, line, &subjects, plan, samples);
        print_result(line->name, samples, &subjects);
    } else {
        follow(team, line, &subjects);
    }
}

void measure(const struct Team *team, const struct Line *line, void *context,
             const struct Plan *plan)
{
    measure_beside(team, line, context, NULL, plan);
}

void measure_several(const struct Team *team, const struct Line *line, void *const *contexts,
                     int count, const struct Plan *plan, double *medians)
{
    struct Samples samples[MAX_SUBJECTS];
    struct Subjects subjects = {{NULL}, {0}, count};
    for (int subject = 0; subject < count; ++subject) {
        subjects.contexts[subject] = contexts[subject];
    }
    if (team->rank != 0) {
        follow(team, line, &subjects);
        return;
    }
    lead(team, line, &subjects, plan, samples);
    for (int subject = 0; subject < count; ++subject) {
        medians[subject] = median(samples[subject].microseconds, samples[subject].count);
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
