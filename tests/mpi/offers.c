/* SPDX-License-Identifier: BSD-3-Clause */
/* A target that waits performs what its origin has recorded for it: not timed. The origin, which
 * has no thread, computes until the target has written into its memory, and that does so only after
 * its own wait. Without that the target waits for ever. With SIDELIGHT_PROGRESS=calls. */
#include "kernel_copies.h"
#include "signals.h"
#include "windows.h"

#include <sidelight.h>

enum { ORIGIN, TARGET, ROUNDS = 20, BYTES = 1 << 20, BLOCKS = 8 };

enum kind { PUT, GET, ACCUMULATE, PUT_BLOCKS, KINDS };

/* What an access does. */
struct work {
    enum kind kind;
    int bytes;
    int round;
};

struct Job {
    struct window window;
    struct signals signals; /* where the target says that it has gone on */
    MPI_Group other;
    unsigned char *data;
};

static void put(const struct Job *job, int bytes)
{
    CHECK_OK(MPI_Put(job->data, bytes, MPI_BYTE, TARGET, 0, bytes, MPI_BYTE, job->window.win));
}

static void get(const struct Job *job, int bytes)
{
    CHECK_OK(MPI_Get(job->data, bytes, MPI_BYTE, TARGET, 0, bytes, MPI_BYTE, job->window.win));
}

/* Twice the words, if they are combined once and in this order. */
static void accumulate(const struct Job *job, int bytes)
{
    const int words = bytes / (int)sizeof(int64_t);
    CHECK_OK(MPI_Accumulate(job->data, words, MPI_INT64_T, TARGET, 0, words, MPI_INT64_T,
                            MPI_REPLACE, job->window.win));
    CHECK_OK(MPI_Accumulate(job->data, words, MPI_INT64_T, TARGET, 0, words, MPI_INT64_T, MPI_SUM,
                            job->window.win));
}

/* Every other byte of some, in blocks, in place of one. */
static void put_blocks(const struct Job *job, int bytes)
{
    MPI_Datatype blocks;
    CHECK_OK(MPI_Type_vector(BLOCKS, bytes / BLOCKS / 2, bytes / BLOCKS, MPI_BYTE, &blocks));
    CHECK_OK(MPI_Type_commit(&blocks));
    CHECK_OK(MPI_Put(job->data, 1, blocks, TARGET, 0, 1, blocks, job->window.win));
    CHECK_OK(MPI_Type_free(&blocks));
}

static void (*const operations[KINDS])(const struct Job *, int bytes) = {
    [PUT] = put,
    [GET] = get,
    [ACCUMULATE] = accumulate,
    [PUT_BLOCKS] = put_blocks,
};

static void fill(unsigned char *memory, const struct work *work)
{
    for (int i = 0; i < work->bytes; ++i)
        memory[i] = (unsigned char)(work->round + i % 251);
}

static void check_bytes(const unsigned char *memory, const struct work *work)
{
    const int block = work->kind == PUT_BLOCKS ? work->bytes / BLOCKS : 0;
    for (int i = 0; i < work->bytes; ++i)
        if (block == 0 || i % block < block / 2)
            CHECK_EQ(memory[i], (unsigned char)(work->round + i % 251));
}

/* At the target, which makes for itself what the origin has sent. */
static void check_twice(const struct Job *job, const struct work *work)
{
    fill(job->data, work);
    for (int i = 0; i < work->bytes; i += (int)sizeof(int64_t)) {
        int64_t expected, found;
        memcpy(&expected, job->data + i, sizeof expected);
        memcpy(&found, job->window.base + i, sizeof found);
        CHECK_EQ(found, (int64_t)(2 * (uint64_t)expected));
    }
}

static void check_at_target(const struct Job *job, const struct work *work)
{
    work->kind == ACCUMULATE ? check_twice(job, work) : check_bytes(job->window.base, work);
}

static void origin_round(const struct Job *job, const struct work *work, int signal)
{
    MPI_Request requests[2];
    if (work->kind != GET)
        fill(job->data, work);
    CHECK_OK(MPIX_Win_istart(job->other, 0, job->window.win, &requests[0]));
    operations[work->kind](job, work->bytes);
    CHECK_OK(MPIX_Win_icomplete(job->window.win, &requests[1]));
    check_tell(TARGET);
    compute_until(&job->signals, signal);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    if (work->kind == GET)
        check_bytes(job->data, work);
}

static void target_round(const struct Job *job, const struct work *work, int signal)
{
    check_hear(ORIGIN);
    if (work->round % 2 == 0)
        usleep(500);
    if (work->kind == GET)
        fill(job->window.base, work);
    CHECK_OK(MPI_Win_post(job->other, 0, job->window.win));
    int over = work->round % 3 != 0;
    if (over)
        CHECK_OK(MPI_Win_wait(job->window.win));
    while (!over)
        CHECK_OK(MPI_Win_test(job->window.win, &over));
    check_at_target(job, work);
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
            const enum kind kind = (enum kind)(round % KINDS);
            const struct work work = {
                .kind = kind == PUT_BLOCKS && sizes[size] == 8 ? PUT : kind,
                .bytes = sizes[size],
                .round = round,
            };
            ++signal;
            MPI_Barrier(MPI_COMM_WORLD);
            if (check_rank == ORIGIN)
                origin_round(job, &work, signal);
            else
                target_round(job, &work, signal);
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
        const struct work work = {
            .kind = round % 2 == 0 ? PUT : ACCUMULATE,
            .bytes = 8 << round % 12,
            .round = round,
        };
        MPI_Request request;
        if (check_rank == TARGET) {
            CHECK_OK(MPI_Win_post(job->other, 0, job->window.win));
            CHECK_OK(MPI_Win_wait(job->window.win));
            check_at_target(job, &work);
            continue;
        }
        fill(job->data, &work);
        CHECK_OK(MPI_Win_start(job->other, 0, job->window.win));
        operations[work.kind](job, work.bytes);
        CHECK_OK(MPIX_Win_icomplete(job->window.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        memset(job->data, 0xee, (size_t)work.bytes); /* it is the program's again */
    }
    window_close(&job->window);
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
