/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The remote sum of absolute values of two arrays, after X. Zhao et al., "MPI-Interoperable
 * Generalized Active Messages" (2013): one array is sent, the other one lies in the target's
 * window, and what comes back is the sum of the absolute values of each two of their numbers.
 *
 *     absolute_sums [MESSAGES [SEGMENTS]]
 *
 * Each rank sends each rank so many messages of so many segments (default 20 of 100), 100 integers
 * each way in a segment, and checks the sums.
 */
#include <mpi.h>
#include <sidelight.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 100 };

/* The handler: the target's array is as long as a segment. It only reads there. */
static void add_absolute_values(void *input, int input_count, MPI_Datatype input_type, void *array,
                                int array_count, MPI_Datatype array_type, void *output,
                                int output_count, MPI_Datatype output_type, int segments,
                                int offset)
{
    (void)input_type, (void)array_type, (void)output_type, (void)offset;
    const int *const own = array;
    for (int segment = 0; segment < segments; ++segment) {
        const int *const sent = (const int *)input + (size_t)segment * (size_t)input_count;
        int *const sums = (int *)output + (size_t)segment * (size_t)output_count;
        for (int i = 0; i < array_count; ++i) {
            sums[i] = abs(sent[i]) + abs(own[i]);
        }
    }
}

/* What is in the array of a rank, and in what a rank sends: numbers of both signs. */
static int number_of(int rank, int place)
{
    return (place % 2 == 0 ? 1 : -1) * (rank * 1000 + place);
}

static int sent_by(int rank, long place) { return (int)((place * 7919 + rank) % 20011) - 10005; }

/* How many sums are wrong. */
static int count_wrong(const int *sums, const int *sent, int segments, int target)
{
    int wrong = 0;
    for (int i = 0; i < segments * NUMBERS; ++i) {
        wrong += sums[i] != abs(sent[i]) + abs(number_of(target, i % NUMBERS));
    }
    return wrong;
}

/* All messages to that rank, and what came back. Returns how many sums are wrong. */
static int ask(MPI_Win win, MPI_Op op, int target, const int *sent, int *sums, int messages,
               int segments)
{
    const size_t size = (size_t)segments * NUMBERS;
    int wrong = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, target, MPIX_MODE_CONCURRENT_AM, win);
    for (int message = 0; message < messages; ++message) {
        MPIX_Am(sent, NUMBERS, MPI_INT, sums + (size_t)message * size, NUMBERS, MPI_INT, segments,
                target, MPI_INT, 0, NUMBERS, MPI_INT, MPI_INT, op, win);
    }
    MPI_Win_unlock(target, win);
    for (int message = 0; message < messages; ++message) {
        wrong += count_wrong(sums + (size_t)message * size, sent, segments, target);
    }
    return wrong;
}

static int run(int messages, int segments, int rank, int ranks)
{
    const size_t size = (size_t)segments * NUMBERS;
    int *const sent = malloc(size * sizeof *sent);
    int *const sums = calloc((size_t)messages * size, sizeof *sums);
    int *array = NULL;
    MPI_Win win;
    MPI_Op op;
    int wrong = 0;
    MPI_Win_allocate(NUMBERS * (MPI_Aint)sizeof *array, sizeof *array, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &array, &win);
    for (int i = 0; i < NUMBERS; ++i) {
        array[i] = number_of(rank, i);
    }
    for (size_t i = 0; i < size; ++i) {
        sent[i] = sent_by(rank, (long)i);
    }
    MPIX_Am_op_create(add_absolute_values, &op);
    MPIX_Am_win_op_register(op, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int next = 0; next < ranks; ++next) {
        wrong += ask(win, op, (rank + next) % ranks, sent, sums, messages, segments);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Win_free(&win);
    free(sent);
    free(sums);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank = 0;
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int messages = argc > 1 ? atoi(argv[1]) : 20;
    const int segments = argc > 2 ? atoi(argv[2]) : 100;
    const int wrong = run(messages, segments, rank, ranks);
    if (wrong > 0) {
        fprintf(stderr, "absolute_sums: %d sums are wrong\n", wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) {
        printf("%ld sums of absolute values are right\n",
               (long)ranks * ranks * messages * segments * NUMBERS);
    }
    MPI_Finalize();
    return 0;
}
