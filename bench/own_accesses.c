/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's own loads and stores on memory that it makes a window of: before, during and after.
 * It knows nothing of Sidelight.
 *
 *     own_accesses [--quick] [--alloc-mem | --allocate | --allocate-shared] [LINE...]
 *
 * Two ranks, each with an array of malloc(), or of MPI_Alloc_mem(), or in the place of it, while
 * the window is there, the memory that MPI allocates with the window. Rank 0 measures; the other
 * waits in MPI_Barrier. Each pass over the array takes its turn with one over another array, which
 * never is in a window, so that what the machine does meanwhile is in both.
 */
#define _GNU_SOURCE
#include "measure.h"

#include <getopt.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ARRAY_BYTES = 64 << 20,
    WORDS = ARRAY_BYTES / (int)sizeof(int64_t), /* a power of two */
    RANDOM_ACCESSES = 1 << 20,
    MOST_PASSES = 64,
    PASSES = 21,
    QUICK_PASSES = 5,
    MARK = 7, /* what rank 1 puts */
};

/* A pass over an array of WORDS words. Returns something that depends on what it read. */
typedef int64_t Pass(int64_t *array);

static int64_t stores(int64_t *array)
{
    for (long i = 0; i < WORDS; ++i) {
        ((volatile int64_t *)array)[i] = i;
    }
    return 0;
}

static int64_t loads(int64_t *array)
{
    int64_t sum = 0;
    for (long i = 0; i < WORDS; ++i) {
        sum += ((volatile int64_t *)array)[i];
    }
    return sum;
}

/* A linear congruential generator: its upper bits are random enough to miss every cache. */
static inline uint64_t next_random(uint64_t state)
{
    return state * 6364136223846793005u + 1442695040888963407u;
}

static inline long index_from(uint64_t state) { return (long)(state >> 32) & (WORDS - 1); }

static int64_t random_loads(int64_t *array)
{
    int64_t sum = 0;
    uint64_t state = 1;
    for (long i = 0; i < RANDOM_ACCESSES; ++i) {
        state = next_random(state);
        sum += ((volatile int64_t *)array)[index_from(state)];
    }
    return sum;
}

static int64_t random_stores(int64_t *array)
{
    uint64_t state = 1;
    for (long i = 0; i < RANDOM_ACCESSES; ++i) {
        state = next_random(state);
        ((volatile int64_t *)array)[index_from(state)] = i;
    }
    return 0;
}

static const struct {
    const char *name;
    Pass *pass;
} lines[] = {
    {"stores", stores},
    {"loads", loads},
    {"random_loads", random_loads},
    {"random_stores", random_stores},
};

enum { LINES = sizeof lines / sizeof *lines };
enum Phase { BEFORE, DURING, AFTER, PHASES };

static const char *const phase_names[PHASES] = {"before", "during", "after"};

/* Medians, in microseconds. */
struct Figures {
    double own;     /* of the array that is made a window */
    double control; /* of the array that is not */
};

struct Arrays {
    int64_t *own;
    int64_t *control;
};

static volatile int64_t result; /* so that no load is left out */

/* What this thread has had of the processor: an access waits for nothing else, and what others get
 * of it meanwhile does not count. */
static double processor_microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static double time_pass(Pass *pass, int64_t *array)
{
    const double start = processor_microseconds();
    result = pass(array);
    return processor_microseconds() - start;
}

/* The two arrays in turns, each the first as often as the other. */
static struct Figures measure_line(Pass *pass, const struct Arrays *arrays, int passes)
{
    double own[MOST_PASSES];
    double control[MOST_PASSES];
    time_pass(pass, arrays->own);
    time_pass(pass, arrays->control);
    for (int i = 0; i < passes; ++i) {
        if (i % 2 == 0) {
            own[i] = time_pass(pass, arrays->own);
            control[i] = time_pass(pass, arrays->control);
        } else {
            control[i] = time_pass(pass, arrays->control);
            own[i] = time_pass(pass, arrays->own);
        }
    }
    return (struct Figures){median(own, passes), median(control, passes)};
}

enum Source { BROUGHT, ALLOC_MEM, ALLOCATE, ALLOCATE_SHARED };

struct Options {
    int passes;
    enum Source source;
    char *const *names;
    int count;
};

static void measure_phase(const struct Options *options, const struct Arrays *arrays,
                          struct Figures *figures)
{
    for (int i = 0; i < LINES; ++i) {
        if (chosen(lines[i].name, options->names, options->count)) {
            figures[i] = measure_line(lines[i].pass, arrays, options->passes);
        }
    }
}

/* Whether the memory at `address` is mapped so that others may share it. */
static bool is_shared(const void *address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool shared = false;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t begin = 0;
        uintptr_t end = 0;
        char access[5] = "";
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, access) == 3 &&
            (uintptr_t)address >= begin && (uintptr_t)address < end) {
            shared = access[3] == 's';
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return shared;
}

/* Collective: rank 1 puts a word to rank 0, so that the window is in use. False where that does
 * not arrive. */
static bool use(MPI_Win win, int rank, const int64_t *array)
{
    const int64_t mark = MARK;
    MPI_Win_fence(0, win);
    if (rank == 1) {
        MPI_Put(&mark, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, win);
    }
    MPI_Win_fence(0, win);
    return rank != 0 || array[1] == MARK;
}

static void print_figures(const struct Options *options, struct Figures figures[PHASES][LINES],
                          bool shared)
{
    for (int i = 0; i < LINES; ++i) {
        if (!chosen(lines[i].name, options->names, options->count)) {
            continue;
        }
        printf("{\"line\": \"%s\", \"shared\": %d", lines[i].name, shared);
        for (int phase = 0; phase < PHASES; ++phase) {
            printf(", \"%s\": %.3f, \"%s_control\": %.3f", phase_names[phase],
                   figures[phase][i].own, phase_names[phase], figures[phase][i].control);
        }
        printf("}\n");
    }
    fflush(stdout);
}

/* Collective: a window on `own`, or on memory of its own. Returns where it is. */
static int64_t *open_window(enum Source source, int64_t *own, MPI_Win *win)
{
    if (source == ALLOCATE || source == ALLOCATE_SHARED) {
        (source == ALLOCATE ? MPI_Win_allocate : MPI_Win_allocate_shared)(
            ARRAY_BYTES, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &own, win);
        memset(own, 0, ARRAY_BYTES);
    } else {
        MPI_Win_create(own, ARRAY_BYTES, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, win);
    }
    return own;
}

static bool measure_phases(int rank, const struct Options *options, const struct Arrays *arrays)
{
    struct Figures figures[PHASES][LINES] = {0};
    MPI_Win win = MPI_WIN_NULL;
    bool shared = false;
    bool arrived = true;
    for (int phase = 0; phase < PHASES; ++phase) {
        struct Arrays measured = *arrays;
        if (phase == DURING) {
            measured.own = open_window(options->source, arrays->own, &win);
            arrived = use(win, rank, measured.own);
            shared = is_shared(measured.own);
        } else if (phase == AFTER) {
            MPI_Win_free(&win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            measure_phase(options, &measured, figures[phase]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0 && arrived) {
        print_figures(options, figures, shared);
    }
    return arrived;
}

static bool read_options(int argc, char **argv, struct Options *options)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"alloc-mem", no_argument, NULL, 'a'},
                                          {"allocate", no_argument, NULL, 'w'},
                                          {"allocate-shared", no_argument, NULL, 's'},
                                          {NULL, 0, NULL, 0}};
    options->passes = PASSES;
    options->source = BROUGHT;
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            options->passes = QUICK_PASSES;
        } else if (found == 'a' || found == 'w' || found == 's') {
            options->source = found == 'a' ? ALLOC_MEM : found == 'w' ? ALLOCATE : ALLOCATE_SHARED;
        } else {
            return false;
        }
    }
    options->names = argv + optind;
    options->count = argc - optind;
    return true;
}

/* In whole pages, so that it may be replaced where the user says so. */
static int64_t *take_array(bool by_mpi)
{
    int64_t *array = NULL;
    if (!by_mpi) {
        return aligned_alloc(4096, ARRAY_BYTES);
    }
    MPI_Alloc_mem(ARRAY_BYTES, MPI_INFO_NULL, &array);
    return array;
}

int main(int argc, char **argv)
{
    struct Options options;
    int rank = 0;
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool understood = read_options(argc, argv, &options);
    const struct Arrays arrays = {take_array(options.source == ALLOC_MEM), take_array(false)};
    if (!understood || ranks != 2 || arrays.own == NULL || arrays.control == NULL) {
        fprintf(stderr, "usage: own_accesses [--quick] [--alloc-mem | --allocate | "
                        "--allocate-shared] [LINE...], on two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memset(arrays.own, 0, ARRAY_BYTES);
    memset(arrays.control, 0, ARRAY_BYTES);
    bind_to_core(rank, ranks);
    const bool arrived = measure_phases(rank, &options, &arrays);
    if (!arrived) {
        fprintf(stderr, "own_accesses: what rank 1 has put is not there\n");
    }
    if (options.source == ALLOC_MEM) {
        MPI_Free_mem(arrays.own);
    } else {
        free(arrays.own);
    }
    free(arrays.control);
    MPI_Finalize();
    return arrived ? 0 : 1;
}
