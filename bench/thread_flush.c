/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that each put and flush (P2, figures 8, 9 and 11). It knows nothing of Sidelight: a host
 * that does not know the keys mpi_win_scope and mpi_win_order ignores them.
 *
 *     thread_flush [--quick] [--bytes N] [LINE...]
 *
 * Two ranks, of which the second waits in MPI_Barrier. A line is a kind of window, of process
 * scope, of thread scope, or of process scope and ordered, and a number of threads. "cpu" is the
 * processor time that rank 0 needs for one put and its flush, whichever thread makes it; "wall" is
 * the time from the first to the last, divided by the puts of one thread. Each thread puts for so
 * many milliseconds that neither its end nor changes of threads count, to a line of the cache of
 * its own.
 */
#define _GNU_SOURCE
#include "measure.h"

#include <getopt.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_THREADS = 32, MOST_BYTES = 1 << 20, APART = 128 };
enum { US = 20000, QUICK_US = 2000, TRIED = 500, FEWEST = 100 };

struct Options {
    double us; /* how long a thread alone puts */
    int bytes;
    char **names;
    int count;
};

struct Worker {
    pthread_t thread;
    MPI_Win win;
    const struct Options *options;
    int number;
    int puts;
    pthread_barrier_t *start;
};

static double now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static void put_and_flush(const struct Worker *me, const char *from, int puts)
{
    const MPI_Aint place = (MPI_Aint)me->number * (me->options->bytes + APART);
    for (int k = 0; k < puts; ++k) {
        MPI_Put(from, me->options->bytes, MPI_BYTE, 1, place, me->options->bytes, MPI_BYTE,
                me->win);
        MPI_Win_flush(1, me->win);
    }
}

static void *work(void *argument)
{
    const struct Worker *me = argument;
    char *from = make_data((size_t)me->options->bytes);
    put_and_flush(me, from, FEWEST);
    pthread_barrier_wait(me->start); /* the main thread looks at the clocks in between */
    pthread_barrier_wait(me->start);
    put_and_flush(me, from, me->puts);
    free(from);
    return NULL;
}

/* How many take the time that a thread has, if it is alone. */
static int puts_of_thread(MPI_Win win, const struct Options *options)
{
    const struct Worker alone = {.win = win, .options = options};
    char *from = make_data((size_t)options->bytes);
    put_and_flush(&alone, from, FEWEST);
    const double begin = now(CLOCK_MONOTONIC);
    put_and_flush(&alone, from, TRIED);
    const double each = (now(CLOCK_MONOTONIC) - begin) / TRIED;
    free(from);
    const double puts = options->us / (each > 0.001 ? each : 0.001);
    return puts < FEWEST ? FEWEST : (int)puts;
}

static void run_threads(const char *name, MPI_Win win, int threads, const struct Options *options)
{
    struct Worker workers[MOST_THREADS];
    pthread_barrier_t start;
    const int each = puts_of_thread(win, options);
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; ++i) {
        workers[i] = (struct Worker){
            .win = win, .options = options, .number = i, .puts = each, .start = &start};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            abort();
        }
    }
    pthread_barrier_wait(&start);
    const double wall = now(CLOCK_MONOTONIC);
    const double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    pthread_barrier_wait(&start);
    for (int i = 0; i < threads; ++i) {
        pthread_join(workers[i].thread, NULL);
    }
    printf("{\"line\": \"%s\", \"cpu\": %.4f, \"wall\": %.4f}\n", name,
           (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / ((double)each * threads),
           (now(CLOCK_MONOTONIC) - wall) / each);
    fflush(stdout);
    pthread_barrier_destroy(&start);
}

struct Kind {
    const char *name, *scope, *ordered;
};

static MPI_Win make_window(const struct Kind *kind)
{
    char *memory = NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_scope", kind->scope);
    MPI_Info_set(info, "mpi_win_order", kind->ordered);
    MPI_Win_allocate((MPI_Aint)MOST_THREADS * (MOST_BYTES + APART), 1, info, MPI_COMM_WORLD,
                     &memory, &win);
    MPI_Info_free(&info);
    return win;
}

static void measure_line(const struct Kind *kind, int threads, int rank,
                         const struct Options *options)
{
    char name[32];
    snprintf(name, sizeof name, "%s_%d", kind->name, threads);
    if (!chosen(name, options->names, options->count)) {
        return;
    }
    MPI_Win win = make_window(kind);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("{\"starts\": \"%s\"}\n", name);
        fflush(stdout);
        run_threads(name, win, threads, options);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static bool read_options(int argc, char **argv, struct Options *options)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"bytes", required_argument, NULL, 'b'},
                                          {NULL, 0, NULL, 0}};
    options->us = US;
    options->bytes = 8;
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            options->us = QUICK_US;
        } else if (found == 'b') {
            options->bytes = atoi(optarg);
        } else {
            return false;
        }
    }
    options->names = argv + optind;
    options->count = argc - optind;
    return options->bytes > 0 && options->bytes <= MOST_BYTES;
}

int main(int argc, char **argv)
{
    static const int numbers[] = {1, 2, 4, 8, 16, MOST_THREADS};
    static const struct Kind kinds[] = {{"process", "process", "false"},
                                        {"thread", "thread", "false"},
                                        {"ordered", "process", "true"}};
    struct Options options;
    int rank = 0;
    int ranks = 0;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!read_options(argc, argv, &options) || ranks != 2 || provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "usage: thread_flush [--quick] [--bytes N] [LINE...], on two ranks, with "
                        "MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
            measure_line(&kinds[kind], numbers[i], rank, &options);
        }
    }
    MPI_Finalize();
    return 0;
}
