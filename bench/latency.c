/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency of one-sided calls. It knows nothing of Sidelight, but for MPIX_Rrput, which it looks
 * for: the same program runs on the host alone and under `sidelight run`.
 *
 *     latency [--quick] [--window allocate|allocate_shared|create|dynamic] [--beside] [LINE...]
 *
 * `create` is memory of MPI_Alloc_mem(); `dynamic` is the same, attached to an empty window. With
 * --beside all lines but the fence are measured on an allocated window as well, in turn. On two
 * ranks: every line of the table below, or those named. On any other number: `fence` alone. Rank 0
 * measures and rank 1 is the target. In passive lines the target waits in MPI_Bcast.
 *
 * Accumulates of any size and type are lines, too, if they are named: OPERATION_TYPE_BYTES as in
 * sum_float_4096, see the tables of operations and types.
 */
#define _GNU_SOURCE
#include "agree.h"
#include "measure.h"

#include <getopt.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TARGET = 1,
    WORD_DISP = 0,
    LOCKED_WORD_DISP = 512,
    BLOCK_DISP = 4096,
    BLOCK_SIZE = 1 << 20,
    WINDOW_SIZE = BLOCK_DISP + BLOCK_SIZE,
    IN_FLIGHT = 100, /* puts before a flush */
};

/* An accumulate of many elements. */
struct Row {
    MPI_Op op;
    MPI_Datatype type;
    int count;
};

/* What the actions work on. */
struct Bench {
    MPI_Win win;
    MPI_Group peer;  /* the next rank: with two, the other one */
    MPI_Aint remote; /* where the peer's memory begins: 0, or its address in a dynamic window */
    char *memory;    /* what this rank allocated for the window, or NULL */
    int rank;
    int64_t word;
    int64_t result;
    int64_t compare;
    char *block; /* BLOCK_SIZE bytes */
    struct Row row;
};

/* Epoch that is open at the origin around a line. */
enum Around { NOTHING, LOCK_ALL, FENCE };

/* --- Passive target --------------------------------------------------------------------------- */

static void put_8(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Put(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1, MPI_INT64_T,
                bench->win);
        MPI_Win_flush(TARGET, bench->win);
    }
}

/* A repetition is one put. Their number is a multiple of IN_FLIGHT. */
static void puts_100(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; i += IN_FLIGHT) {
        for (int k = 0; k < IN_FLIGHT; ++k) {
            MPI_Put(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1, MPI_INT64_T,
                    bench->win);
        }
        MPI_Win_flush(TARGET, bench->win);
    }
}

static void put_local_8(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Put(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1, MPI_INT64_T,
                bench->win);
        MPI_Win_flush_local(TARGET, bench->win);
    }
}

static void rput_8(void *context, long repetitions)
{
    struct Bench *bench = context;
    MPI_Request request;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Rput(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1, MPI_INT64_T,
                 bench->win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void rget_8(void *context, long repetitions)
{
    struct Bench *bench = context;
    MPI_Request request;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Rget(&bench->result, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1, MPI_INT64_T,
                 bench->win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Until the number is at the target: by the request of MPIX_Rrput where there is that call. */
static void rrput_8(void *context, long repetitions)
{
    struct Bench *bench = context;
    int (*rrput)(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win,
                 MPI_Request *);
    MPI_Request request;
    look_up("MPIX_Rrput", &rrput);
    for (long i = 0; i < repetitions; ++i) {
        if (rrput != NULL) {
            rrput(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1, MPI_INT64_T,
                  bench->win, &request);
        } else {
            MPI_Rput(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1,
                     MPI_INT64_T, bench->win, &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rrput == NULL) {
            MPI_Win_flush(TARGET, bench->win);
        }
    }
}

static void get_8(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Get(&bench->result, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1, MPI_INT64_T,
                bench->win);
        MPI_Win_flush(TARGET, bench->win);
    }
}

static void fetch_and_op(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Fetch_and_op(&bench->word, &bench->result, MPI_INT64_T, TARGET,
                         bench->remote + WORD_DISP, MPI_SUM, bench->win);
        MPI_Win_flush(TARGET, bench->win);
    }
}

static void compare_and_swap(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Compare_and_swap(&bench->word, &bench->compare, &bench->result, MPI_INT64_T, TARGET,
                             bench->remote + WORD_DISP, bench->win);
        MPI_Win_flush(TARGET, bench->win);
    }
}

static void accumulate_8(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Accumulate(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + WORD_DISP, 1,
                       MPI_INT64_T, MPI_SUM, bench->win);
        MPI_Win_flush(TARGET, bench->win);
    }
}

static void put_1m(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Put(bench->block, BLOCK_SIZE, MPI_BYTE, TARGET, bench->remote + BLOCK_DISP, BLOCK_SIZE,
                MPI_BYTE, bench->win);
        MPI_Win_flush(TARGET, bench->win);
    }
}

static void accumulate_row(void *context, long repetitions)
{
    struct Bench *bench = context;
    const struct Row row = bench->row;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Accumulate(bench->block, row.count, row.type, TARGET, bench->remote + BLOCK_DISP,
                       row.count, row.type, row.op, bench->win);
        MPI_Win_flush(TARGET, bench->win);
    }
}

static void lock_put_unlock(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, bench->win);
        MPI_Put(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + LOCKED_WORD_DISP, 1,
                MPI_INT64_T, bench->win);
        MPI_Win_unlock(TARGET, bench->win);
    }
}

static void lock_all_put_unlock_all(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Win_lock_all(0, bench->win);
        MPI_Put(&bench->word, 1, MPI_INT64_T, TARGET, bench->remote + LOCKED_WORD_DISP, 1,
                MPI_INT64_T, bench->win);
        MPI_Win_unlock_all(bench->win);
    }
}

/* --- Active target ---------------------------------------------------------------------------- */

static void fence(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        MPI_Win_fence(0, bench->win);
    }
}

static void access_peer(struct Bench *bench)
{
    MPI_Win_start(bench->peer, 0, bench->win);
    MPI_Put(&bench->word, 1, MPI_INT64_T, 1 - bench->rank, bench->remote + WORD_DISP, 1,
            MPI_INT64_T, bench->win);
    MPI_Win_complete(bench->win);
}

static void expose_to_peer(struct Bench *bench)
{
    MPI_Win_post(bench->peer, 0, bench->win);
    MPI_Win_wait(bench->win);
}

/* One epoch each way: rank 0 puts 8 B to rank 1, then rank 1 puts 8 B to rank 0. */
static void gats_first(void *context, long repetitions)
{
    for (long i = 0; i < repetitions; ++i) {
        access_peer(context);
        expose_to_peer(context);
    }
}

static void gats_second(void *context, long repetitions)
{
    for (long i = 0; i < repetitions; ++i) {
        expose_to_peer(context);
        access_peer(context);
    }
}

static const struct {
    struct Line line;
    enum Around around;
    int least_repetitions; /* a batch has a multiple of them */
} lines[] = {
    {{"put_8", put_8, NULL}, LOCK_ALL, 1},
    {{"puts_100", puts_100, NULL}, LOCK_ALL, IN_FLIGHT},
    {{"put_local_8", put_local_8, NULL}, LOCK_ALL, 1},
    {{"rput_8", rput_8, NULL}, LOCK_ALL, 1},
    {{"rrput_8", rrput_8, NULL}, LOCK_ALL, 1},
    {{"rget_8", rget_8, NULL}, LOCK_ALL, 1},
    {{"get_8", get_8, NULL}, LOCK_ALL, 1},
    {{"fetch_and_op", fetch_and_op, NULL}, LOCK_ALL, 1},
    {{"compare_and_swap", compare_and_swap, NULL}, LOCK_ALL, 1},
    {{"accumulate_8", accumulate_8, NULL}, LOCK_ALL, 1},
    {{"put_1m", put_1m, NULL}, LOCK_ALL, 1},
    {{"lock_put_unlock", lock_put_unlock, NULL}, NOTHING, 1},
    {{"lock_all_put_unlock_all", lock_all_put_unlock_all, NULL}, NOTHING, 1},
    {{"gats", gats_first, gats_second}, NOTHING, 1},
    {{"fence", fence, fence}, FENCE, 1},
};

/* --- Accumulates of many elements ------------------------------------------------------------- */

static const struct {
    const char *name;
    MPI_Op op;
} operations[] = {
    {"sum", MPI_SUM},   {"replace", MPI_REPLACE}, {"max", MPI_MAX},
    {"prod", MPI_PROD}, {"bor", MPI_BOR},
};

static const struct {
    const char *name;
    MPI_Datatype type;
} types[] = {
    {"int8", MPI_INT8_T},
    {"int16", MPI_INT16_T},
    {"int32", MPI_INT32_T},
    {"int64", MPI_INT64_T},
    {"uint8", MPI_UINT8_T},
    {"uint16", MPI_UINT16_T},
    {"uint32", MPI_UINT32_T},
    {"uint64", MPI_UINT64_T},
    {"float", MPI_FLOAT},
    {"double", MPI_DOUBLE},
    {"longdouble", MPI_LONG_DOUBLE},
    {"complexfloat", MPI_C_FLOAT_COMPLEX},
    {"complexdouble", MPI_C_DOUBLE_COMPLEX},
};

/* Those that are measured unless others are named. */
static const char *const row_lines[] = {
    "sum_int64_64",       "sum_int64_512",  "sum_int64_4096", "sum_int64_65536", "replace_int64_64",
    "replace_int64_4096", "sum_int32_4096", "sum_float_4096", "accumulate_1m",
};

static bool read_row(const char *name, struct Row *row)
{
    char op[16];
    char type[16];
    int bytes = 0;
    int end = 0;
    int size = 0;
    if (strcmp(name, "accumulate_1m") == 0) {
        return read_row("sum_double_1048576", row);
    }
    *row = (struct Row){MPI_OP_NULL, MPI_DATATYPE_NULL, 0};
    if (sscanf(name, "%15[a-z]_%15[a-z0-9]_%d%n", op, type, &bytes, &end) != 3 ||
        name[end] != '\0') {
        return false;
    }
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
        row->op = strcmp(op, operations[i].name) == 0 ? operations[i].op : row->op;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        row->type = strcmp(type, types[i].name) == 0 ? types[i].type : row->type;
    }
    if (row->op == MPI_OP_NULL || row->type == MPI_DATATYPE_NULL) {
        return false;
    }
    MPI_Type_size(row->type, &size);
    row->count = bytes / size;
    return row->count > 0 && bytes <= BLOCK_SIZE;
}

/* --- Running them ----------------------------------------------------------------------------- */

static void open_around(enum Around around, const struct Bench *bench)
{
    if (bench == NULL) {
        return;
    }
    if (around == LOCK_ALL && bench->rank == 0) {
        MPI_Win_lock_all(0, bench->win);
    } else if (around == FENCE) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, bench->win);
    }
}

static void close_around(enum Around around, const struct Bench *bench)
{
    if (bench != NULL && around == LOCK_ALL && bench->rank == 0) {
        MPI_Win_unlock_all(bench->win);
    } else if (bench != NULL && around == FENCE) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, bench->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

enum Kind { ALLOCATE, ALLOCATE_SHARED, CREATE, DYNAMIC, KINDS };

static const char *const kind_names[KINDS] = {"allocate", "allocate_shared", "create", "dynamic"};

/* Collective. Makes the window; returns this rank's memory of it, NULL if there is none. */
static char *make_window(struct Bench *bench, enum Kind kind)
{
    char *base = NULL;
    if (kind == ALLOCATE) {
        MPI_Win_allocate(WINDOW_SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &bench->win);
        return base;
    }
    if (kind == ALLOCATE_SHARED) {
        MPI_Win_allocate_shared(WINDOW_SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &bench->win);
        return base;
    }
    MPI_Alloc_mem(WINDOW_SIZE, MPI_INFO_NULL, &bench->memory);
    if (bench->memory == NULL) {
        return NULL;
    }
    if (kind == CREATE) {
        MPI_Win_create(bench->memory, WINDOW_SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bench->win);
    } else {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &bench->win);
        MPI_Win_attach(bench->win, bench->memory, WINDOW_SIZE);
    }
    return bench->memory;
}

/* Collective: learns where the peer's memory is in a dynamic window. */
static void exchange_addresses(struct Bench *bench, int ranks)
{
    const int next = (bench->rank + 1) % ranks;
    const int previous = (bench->rank + ranks - 1) % ranks;
    MPI_Aint own = 0;
    MPI_Get_address(bench->memory, &own);
    MPI_Sendrecv(&own, 1, MPI_AINT, previous, 0, &bench->remote, 1, MPI_AINT, next, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every page of the window and of the block is there before anything is measured. */
static bool prepare(struct Bench *bench, int ranks, enum Kind kind)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &bench->rank);
    char *const base = make_window(bench, kind);
    bench->block = aligned_alloc(BLOCK_DISP, BLOCK_SIZE);
    if (base == NULL || bench->block == NULL) {
        return false;
    }
    if (kind == DYNAMIC) {
        exchange_addresses(bench, ranks);
    }
    memset(base, 0, WINDOW_SIZE);
    memset(bench->block, 1, BLOCK_SIZE);
    const int peer = (bench->rank + 1) % ranks;
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &bench->peer);
    MPI_Group_free(&world);
    MPI_Barrier(MPI_COMM_WORLD);
    return true;
}

static void release(struct Bench *bench, enum Kind kind)
{
    MPI_Group_free(&bench->peer);
    if (kind == DYNAMIC) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_detach(bench->win, bench->memory);
    }
    MPI_Win_free(&bench->win);
    if (bench->memory != NULL) {
        MPI_Free_mem(bench->memory);
    }
    free(bench->block);
}

struct Options {
    const struct Plan *plan;
    enum Kind kind;
    bool beside;
};

static bool read_kind(const char *name, enum Kind *kind)
{
    for (int i = 0; i < KINDS; ++i) {
        if (strcmp(name, kind_names[i]) == 0) {
            *kind = (enum Kind)i;
            return true;
        }
    }
    return false;
}

static bool read_options(int argc, char **argv, struct Options *options)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"window", required_argument, NULL, 'w'},
                                          {"beside", no_argument, NULL, 'b'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct Options){.plan = &full_plan, .kind = ALLOCATE};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            options->plan = &quick_plan;
        } else if (found == 'b') {
            options->beside = true;
        } else if (found != 'w' || !read_kind(optarg, &options->kind)) {
            return false;
        }
    }
    return true;
}

/* What is measured, and on what. `beside` may be NULL. */
struct Run {
    struct Bench *bench;
    struct Bench *beside;
    int ranks;
    struct Plan plan;
};

static void measure_line(const struct Run *run, const struct Line *line, enum Around around,
                         int least_repetitions)
{
    const struct Team team = {.rank = run->bench->rank, .context = NULL, .agree = agree_by_mpi};
    struct Plan plan = run->plan;
    if (plan.least_repetitions < least_repetitions) {
        plan.least_repetitions = least_repetitions;
    }
    struct Bench *beside = around != FENCE ? run->beside : NULL;
    open_around(around, run->bench);
    open_around(around, beside);
    measure_beside(&team, line, run->bench, beside, &plan);
    close_around(around, beside);
    close_around(around, run->bench);
}

static void measure_row(const struct Run *run, const char *name)
{
    const struct Line line = {name, accumulate_row, NULL};
    struct Row row;
    if (run->ranks == 2 && read_row(name, &row)) {
        run->bench->row = row;
        if (run->beside != NULL) {
            run->beside->row = row;
        }
        measure_line(run, &line, LOCK_ALL, 1);
    }
}

static void measure_lines(const struct Run *run, char *const *names, int count)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
        const bool possible = run->ranks == 2 || lines[i].around == FENCE;
        if (possible && chosen(lines[i].line.name, names, count)) {
            measure_line(run, &lines[i].line, lines[i].around, lines[i].least_repetitions);
        }
    }
    for (int i = 0; i < count; ++i) {
        measure_row(run, names[i]);
    }
    for (size_t i = 0; count == 0 && i < sizeof row_lines / sizeof *row_lines; ++i) {
        measure_row(run, row_lines[i]);
    }
}

int main(int argc, char **argv)
{
    struct Options options;
    struct Bench bench = {.word = 1};
    struct Bench beside = {.word = 1};
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!read_options(argc, argv, &options) || !prepare(&bench, ranks, options.kind) ||
        (options.beside && !prepare(&beside, ranks, ALLOCATE))) {
        fprintf(stderr, "usage: latency [--quick] [--window "
                        "allocate|allocate_shared|create|dynamic] [--beside] [LINE...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (!bind_to_core(bench.rank, ranks)) {
        fprintf(stderr, "latency: rank %d is not bound to a core\n", bench.rank);
    }
    const struct Run run = {.bench = &bench,
                            .beside = options.beside ? &beside : NULL,
                            .ranks = ranks,
                            .plan = ranks > 2 ? crowded_plan : *options.plan};
    measure_lines(&run, argv + optind, argc - optind);
    release(&bench, options.kind);
    if (options.beside) {
        release(&beside, ALLOCATE);
    }
    MPI_Finalize();
    return 0;
}
