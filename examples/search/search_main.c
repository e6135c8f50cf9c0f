/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches the first 20 characters of reads in a genome that is spread over the ranks:
 *
 *     PROGRAM [-g GENOME -q READS] [-n READS] [-b BATCH] [-r ROUNDS] [-t SECONDS] [-c] [LINE...]
 *
 * A line is `exact`, `one` or `two`, the mismatches that there may be. Each rank has an equal part
 * of the reads and asks all ranks about them, BATCH of them at once; that is done in up to ROUNDS
 * rounds, none begun after SECONDS, for the sake of the clock. Prints JSON. With -c rank 0 checks
 * all answers by a plain search. Without files, genome and reads are made up.
 */
#define _POSIX_C_SOURCE 200809L

#include "search_check.h"
#include "search_input.h"
#include "search_way.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROUNDS = 1000, MADE_UP_LENGTH = 6000, MADE_UP_READS = 1000 };

static const char *const line_names[MOST_MISMATCHES + 1] = {"exact", "one", "two"};

typedef struct {
    int batch;
    int reads;
    int rounds;
    double limit;
    bool check;
    const char *genome; /* files */
    const char *reads_file;
    char *const *lines;
    int count;
} Options;

/* What came of the rounds, in rank 0. */
typedef struct {
    double seconds[MOST_ROUNDS]; /* of the slowest rank */
    int rounds;
} Times;

static bool read_options(int argc, char **argv, Options *options)
{
    *options = (Options){.batch = 100, .reads = 1 << 24, .rounds = 1, .limit = 1e9};
    for (int option; (option = getopt(argc, argv, "g:q:b:n:r:t:c")) != -1;) {
        switch (option) {
        case 'g':
            options->genome = optarg;
            break;
        case 'q':
            options->reads_file = optarg;
            break;
        case 'b':
            options->batch = atoi(optarg);
            break;
        case 'n':
            options->reads = atoi(optarg);
            break;
        case 'r':
            options->rounds = atoi(optarg);
            break;
        case 't':
            options->limit = atof(optarg);
            break;
        case 'c':
            options->check = true;
            break;
        default:
            return false;
        }
    }
    options->lines = argv + optind;
    options->count = argc - optind;
    return (options->genome == NULL) == (options->reads_file == NULL) && options->batch >= 1 &&
           options->reads >= 1 && options->rounds >= 1 && options->rounds <= MOST_ROUNDS;
}

/* Whether it is to be measured: all are where none is named. */
static bool is_chosen(const Options *options, const char *line)
{
    for (int i = 0; i < options->count; ++i) {
        if (strcmp(options->lines[i], line) == 0) {
            return true;
        }
    }
    return options->count == 0;
}

static int compare(const void *one, const void *other)
{
    const double a = *(const double *)one;
    const double b = *(const double *)other;
    return (a > b) - (a < b);
}

static int first_of(const Input *input, int rank, int ranks)
{
    return (int)((long)input->count * rank / ranks);
}

/* The rounds; the answers of the last one. */
static Times search_rounds(const Options *options, const Input *input, const Job *job,
                           Answer *answers)
{
    const int first = first_of(input, job->rank, job->ranks);
    const int count = first_of(input, job->rank + 1, job->ranks) - first;
    Times times = {.rounds = 0};
    Way *const way = way_create(job);
    const double began = MPI_Wtime();
    for (int more = 1; more;) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        way_search(way, input->queries + (size_t)first * LENGTH, count, answers);
        MPI_Barrier(MPI_COMM_WORLD); // a rank that begins late is no faster for it
        double seconds = MPI_Wtime() - start;
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        times.seconds[times.rounds++] = seconds;
        more = times.rounds < options->rounds && MPI_Wtime() - began < options->limit;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    way_destroy(way);
    return times;
}

/* The answers of all ranks in the order of the queries, in rank 0. Collective. */
static Answer *gather(const Input *input, const Job *job, const Answer *answers)
{
    int *const counts = malloc(2 * (size_t)job->ranks * sizeof *counts);
    int *const places = counts + job->ranks;
    for (int rank = 0; rank < job->ranks; ++rank) {
        const int first = first_of(input, rank, job->ranks);
        places[rank] = first * ANSWER_INTS;
        counts[rank] = (first_of(input, rank + 1, job->ranks) - first) * ANSWER_INTS;
    }
    Answer *const all = job->rank == 0 ? malloc((size_t)input->count * sizeof *all) : NULL;
    MPI_Gatherv(answers, counts[job->rank], MPI_INT, all, counts, places, MPI_INT, 0,
                MPI_COMM_WORLD);
    free(counts);
    return all;
}

static void print_report(const Options *options, const Input *input, const Job *job, Times *times,
                         const Answer *answers)
{
    long matches = 0;
    int found = 0;
    for (int i = 0; i < input->count; ++i) {
        matches += answers[i].found;
        found += answers[i].found > 0;
    }
    qsort(times->seconds, (size_t)times->rounds, sizeof *times->seconds, compare);
    printf("{\"line\": \"%s\", \"program\": \"%s\", \"ranks\": %d, \"reads\": %d, \"found\": %d, "
           "\"matches\": %ld, \"digest\": \"%016" PRIx64 "\", \"checked\": %s, "
           "\"milliseconds\": %.6f}\n",
           line_names[job->mismatches], way_name, job->ranks, input->count, found, matches,
           answers_digest(answers, input->count), options->check ? "true" : "false",
           1e3 * times->seconds[times->rounds / 2]);
    fflush(stdout);
}

static bool make_input(const Options *options, Input *input)
{
    if (options->genome != NULL) {
        return input_read(input, options->genome, options->reads_file, options->reads);
    }
    input_make(input, MADE_UP_LENGTH,
               options->reads < MADE_UP_READS ? options->reads : MADE_UP_READS);
    return true;
}

/* One line. False where an answer is wrong. */
static bool search(const Options *options, const Input *input, const Job *job)
{
    Answer *const answers = malloc((size_t)input->count * sizeof *answers);
    if (job->rank == 0) {
        printf("{\"starts\": \"%s\"}\n", line_names[job->mismatches]);
        fflush(stdout);
    }
    Times times = search_rounds(options, input, job, answers);
    Answer *const all = gather(input, job, answers);
    bool good = true;
    if (job->rank == 0) {
        good = !options->check || answers_agree(input, all, job->mismatches);
        if (good) {
            print_report(options, input, job, &times, all);
        }
    }
    free(all);
    free(answers);
    return good;
}

static bool search_lines(const Options *options, const Input *input, int rank, int ranks)
{
    bool good = true;
    for (int mismatches = 0; good && mismatches <= MOST_MISMATCHES; ++mismatches) {
        if (is_chosen(options, line_names[mismatches])) {
            const Job job = {rank, ranks, input->length, input->genome, mismatches, options->batch};
            good = search(options, input, &job);
        }
    }
    return good;
}

int main(int argc, char **argv)
{
    Options options;
    Input input;
    int level = 0;
    int rank = 0;
    int ranks = 0;
    MPI_Init_thread(&argc, &argv, way_threads, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool usable = read_options(argc, argv, &options);
    if (!usable || level < way_threads) {
        fprintf(stderr, usable ? "search: this MPI has no threads\n"
                               : "usage: search [-g GENOME -q READS] [-n READS] [-b BATCH] "
                                 "[-r ROUNDS] [-t SECONDS] [-c] [LINE...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (!make_input(&options, &input)) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (!search_lines(&options, &input, rank, ranks)) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    input_free(&input);
    MPI_Finalize();
    return 0;
}
