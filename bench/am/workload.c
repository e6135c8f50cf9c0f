/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "workload.h"

#include "../measure.h"

#include <sidelight.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64, /* of the cache: what comes back begins with one */
    LENGTH = 20,
    SEQUENCES = 1000, /* in the target's window, sorted */
    WINDOW = LENGTH * SEQUENCES,
    NUMBERS = 100,
    LARGE_NUMBERS = 1200
};

static const long output_room = 32L << 20;

/* What a message of that kind has: segments of so many elements each way, about so much memory. */
struct Shape {
    int segments;
    int elements;
    MPI_Datatype type;
    int persistent;
    MPI_Datatype persistent_type;
};

static struct Shape shape_of(enum Work work)
{
    switch (work) {
    case SEARCH:
        return (struct Shape){100, LENGTH, MPI_CHAR, WINDOW, MPI_CHAR};
    case ABSOLUTE:
        return (struct Shape){100, NUMBERS, MPI_INT, NUMBERS, MPI_INT};
    case LARGE:
        return (struct Shape){10, LARGE_NUMBERS, MPI_INT, LARGE_NUMBERS, MPI_INT};
    default:
        return (struct Shape){1, 1, MPI_INT64_T, 1, MPI_INT64_T};
    }
}

enum { TIMES = 1 << 12 };

/* Atomics, as several handlers may run at once. The buffer is set before any runs. */
static _Atomic long calls;
static _Atomic long segments_seen;
static _Atomic long segments_in_buffer;
static long segments_sent; /* by this process */
static bool empty_counted;
static double times[TIMES]; /* of the last calls, in microseconds: a slot for each */
static const char *attached;
static long attached_bytes;

static void count_call(double start, const void *input, int segments)
{
    const long place = (const char *)input - attached;
    const long call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    times[call % TIMES] = now_microseconds() - start;
    atomic_fetch_add_explicit(&segments_seen, segments, memory_order_relaxed);
    if (attached != NULL && place >= 0 && place < attached_bytes) {
        atomic_fetch_add_explicit(&segments_in_buffer, segments, memory_order_relaxed);
    }
}

static int compare_sequences(const void *one, const void *other)
{
    return memcmp(one, other, LENGTH);
}

static void search_sequences(void *input, int input_count, MPI_Datatype input_type, void *sequences,
                             int persistent_count, MPI_Datatype persistent_type, void *output,
                             int output_count, MPI_Datatype output_type, int segments, int offset)
{
    (void)input_type, (void)persistent_type, (void)output_type, (void)offset;
    const double start = now_microseconds();
    for (int i = 0; i < segments; ++i) {
        const char *const wanted = (const char *)input + (size_t)i * (size_t)input_count;
        const void *const found = bsearch(wanted, sequences, (size_t)persistent_count / LENGTH,
                                          LENGTH, compare_sequences);
        if (found != NULL) {
            memcpy((char *)output + (size_t)i * (size_t)output_count, found, LENGTH);
        }
    }
    count_call(start, input, segments);
}

/* It may be more than an int holds. */
static int sum_of_absolute_values(int one, int other)
{
    return (int)((unsigned)abs(one) + (unsigned)abs(other));
}

static void add_absolute_values(void *input, int input_count, MPI_Datatype input_type, void *array,
                                int persistent_count, MPI_Datatype persistent_type, void *output,
                                int output_count, MPI_Datatype output_type, int segments,
                                int offset)
{
    (void)input_type, (void)persistent_type, (void)output_type, (void)offset;
    const double start = now_microseconds();
    for (int i = 0; i < segments; ++i) {
        const int *const sent = (const int *)input + (size_t)i * (size_t)input_count;
        int *const sums = (int *)output + (size_t)i * (size_t)output_count;
        for (int k = 0; k < persistent_count; ++k) {
            sums[k] = sum_of_absolute_values(sent[k], ((const int *)array)[k]);
        }
    }
    count_call(start, input, segments);
}

static void do_nothing(void *input, int input_count, MPI_Datatype input_type, void *persistent,
                       int persistent_count, MPI_Datatype persistent_type, void *output,
                       int output_count, MPI_Datatype output_type, int segments, int offset)
{
    (void)input_count, (void)input_type, (void)persistent, (void)persistent_count;
    (void)persistent_type, (void)output, (void)output_count, (void)output_type, (void)offset;
    if (empty_counted) {
        count_call(0, input, segments);
    }
}

void count_empty(bool counted) { empty_counted = counted; }

/* Sequences that are in order, and the numbers of small absolute values that their bytes make. */
static void fill_window(char *memory)
{
    for (int i = 0; i < SEQUENCES; ++i) {
        char *const sequence = memory + (size_t)i * LENGTH;
        memset(sequence, 'A', LENGTH);
        for (int digit = 0, rest = i; digit < 10; ++digit, rest /= 4) {
            sequence[LENGTH - 1 - digit] = "ACGT"[rest % 4];
        }
    }
}

static void fill_input(struct Workload *workload, const char *memory)
{
    workload->input = malloc(1 << 18);
    memset(workload->input, 0, 1 << 18);
    for (int i = 0; i < 100; ++i) { /* each second one is there */
        char *const wanted = workload->input + (size_t)i * LENGTH;
        memcpy(wanted, memory + (size_t)(i * 7 % SEQUENCES) * LENGTH, LENGTH);
        if (i % 2 != 0) {
            wanted[0] = 'T';
        }
    }
}

static long bytes_of(const struct Shape *shape)
{
    const int unit = shape->type == MPI_CHAR ? 1 : shape->type == MPI_INT ? 4 : 8;
    return (long)shape->segments * shape->elements * unit;
}

/* In the output. */
static long room_of(const struct Shape *shape)
{
    return (bytes_of(shape) + LINE - 1) / LINE * LINE;
}

/* Each second sequence is there. */
static void answer_search(char *answer, const char *wanted)
{
    for (int i = 0; i < 100; i += 2) {
        memcpy(answer + (size_t)i * LENGTH, wanted + (size_t)i * LENGTH, LENGTH);
    }
}

static void answer_sums(int *answer, const struct Shape *shape, const int *sent, const int *array)
{
    for (int i = 0; i < shape->segments * shape->elements; ++i) {
        answer[i] = sum_of_absolute_values(sent[i], array[i % shape->elements]);
    }
}

/* Without the handlers; of EMPTY nothing comes back. */
static void fill_answers(struct Workload *workload)
{
    for (int work = 0; work < WORKS; ++work) {
        const struct Shape shape = shape_of((enum Work)work);
        char *const answer = calloc(1, (size_t)bytes_of(&shape));
        if (work == SEARCH) {
            answer_search(answer, workload->input);
        } else if (work != EMPTY) {
            answer_sums((int *)answer, &shape, (const int *)workload->input,
                        (const int *)workload->memory);
        }
        workload->answers[work] = answer;
    }
}

static MPI_Win make_window(const char *ordering, char **memory)
{
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    if (ordering != NULL) {
        MPI_Info_set(info, "am_ordering", ordering);
    }
    MPI_Win_allocate(WINDOW, 1, info, MPI_COMM_WORLD, memory, &win);
    MPI_Info_free(&info);
    return win;
}

struct Workload workload_create(const struct Wishes *wishes)
{
    MPIX_Am_user_function *const handlers[WORKS] = {search_sequences, add_absolute_values,
                                                    add_absolute_values, do_nothing};
    struct Workload workload = {.right = true};
    char *memory = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &workload.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &workload.ranks);
    workload.target = workload.ranks - 1;
    workload.win = make_window(wishes->ordering, &memory);
    fill_window(memory);
    workload.memory = memory;
    fill_input(&workload, memory);
    fill_answers(&workload);
    workload.output = malloc((size_t)output_room);
    memset(workload.output, 0, (size_t)output_room);
    workload.works = malloc((size_t)(output_room / LINE));
    for (int work = 0; work < WORKS; ++work) {
        MPIX_Am_op_create(handlers[work], &workload.ops[work]);
        MPIX_Am_win_op_register(workload.ops[work], workload.win);
    }
    if (workload.rank == workload.target && wishes->buffer > 0) {
        workload.buffer = malloc((size_t)wishes->buffer);
        memset(workload.buffer, 0, (size_t)wishes->buffer);
        attached = workload.buffer;
        attached_bytes = wishes->buffer;
        MPIX_Am_win_buffer_attach(workload.buffer, wishes->buffer, workload.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return workload;
}

void workload_free(struct Workload *workload)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (workload->buffer != NULL) {
        MPIX_Am_win_buffer_detach(workload->win);
        attached = NULL;
        free(workload->buffer);
    }
    for (int work = 0; work < WORKS; ++work) {
        MPI_Op_free(&workload->ops[work]);
        free(workload->answers[work]);
    }
    MPI_Win_free(&workload->win);
    free(workload->input);
    free(workload->output);
    free(workload->works);
}

void workload_send(struct Workload *workload, enum Work work)
{
    const struct Shape shape = shape_of(work);
    const long bytes = room_of(&shape);
    if (workload->used + bytes > output_room) {
        MPI_Win_flush(workload->target, workload->win);
        workload_look(workload);
    }
    char *const output = workload->output + workload->used;
    workload->used += bytes;
    workload->works[workload->count++] = (unsigned char)work;
    segments_sent += shape.segments;
    MPIX_Am(workload->input, shape.elements, shape.type, output, shape.elements, shape.type,
            shape.segments, workload->target, shape.type, 0, shape.persistent,
            shape.persistent_type, shape.type, workload->ops[work], workload->win);
}

void workload_send_empty(struct Workload *workload)
{
    MPIX_Am(workload->input, 1, MPI_INT64_T, workload->output, 1, MPI_INT64_T, 1, workload->target,
            MPI_INT64_T, 0, 1, MPI_INT64_T, MPI_INT64_T, workload->ops[EMPTY], workload->win);
}

void workload_look(struct Workload *workload)
{
    const double start = now_microseconds();
    const char *output = workload->output;
    for (int i = 0; i < workload->count; ++i) {
        const struct Shape shape = shape_of((enum Work)workload->works[i]);
        const char *const answer = workload->answers[workload->works[i]];
        workload->right &= memcmp(output, answer, (size_t)bytes_of(&shape)) == 0;
        output += room_of(&shape);
    }
    memset(workload->output, 0, (size_t)workload->used);
    workload->used = 0;
    workload->count = 0;
    workload->looking += now_microseconds() - start;
}

void counts_reset(void)
{
    calls = 0;
    segments_seen = 0;
    segments_in_buffer = 0;
    segments_sent = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

struct Counts counts_sum(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const long seen = calls;
    const int kept = seen < TIMES ? (int)seen : TIMES;
    /* The median: a call that lost its core for a while is not longer for that. */
    const double typical = kept > 0 ? median(times, kept) : 0;
    double sums[5] = {typical * (double)seen, (double)seen, (double)segments_seen,
                      (double)segments_in_buffer, (double)segments_sent};
    MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (struct Counts){sums[0], sums[1], sums[2], sums[3], sums[4]};
}
