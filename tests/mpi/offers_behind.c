/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence epochs and locks of an origin that computes are performed by whoever waits behind them: not
 * timed. The origin, which has no thread, computes until one that waits has gone on, and has said
 * so. Without that it waits for ever. With SIDELIGHT_PROGRESS=calls. */
#include "kernel_copies.h"
#include "signals.h"
#include "windows.h"

#include <sidelight.h>

enum { ORIGIN, WAITER, TARGET, RANKS, ROUNDS = 40, WORDS = 1 << 15 };

struct Job {
    struct window window;
    struct signals signals; /* where the origin hears that the waiter has gone on */
    int64_t *data;
    int signal;
};

/* Twice the words, if they are combined once and in this order. */
static void write_to(const struct Job *job, int target, int words)
{
    const MPI_Win win = job->window.win;
    CHECK_OK(MPI_Put(job->data, words / 2, MPI_INT64_T, target, 0, words / 2, MPI_INT64_T, win));
    CHECK_OK(MPI_Accumulate(job->data, words / 2, MPI_INT64_T, target, words / 2, words / 2,
                            MPI_INT64_T, MPI_REPLACE, win));
    CHECK_OK(MPI_Accumulate(job->data, words / 2, MPI_INT64_T, target, words / 2, words / 2,
                            MPI_INT64_T, MPI_SUM, win));
}

static void fill(const struct Job *job, int round)
{
    for (int i = 0; i < WORDS; ++i)
        job->data[i] = round * 1000 + i;
}

static void check_memory(const int64_t *memory, int words, int round)
{
    for (int i = 0; i < words / 2; ++i) {
        CHECK_EQ(memory[i], round * 1000 + i);
        CHECK_EQ(memory[words / 2 + i], 2 * (round * 1000 + i));
    }
}

/* To all, also to itself. */
static void fence_round(struct Job *job, int words, int round)
{
    const MPI_Win win = job->window.win;
    MPI_Request requests[2];
    ++job->signal;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == ORIGIN) {
        fill(job, round);
        CHECK_OK(MPIX_Win_ifence(0, win, &requests[0]));
        for (int target = 0; target < RANKS && words != 0; ++target)
            write_to(job, target, words);
        CHECK_OK(MPIX_Win_ifence(MPI_MODE_NOSUCCEED, win, &requests[1]));
        check_tell(WAITER);
        compute_until(&job->signals, job->signal);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < WORDS; ++i)
            job->data[i] = -1; /* it is the program's again */
    } else {
        if (check_rank == WAITER)
            check_hear(ORIGIN);
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    }
    check_memory((int64_t *)job->window.base, words, round);
    if (check_rank == WAITER)
        signal_to(&job->signals, ORIGIN, job->signal);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The target computes, too. */
static void lock_round(struct Job *job, int type, int words, int round)
{
    const MPI_Win win = job->window.win;
    MPI_Request requests[2];
    ++job->signal;
    if (check_rank == WAITER) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win));
        MPI_Put(&job->data[0], 1, MPI_INT64_T, TARGET, 0, 1, MPI_INT64_T, win);
        CHECK_OK(MPI_Win_flush(TARGET, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == ORIGIN) {
        fill(job, round);
        CHECK_OK(MPIX_Win_ilock(type, TARGET, 0, win, &requests[0]));
        if (words != 0)
            write_to(job, TARGET, words);
        CHECK_OK(MPIX_Win_iunlock(TARGET, win, &requests[1]));
        check_tell(WAITER);
        compute_until(&job->signals, job->signal);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    } else if (check_rank == WAITER) {
        check_hear(ORIGIN);
        CHECK_OK(MPI_Win_unlock(TARGET, win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win));
        CHECK_OK(MPI_Get(job->data, WORDS, MPI_INT64_T, TARGET, 0, WORDS, MPI_INT64_T, win));
        CHECK_OK(MPI_Win_unlock(TARGET, win));
        check_memory(job->data, words, round);
        signal_to(&job->signals, ORIGIN, job->signal);
        signal_to(&job->signals, TARGET, job->signal);
    } else {
        compute_until(&job->signals, job->signal);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All lock one, and fence, without waiting: whoever comes first performs it. */
static void check_races(struct Job *job)
{
    enum { RACES = 1000, PENDING = 8 };
    static const int64_t one = 1;
    const MPI_Win win = job->window.win;
    MPI_Request requests[2 * PENDING];
    int64_t *const memory = (int64_t *)job->window.base;
    check_step("races");
    memory[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < RACES; ++round) {
        for (int i = 0; i < PENDING; ++i) {
            CHECK_OK(MPIX_Win_ilock(i % 3 == 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE,
                                    round % RANKS, 0, win, &requests[2 * i]));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, round % RANKS, 0, 1, MPI_INT64_T, MPI_SUM,
                                    win));
            CHECK_OK(MPIX_Win_iunlock(round % RANKS, win, &requests[2 * i + 1]));
        }
        CHECK_OK(MPI_Waitall(2 * PENDING, requests, MPI_STATUSES_IGNORE));
        CHECK_OK(MPIX_Win_ifence(0, win, &requests[0]));
        for (int target = 0; target < RANKS; ++target)
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win));
        CHECK_OK(MPIX_Win_ifence(MPI_MODE_NOSUCCEED, win, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const int locked = (RACES + RANKS - 1 - check_rank) / RANKS; /* rounds that lock this rank */
    CHECK_EQ(memory[0], RANKS * (RACES + PENDING * locked));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 2, 512, WORDS};
    check_begin(&argc, &argv);
    if (!kernel_copies())
        return check_skip("the kernel does not let processes copy here");
    struct Job job = {.signals = make_signals(), .data = calloc(WORDS, sizeof(int64_t))};
    static const enum flavor flavors[] = {FLAVOR_ALLOCATE, FLAVOR_SHARED};
    for (int flavor = 0; flavor < 2; ++flavor) {
        check_step(flavor_names[flavors[flavor]]);
        job.window =
            window_open(flavors[flavor], MPI_COMM_WORLD, WORDS * sizeof(int64_t), sizeof(int64_t));
        for (int round = 0; round < ROUNDS; ++round)
            fence_round(&job, sizes[round % 4], round);
        for (int round = 0; round < ROUNDS; ++round)
            lock_round(&job, round % 3 == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE,
                       sizes[round % 4], round);
        check_races(&job);
        window_close(&job.window);
    }
    free(job.data);
    free_signals(&job.signals);
    return check_end();
}
