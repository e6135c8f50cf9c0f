/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns in which one process waits for another without need, after J. A. Zounmevo et al.,
 * "Nonblocking Epochs in MPI One-Sided Communication" (2014), figures 2 to 11.
 *
 *     patterns [--quick | --check] [--nonblocking] [--key] [LINE...]
 *
 * A line is a pattern, or PATTERN_BYTES where the figure has sizes. The same source runs with
 * standard calls and with nonblocking ones, and with the reorder key of the pattern. Each
 * repetition begins at a moment that all processes have agreed on, and each process then plays its
 * role. Three kinds of repetitions take turns: late, where one of the processes is late or works
 * for 1,000 us; prompt, where none is and does; and alone, where only what follows the epochs is
 * done. What a figure is in the other kinds is printed as NAME_prompt and NAME_alone.
 *
 * Being late and working mean to compute, as long as every process has a core for itself; else it
 * is to sleep, which is all that computing on a core of one's own is to the others.
 *
 * Ranks that a pattern does not need do nothing.
 *
 * With --check the delay is long and slept, the figures are the least ones, and the program fails
 * unless the process that would wait for the delay waits exactly where it has to: with standard
 * calls, and where a key is missing. It tries again where it does not, with twice the delay, as
 * others may have the cores.
 */
#define _GNU_SOURCE
#include "play.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static const char *const kind_suffixes[KINDS] = {"", "_prompt", "_alone"};
static const char *const figure_names[FIGURES] = {"epoch", "activity", "both",
                                                  "first", "second",   "other"};
enum {
    MOST_REPETITIONS = 100,
    QUICK_REPETITIONS = 9,
    CHECKED_REPETITIONS = 3,
    CHECKED_TRIES = 7,
    WARM_UP = 1
};

static const double delay_microseconds = 1000;
/* Of the first try, and twice as long in each that follows: nothing else takes so long at last. */
static const double checked_delay_microseconds = 100e3;

/* No repetition of a line after so much and, for each that there should be, so much more. */
static const double limit_microseconds = 1e6;
static const double limit_each_microseconds = 30e3;

struct Options {
    int repetitions;
    double delay;
    bool check;
    bool nonblocking;
    bool key;
    char *const *names;
    int count;
};

/* What this process has measured, by kind and figure. */
struct Samples {
    double values[KINDS][FIGURES][MOST_REPETITIONS];
    int counts[KINDS];
};

/* Of repetitions that all began in time, and of those that a process began too late: where more
 * processes spin than there are cores, that may be all of them, and they are better than none. */
struct Record {
    struct Samples on_time;
    struct Samples late;
    int discarded;
};

/* All begin at the same moment, far enough ahead that each is there before it. */
static void agree_on_start(struct Play *play)
{
    play->agreed = now_microseconds() + (play->sleeps ? 1500 : 300);
    MPI_Bcast(&play->agreed, 1, MPI_DOUBLE, 0, play->comm);
    sleep_until(play->agreed - (play->sleeps ? 0 : 100));
    while (now_microseconds() < play->agreed) {
    }
    play->start = play->agreed;
}

/* One repetition. False where a process has begun it too late, because it got no core. */
static bool repeat(const struct Pattern *pattern, struct Play *play, enum Kind kind)
{
    double late = 0;
    play->kind = kind;
    memset(play->figures, 0, sizeof play->figures);
    epochs_begin(&play->epochs);
    if (pattern->fenced && kind != ACTIVITY_ALONE) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, play->epochs.win);
    }
    agree_on_start(play);
    late = now_microseconds() - play->start;
    pattern->roles[play->rank](play);
    MPI_Allreduce(MPI_IN_PLACE, &late, 1, MPI_DOUBLE, MPI_MAX, play->comm);
    return late < play->delay / 10;
}

static void note(struct Samples *samples, const struct Play *play, int most)
{
    if (samples->counts[play->kind] == most) {
        return;
    }
    const int number = samples->counts[play->kind]++;
    for (int figure = 0; figure < FIGURES; ++figure) {
        samples->values[play->kind][figure][number] = play->figures[figure];
    }
}

static int fewest(const struct Samples *samples, int kinds)
{
    int least = MOST_REPETITIONS;
    for (int kind = 0; kind < kinds; ++kind) {
        least = samples->counts[kind] < least ? samples->counts[kind] : least;
    }
    return least;
}

/* As many of each kind as there should be, or fewer where too many have to be discarded. All
 * processes see the same ones late, and the same moments of agreement. */
static void repeat_all(const struct Pattern *pattern, struct Play *play, int repetitions,
                       struct Record *record)
{
    const int kinds = pattern->activity ? KINDS : ACTIVITY_ALONE;
    const double limit = limit_microseconds + repetitions * limit_each_microseconds;
    double end = 0;
    for (int number = 0;
         number < WARM_UP || (fewest(&record->on_time, kinds) < repetitions && play->agreed < end);
         ++number) {
        for (int kind = 0; kind < kinds; ++kind) {
            const bool on_time = repeat(pattern, play, (enum Kind)kind);
            if (number >= WARM_UP) {
                note(on_time ? &record->on_time : &record->late, play, repetitions);
                record->discarded += !on_time;
            }
        }
        end = number < WARM_UP ? play->agreed + limit : end;
    }
}

static double least_of(const double *values, int count)
{
    double least = values[0];
    for (int i = 1; i < count; ++i) {
        least = values[i] < least ? values[i] : least;
    }
    return least;
}

/* Of no values 0, which stands for a figure that there is not. */
static double middle_or_least(double *values, int count, bool least)
{
    if (count == 0) {
        return 0;
    }
    return least ? least_of(values, count) : median(values, count);
}

/* Collective. Each figure is that of the process that has it. */
static void take_medians(const struct Play *play, struct Record *record, bool least,
                         double medians[KINDS][FIGURES])
{
    for (int kind = 0; kind < KINDS; ++kind) {
        struct Samples *samples =
            record->on_time.counts[kind] > 0 ? &record->on_time : &record->late;
        for (int figure = 0; figure < FIGURES; ++figure) {
            medians[kind][figure] =
                middle_or_least(samples->values[kind][figure], samples->counts[kind], least);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, medians, KINDS * FIGURES, MPI_DOUBLE, MPI_MAX, play->comm);
}

static void print_medians(const char *name, const struct Play *play, const struct Record *record,
                          double medians[KINDS][FIGURES])
{
    printf("{\"line\": \"%s\", \"sleeps\": %d, \"discarded\": %d", name, play->sleeps,
           record->discarded);
    for (int kind = 0; kind < KINDS; ++kind) {
        for (int figure = 0; figure < FIGURES; ++figure) {
            if (medians[kind][figure] > 0) {
                printf(", \"%s%s\": %.3f", figure_names[figure], kind_suffixes[kind],
                       medians[kind][figure]);
            }
        }
    }
    printf("}\n");
    fflush(stdout);
}

/* Whether who would wait for the delay does where it must, and only there. */
static bool is_right(const struct Pattern *pattern, const struct Options *options, double delay,
                     double late)
{
    const bool spared = options->nonblocking && (options->key || pattern->key == NULL);
    return spared ? late <= delay / 2 : late >= 0.9 * delay;
}

/* Repeats it until it is right, if it is checked: others may take the cores, but not for the whole
 * of a delay that is doubled each time. Ends the job if it is never. All processes see the same
 * figures. */
static void repeat_until_right(const struct Pattern *pattern, const struct Options *options,
                               struct Play *play, struct Record *record,
                               double medians[KINDS][FIGURES])
{
    const bool checked = options->check && pattern->victim != FIGURES;
    for (int tries = checked ? CHECKED_TRIES : 1; tries > 0; --tries) {
        memset(record, 0, sizeof *record);
        repeat_all(pattern, play, options->repetitions, record);
        take_medians(play, record, options->check, medians);
        const double late = medians[LATE][pattern->victim];
        if (!checked || is_right(pattern, options, play->delay, late)) {
            return;
        }
        fprintf(stderr, "patterns: %s: %.0f us with a delay of %.0f\n", pattern->name, late,
                play->delay);
        play->delay *= 2;
    }
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Win make_window(MPI_Comm comm, const char *key)
{
    MPI_Info info;
    MPI_Win win;
    char *base = NULL;
    MPI_Info_create(&info);
    if (key != NULL) {
        MPI_Info_set(info, key, "1");
    }
    MPI_Win_allocate(SLOTS * MEGABYTE, 1, info, comm, &base, &win);
    MPI_Info_free(&info);
    memset(base, 0, SLOTS * MEGABYTE);
    MPI_Barrier(comm);
    return win;
}

static int role_count(const struct Pattern *pattern)
{
    int count = 0;
    while (count < MOST_ROLES && pattern->roles[count] != NULL) {
        ++count;
    }
    return count;
}

/* Collective over the processes that have a role. */
static void measure_pattern(const struct Pattern *pattern, const struct Options *options,
                            MPI_Comm comm, const cpu_set_t *cores)
{
    static struct Record record;
    double medians[KINDS][FIGURES];
    struct Play play = {.comm = comm,
                        .bytes = pattern->bytes,
                        .data = make_data(MEGABYTE),
                        .arrive = calloc(1, MEGABYTE),
                        .delay = options->delay,
                        .sleeps = options->check || role_count(pattern) > CPU_COUNT(cores)};
    MPI_Comm_rank(comm, &play.rank);
    sched_setaffinity(0, sizeof *cores, cores);
    if (!options->check && !bind_to_core(play.rank, role_count(pattern))) {
        fprintf(stderr, "patterns: no cores to be bound to\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (play.rank == 0) {
        printf("{\"starts\": \"%s\"}\n", pattern->name);
        fflush(stdout);
    }
    MPI_Win win = make_window(comm, options->key ? pattern->key : NULL);
    play.epochs = epochs_create(win, comm, options->nonblocking);
    repeat_until_right(pattern, options, &play, &record, medians);
    if (play.rank == 0) {
        print_medians(pattern->name, &play, &record, medians);
    }
    epochs_free(&play.epochs);
    MPI_Win_free(&win);
    free(play.data);
    free(play.arrive);
}

/* Collective over all. Who has no role sleeps until the others are done. */
static void measure_among(const struct Pattern *pattern, const struct Options *options, int rank,
                          const cpu_set_t *cores)
{
    MPI_Comm comm;
    MPI_Request over;
    int done = 0;
    const bool plays = rank < role_count(pattern);
    MPI_Comm_split(MPI_COMM_WORLD, plays ? 0 : 1, rank, &comm);
    if (plays) {
        measure_pattern(pattern, options, comm, cores);
    }
    MPI_Comm_free(&comm);
    MPI_Ibarrier(MPI_COMM_WORLD, &over);
    for (MPI_Test(&over, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(&over, &done, MPI_STATUS_IGNORE)) {
        sleep_until(now_microseconds() + 1000);
    }
}

static void measure_chosen(const struct Pattern *patterns, const struct Options *options, int rank,
                           const cpu_set_t *cores)
{
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (const struct Pattern *pattern = patterns; pattern->name != NULL; ++pattern) {
        if (chosen(pattern->name, options->names, options->count) && role_count(pattern) <= ranks) {
            measure_among(pattern, options, rank, cores);
        }
    }
}

static bool read_options(int argc, char **argv, struct Options *options)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"check", no_argument, NULL, 'c'},
                                          {"nonblocking", no_argument, NULL, 'n'},
                                          {"key", no_argument, NULL, 'k'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct Options){.repetitions = MOST_REPETITIONS, .delay = delay_microseconds};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            options->repetitions = QUICK_REPETITIONS;
        } else if (found == 'c') {
            options->check = true;
            options->repetitions = CHECKED_REPETITIONS;
            options->delay = checked_delay_microseconds;
        } else if (found == 'n') {
            options->nonblocking = true;
        } else if (found == 'k') {
            options->key = true;
        } else {
            return false;
        }
    }
    options->names = argv + optind;
    options->count = argc - optind;
    return true;
}

int main(int argc, char **argv)
{
    struct Options options;
    int rank = 0;
    cpu_set_t cores; /* that the process may use */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    prctl(PR_SET_TIMERSLACK, 1L); /* sleeps end when they should */
    if (!read_options(argc, argv, &options) || sched_getaffinity(0, sizeof cores, &cores) != 0) {
        fprintf(stderr, "usage: patterns [--quick | --check] [--nonblocking] [--key] [LINE...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (options.nonblocking && !epochs_can_be_nonblocking()) {
        fprintf(stderr, "patterns: --nonblocking needs Sidelight\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    measure_chosen(inefficiencies, &options, rank, &cores);
    measure_chosen(reordered, &options, rank, &cores);
    MPI_Finalize();
    return 0;
}
