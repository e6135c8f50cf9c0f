/* SPDX-License-Identifier: BSD-3-Clause */
/* A target that waits performs what its origin has recorded for it: not timed. The origin, which
 * has no thread, computes until the target has written into its memory, and that does so only after
 * its own wait. Without that the target waits for ever. With SIDELIGHT_PROGRESS=calls. */
#include "signals.h"
#include "windows.h"
#include <sys/uio.h>

#include <sidelight.h>

enum { ORIGIN, TARGET, ROUNDS = 20, BYTES = 1 << 20, BLOCKS = 8 };

struct Job {
    struct window window;
    struct signals signals; /* where the target says that it has gone on */
    MPI_Group other;
    unsigned char *data;
};

/* Answers how many bytes. */
static int put(const struct Job *job, int bytes)
{
    const struct window *w = &job->window;
    CHECK_OK(MPI_Put(job->data, bytes, MPI_BYTE, TARGET, 0, bytes, MPI_BYTE, w->win));
    return bytes;
}

/* Every other byte of some, in blocks, in place of one. */
static int put_blocks(const struct Job *job, int bytes)
{
    MPI_Datatype blocks;
    CHECK_OK(MPI_Type_vector(BLOCKS, bytes / BLOCKS / 2, bytes / BLOCKS, MPI_BYTE, &blocks));
    CHECK_OK(MPI_Type_commit(&blocks));
    CHECK_OK(MPI_Put(job->data, 1, blocks, TARGET, 0, 1, blocks, job->window.win));
    CHECK_OK(MPI_Type_free(&blocks));
    return bytes;
}

static void check_data(const struct Job *job, int bytes, int block, int round)
{
    for (int i = 0; i < bytes; ++i)
        if (block == 0 || i % block < block / 2)
            CHECK_EQ(job->window.base[i], (unsigned char)(round + i % 251));
}

static void origin_round(const struct Job *job, int bytes, bool in_blocks, int round, int signal)
{
    MPI_Request requests[2];
    for (int i = 0; i < bytes; ++i)
        job->data[i] = (unsigned char)(round + i % 251);
    CHECK_OK(MPIX_Win_istart(job->other, 0, job->window.win, &requests[0]));
    in_blocks ? put_blocks(job, bytes) : put(job, bytes);
    CHECK_OK(MPIX_Win_icomplete(job->window.win, &requests[1]));
    check_tell(TARGET);
    compute_until(&job->signals, signal);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void target_round(const struct Job *job, int bytes, bool in_blocks, int round, int signal)
{
    check_hear(ORIGIN);
    if (round % 2 == 0)
        usleep(500);
    CHECK_OK(MPI_Win_post(job->other, 0, job->window.win));
    int over = round % 3 != 0;
    if (over)
        CHECK_OK(MPI_Win_wait(job->window.win));
    while (!over)
        CHECK_OK(MPI_Win_test(job->window.win, &over));
    check_data(job, bytes, in_blocks ? bytes / BLOCKS : 0, round);
    signal_to(&job->signals, ORIGIN, signal);
}

static void check_flavor(struct Job *job, enum flavor flavor)
{
    static const int sizes[] = {8, 4096, BYTES};
    static int signal = 0;
    check_step(flavor_names[flavor]);
    job->window = window_open(flavor, MPI_COMM_WORLD, BYTES, 1);
    for (int size = 0; size < 3; ++size)
        for (int round = 0; round < ROUNDS; ++round) {
            const bool in_blocks = round % 4 == 3 && sizes[size] > 8;
            ++signal;
            MPI_Barrier(MPI_COMM_WORLD);
            if (check_rank == ORIGIN)
                origin_round(job, sizes[size], in_blocks, round, signal);
            else
                target_round(job, sizes[size], in_blocks, round, signal);
        }
    window_close(&job->window);
}

/* Both wait: whoever comes first performs it. */
static void check_race(struct Job *job)
{
    enum { RACES = 2000 };
    check_step("race");
    job->window = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, BYTES, 1);
    for (int round = 0; round < RACES; ++round) {
        const int bytes = 8 << round % 12;
        MPI_Request request;
        if (check_rank == TARGET) {
            CHECK_OK(MPI_Win_post(job->other, 0, job->window.win));
            CHECK_OK(MPI_Win_wait(job->window.win));
            check_data(job, bytes, 0, round);
            continue;
        }
        for (int i = 0; i < bytes; ++i)
            job->data[i] = (unsigned char)(round + i % 251);
        CHECK_OK(MPI_Win_start(job->other, 0, job->window.win));
        put(job, bytes);
        CHECK_OK(MPIX_Win_icomplete(job->window.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        memset(job->data, 0xee, (size_t)bytes); /* it is the program's again */
    }
    window_close(&job->window);
}

/* Each tells where a word of its own is; whether the other may read it. */
static bool kernel_copies(void)
{
    static int64_t word = 4711;
    const int64_t mine[2] = {getpid(), (int64_t)(intptr_t)&word};
    int64_t others[2], read_word = 0;
    MPI_Sendrecv(mine, 2, MPI_INT64_T, 1 - check_rank, 0, others, 2, MPI_INT64_T, 1 - check_rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct iovec here = {&read_word, sizeof read_word};
    struct iovec there = {(void *)(intptr_t)others[1], sizeof read_word};
    int may = process_vm_readv((pid_t)others[0], &here, 1, &there, 1, 0) == sizeof read_word;
    MPI_Allreduce(MPI_IN_PLACE, &may, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return may;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (!kernel_copies())
        return check_skip("the kernel does not let processes copy here");
    struct Job job = {.signals = make_signals(), .data = malloc(BYTES)};
    MPI_Group all;
    const int other = 1 - check_rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &job.other);
    MPI_Group_free(&all);
    check_flavor(&job, FLAVOR_ALLOCATE);
    check_flavor(&job, FLAVOR_SHARED);
    check_flavor(&job, FLAVOR_CREATE);
    check_race(&job);
    MPI_Group_free(&job.other);
    free(job.data);
    free_signals(&job.signals);
    return check_end();
}
