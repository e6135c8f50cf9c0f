/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's own messages while one side computes (P4, figures 4.7 to 4.12). A rank does a fixed
 * amount of work that takes some milliseconds, the other one waits in MPI.
 *
 *     messages [--quick] [WORK=MILLISECONDS] [BYTES...]
 *
 * A line is a size; `issend` is one of 8 bytes. Figures are microseconds from a barrier until both
 * ranks have done: `at_once`, nobody computes; `receiver`, the receiver does, the sender is in
 * MPI_Send; `sender`, the sender does, the receiver is in MPI_Recv; `alltoall`, both do beside
 * MPI_Ialltoall; `work`, the work alone; and `waits`, what the sender of `receiver` waits.
 */
#define _GNU_SOURCE
#include "pair.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 21, QUICK_ROUNDS = 5, SYNCHRONOUS_BYTES = 8, TAG = 1 };

enum Kind { WORK, AT_ONCE, RECEIVER, SENDER, ALLTOALL, WAITS, KINDS };

static const char *const figures[KINDS] = {"work",   "at_once",  "receiver",
                                           "sender", "alltoall", "waits"};
static const char *const lines[] = {"issend", "65536", "262144", "1048576", "4194304"};

struct Bench {
    const struct Pair *pair;
    char *out, *in;
    struct Work work;
    double working; /* microseconds */
    int bytes;
    bool synchronous;
    double waited; /* by the sender, in the last round */
};

static void send(struct Bench *bench, bool computes)
{
    if (!computes && !bench->synchronous) {
        MPI_Send(bench->out, bench->bytes, MPI_BYTE, TARGET, TAG, MPI_COMM_WORLD);
        return;
    }
    MPI_Request request;
    if (bench->synchronous) {
        MPI_Issend(bench->out, bench->bytes, MPI_BYTE, TARGET, TAG, MPI_COMM_WORLD, &request);
    } else {
        MPI_Isend(bench->out, bench->bytes, MPI_BYTE, TARGET, TAG, MPI_COMM_WORLD, &request);
    }
    if (computes) {
        work_for(&bench->work, bench->working);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive(const struct Bench *bench, bool computes)
{
    MPI_Request request;
    if (!computes) {
        MPI_Recv(bench->in, bench->bytes, MPI_BYTE, ORIGIN, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(bench->in, bench->bytes, MPI_BYTE, ORIGIN, TAG, MPI_COMM_WORLD, &request);
    work_for(&bench->work, bench->working);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void alltoall(const struct Bench *bench)
{
    MPI_Request request;
    MPI_Ialltoall(bench->out, bench->bytes / 2, MPI_BYTE, bench->in, bench->bytes / 2, MPI_BYTE,
                  MPI_COMM_WORLD, &request);
    work_for(&bench->work, bench->working);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run(struct Bench *bench, enum Kind kind)
{
    const double start = now_microseconds();
    if (kind == WORK) {
        work_for(&bench->work, bench->working);
    } else if (kind == ALLTOALL) {
        alltoall(bench);
    } else if (bench->pair->rank == ORIGIN) {
        send(bench, kind == SENDER);
    } else {
        receive(bench, kind == RECEIVER || kind == WAITS);
    }
    bench->waited = now_microseconds() - start;
}

/* Collective. The median until the later one has done. */
static double median_time(struct Bench *bench, enum Kind kind)
{
    double taken[ROUNDS];
    const int rounds = bench->pair->quick ? QUICK_ROUNDS : ROUNDS;
    for (int round = 0; round < rounds; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        run(bench, kind);
        double mine = kind == WAITS && bench->pair->rank == TARGET ? 0 : bench->waited;
        MPI_Allreduce(&mine, &taken[round], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    return median(taken, rounds);
}

int main(int argc, char **argv)
{
    const char *work = take_option(&argc, argv, "WORK=");
    const double microseconds = 1000 * (work != NULL ? atof(work) : 10);
    const struct Pair pair = begin_pair(&argc, &argv);
    struct Bench bench = {.pair = &pair, .working = microseconds};
    const size_t most = (size_t)atol(lines[sizeof lines / sizeof lines[0] - 1]);
    bench.out = make_data(most);
    bench.in = calloc(1, most);
    bench.work = work_begin(false);
    MPI_Bcast(&bench.work.turns, 1, MPI_DOUBLE, ORIGIN, MPI_COMM_WORLD);
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; ++line) {
        double values[KINDS];
        if (!begin_line(&pair, lines[line])) {
            continue;
        }
        bench.synchronous = line == 0;
        bench.bytes = bench.synchronous ? SYNCHRONOUS_BYTES : atoi(lines[line]);
        for (enum Kind kind = WORK; kind < KINDS; ++kind) {
            values[kind] = median_time(&bench, kind);
        }
        print_line(&pair, lines[line], figures, values, KINDS);
    }
    free(bench.out);
    free(bench.in);
    end_pair();
    return 0;
}
