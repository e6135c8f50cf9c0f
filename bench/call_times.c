/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the program's own calls of MPI take while a large request is under way and a thread may
 * be giving the host a turn (P4): medians and 99th percentiles, in microseconds.
 *
 *     call_times [--quick] [LINE...]
 *
 * Lines: `waiting`, a receive is under way for which nothing comes; `polling`, it is tested all the
 * time; `moving`, in each round ranks of a pair send 1 MB to each other. Between calls 50 to 200 us
 * of work are done, but none in `polling`, where a test is the mean of some in a row.
 */
#include "overlap.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, ROUNDS = 4000, QUICK_ROUNDS = 1000, MOVING_SHARE = 4 };
enum { LARGE_TAG = 1, SMALL_TAG = 2, TESTS_IN_A_ROW = 100 };
enum Call { IRECV, ISEND, TEST, CALLS };
enum { WAITING, POLLING, MOVING, LINES };

static const char *const lines[LINES] = {"waiting", "polling", "moving"};
static const char *const figures[2 * CALLS] = {"irecv_50", "irecv_99", "isend_50",
                                               "isend_99", "test_50",  "test_99"};

struct Calls {
    const struct Job *job;
    int other;
    char *out, *in, *never;
    double taken[CALLS][ROUNDS];
};

static void note(struct Calls *calls, enum Call call, int round, double start)
{
    calls->taken[call][round] = now_microseconds() - start;
}

/* Tests of `never`, a large receive. */
static double test_in_a_row(MPI_Request *never)
{
    int done = 0;
    const double start = now_microseconds();
    for (int test = 0; test < TESTS_IN_A_ROW; ++test) {
        MPI_Test(never, &done, MPI_STATUS_IGNORE);
    }
    return (now_microseconds() - start) / TESTS_IN_A_ROW;
}

static void play(struct Calls *calls, int line, MPI_Request *never, int round)
{
    const int bytes = line == MOVING ? BYTES : 8;
    const double work = line == POLLING ? 0 : 50 + round % 4 * 50;
    MPI_Request requests[2];
    int done = 0;
    double start = now_microseconds();
    MPI_Irecv(calls->in, bytes, MPI_BYTE, calls->other, SMALL_TAG, MPI_COMM_WORLD, &requests[0]);
    note(calls, IRECV, round, start);
    work_for(&calls->job->work, work);
    start = now_microseconds();
    MPI_Isend(calls->out, bytes, MPI_BYTE, calls->other, SMALL_TAG, MPI_COMM_WORLD, &requests[1]);
    note(calls, ISEND, round, start);
    work_for(&calls->job->work, work);
    if (line == POLLING) {
        calls->taken[TEST][round] = test_in_a_row(never);
    } else {
        start = now_microseconds();
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
        note(calls, TEST, round, start);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void run_line(struct Calls *calls, int line)
{
    const bool moving = line == MOVING;
    MPI_Request never = MPI_REQUEST_NULL;
    double values[2 * CALLS];
    const int all = calls->job->quick ? QUICK_ROUNDS : ROUNDS;
    const int rounds = moving ? all / MOVING_SHARE : all;
    if (!moving) {
        MPI_Irecv(calls->never, BYTES, MPI_BYTE, calls->other, LARGE_TAG, MPI_COMM_WORLD, &never);
    }
    for (int round = 0; round < rounds; ++round) {
        play(calls, line, &never, round);
    }
    if (!moving) {
        MPI_Send(calls->out, 8, MPI_BYTE, calls->other, LARGE_TAG, MPI_COMM_WORLD);
        MPI_Wait(&never, MPI_STATUS_IGNORE);
    }
    for (int call = 0; call < CALLS; ++call) {
        double *const taken = calls->taken[call];
        values[(size_t)2 * (size_t)call] = median(taken, rounds); /* which sorts them */
        values[(size_t)2 * (size_t)call + 1] = taken[rounds * 99 / 100];
    }
    print_job_line(calls->job, lines[line], figures, values, 2 * CALLS);
}

int main(int argc, char **argv)
{
    static struct Calls calls;
    const struct Job job = begin_job(&argc, &argv);
    calls.job = &job;
    calls.other = (job.rank + job.ranks / 2) % job.ranks;
    calls.out = make_data(BYTES);
    calls.in = calloc(1, BYTES);
    calls.never = calloc(1, BYTES);
    for (int line = 0; line < LINES; ++line) {
        if (begin_job_line(&job, lines[line])) {
            MPI_Barrier(MPI_COMM_WORLD);
            run_line(&calls, line);
        }
    }
    free(calls.out);
    free(calls.in);
    free(calls.never);
    end_job();
    return 0;
}
