/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of epochs with work (P4, figures 5.6 to 5.13): an origin issues an operation that its
 * target is not ready for, works, and closes its epoch.
 *
 *     overlap_epochs [--quick] [--sleep] [LINE...]
 *
 * A line is SCHEME_EPOCH_OPERATION_BYTES. Schemes: `pairs`, each rank of the first half is the
 * origin of one target in the second; `many`, of all of them, on a window of its own; `held`, for
 * locks: ranks 0 and 1 are the origins of the first rank of the second half, and rank 0 has the
 * lock first. Figures are microseconds: `latency`, without work or delays; `epoch`, with both; and
 * `work`, which is the latency of the largest size. Epochs are those of targets, or of rank 1.
 */
#define _GNU_SOURCE
#include "overlap.h"

#include "epochs.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, LATE_MICROSECONDS = 30, MOST_ORIGINS = 32, HOLDER = 0, ORIGIN = 1 };

enum Epoch { FENCE, GATS, EXCLUSIVE, SHARED, EPOCHS };

static const char *const epochs[EPOCHS] = {"fence", "gats", "exclusive", "shared"};
static const char *const operations[] = {"put", "get"};
static const int sizes[] = {16 << 10, 64 << 10, 256 << 10, 512 << 10, MOST_BYTES};

enum { SIZES = sizeof sizes / sizeof sizes[0] };
enum { LATENCY, EPOCH, WORK, FIGURES };

static const char *const figures[FIGURES] = {"latency", "epoch", "work"};

/* Where they are there, an origin opens its epoch without waiting. */
static int (*begin_fence)(int assertion, MPI_Win win, MPI_Request *request);
static int (*begin_lock)(int type, int rank, int assertion, MPI_Win win, MPI_Request *request);

/* A window of one origin, its first rank, and its targets. */
struct OriginWindow {
    MPI_Win win;
    MPI_Comm comm;
    MPI_Group origin, targets;
    int count; /* of targets */
};

struct Epochal {
    const struct Job *job;
    enum Epoch epoch;
    bool gets;
    bool delayed; /* somebody is late */
    int bytes;
    char *buffer;
    struct OriginWindow windows[MOST_ORIGINS]; /* an origin has one */
    int count;
    MPI_Win everybody; /* for locks */
    int target;        /* of them */
    MPI_Comm watched;  /* of the target and rank 1, null elsewhere */
};

static bool is_origin(const struct Epochal *all) { return all->job->rank < all->job->ranks / 2; }

static bool locks(const struct Epochal *all)
{
    return all->epoch == EXCLUSIVE || all->epoch == SHARED;
}

static void issue(const struct Epochal *all, int target, MPI_Win win)
{
    if (all->gets) {
        MPI_Get(all->buffer, all->bytes, MPI_BYTE, target, 0, all->bytes, MPI_BYTE, win);
    } else {
        MPI_Put(all->buffer, all->bytes, MPI_BYTE, target, 0, all->bytes, MPI_BYTE, win);
    }
}

static void run_origin(const struct Epochal *all, double microseconds)
{
    const struct OriginWindow *own = &all->windows[0];
    MPI_Request opening = MPI_REQUEST_NULL;
    if (all->epoch == GATS) {
        MPI_Win_start(own->targets, 0, own->win);
    } else if (begin_fence != NULL) {
        begin_fence(MPI_MODE_NOPRECEDE, own->win, &opening);
    } else {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, own->win);
    }
    for (int target = 1; target <= own->count; ++target) {
        issue(all, target, own->win);
    }
    work_for(&all->job->work, microseconds);
    if (all->epoch == GATS) {
        MPI_Win_complete(own->win);
    } else {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, own->win);
    }
    MPI_Wait(&opening, MPI_STATUS_IGNORE);
}

static void run_target(const struct Epochal *all)
{
    for (int i = 0; i < all->count; ++i) {
        if (all->epoch == GATS) {
            MPI_Win_post(all->windows[i].origin, 0, all->windows[i].win);
        } else {
            MPI_Win_fence(MPI_MODE_NOPRECEDE, all->windows[i].win);
        }
    }
    for (int i = 0; i < all->count; ++i) {
        if (all->epoch == GATS) {
            MPI_Win_wait(all->windows[i].win);
        } else {
            MPI_Win_fence(MPI_MODE_NOSUCCEED, all->windows[i].win);
        }
    }
}

/* Rank 0 has the lock when rank 1 comes, and gives it back while that one works. */
static void hold(const struct Epochal *all)
{
    if (all->delayed) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, all->target, 0, all->everybody);
        MPI_Win_flush(all->target, all->everybody);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (all->delayed) {
        compute(LATE_MICROSECONDS);
        MPI_Win_unlock(all->target, all->everybody);
    }
}

static void lock(const struct Epochal *all, double microseconds)
{
    const int type = all->epoch == SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    MPI_Request opening = MPI_REQUEST_NULL;
    if (begin_lock != NULL) {
        begin_lock(type, all->target, 0, all->everybody, &opening);
    } else {
        MPI_Win_lock(type, all->target, 0, all->everybody);
    }
    issue(all, all->target, all->everybody);
    work_for(&all->job->work, microseconds);
    MPI_Win_unlock(all->target, all->everybody);
    MPI_Wait(&opening, MPI_STATUS_IGNORE);
}

/* Waits without keeping a core, for who has no part in what is measured, or none any more. */
static void wait_for_all(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (done == 0) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        usleep(20);
    }
}

static double run_locks(const struct Epochal *all, double microseconds)
{
    double taken = -1;
    if (all->job->rank == HOLDER) {
        hold(all);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (all->job->rank == ORIGIN) {
        const double start = now_microseconds();
        lock(all, microseconds);
        taken = now_microseconds() - start;
    }
    if (all->watched != MPI_COMM_NULL) {
        MPI_Barrier(all->watched); /* where the target is all the time */
    }
    wait_for_all();
    return taken;
}

static double run(void *context, double microseconds)
{
    const struct Epochal *all = context;
    if (locks(all)) {
        return run_locks(all, microseconds);
    }
    if (is_origin(all)) {
        run_origin(all, microseconds);
        return -1;
    }
    if (all->delayed) {
        compute(LATE_MICROSECONDS);
    }
    const double start = now_microseconds();
    run_target(all);
    return now_microseconds() - start;
}

static void run_line(struct Epochal *all, const char *name)
{
    double values[FIGURES];
    const int bytes = all->bytes;
    all->delayed = false;
    all->bytes = MOST_BYTES;
    values[WORK] = time_action(all->job, run, all, 0).mean;
    all->bytes = bytes;
    values[LATENCY] = time_action(all->job, run, all, 0).mean;
    all->delayed = true;
    values[EPOCH] = time_action(all->job, run, all, values[WORK]).mean;
    print_job_line(all->job, name, figures, values, FIGURES);
}

/* Collective: the window of that origin, if this rank belongs to it. */
static void make_window_of(struct Epochal *all, int origin, bool many)
{
    const int half = all->job->ranks / 2;
    const int rank = all->job->rank;
    const bool is_target = many ? rank >= half : rank == origin + half;
    const bool member = rank == origin || is_target;
    struct OriginWindow *made = &all->windows[all->count];
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, rank, &comm);
    if (!member) {
        return;
    }
    void *memory;
    MPI_Group group;
    const int first = 0;
    made->comm = comm;
    MPI_Win_allocate(MOST_BYTES, 1, MPI_INFO_NULL, comm, &memory, &made->win);
    memset(memory, 0, MOST_BYTES);
    MPI_Comm_group(comm, &group);
    MPI_Group_incl(group, 1, &first, &made->origin);
    MPI_Group_excl(group, 1, &first, &made->targets);
    MPI_Group_size(made->targets, &made->count);
    MPI_Group_free(&group);
    ++all->count;
}

static void make_windows(struct Epochal *all, bool many)
{
    all->count = 0;
    for (int origin = 0; origin < all->job->ranks / 2; ++origin) {
        make_window_of(all, origin, many);
    }
}

static void free_windows(struct Epochal *all)
{
    for (int i = 0; i < all->count; ++i) {
        MPI_Win_free(&all->windows[i].win);
        MPI_Group_free(&all->windows[i].origin);
        MPI_Group_free(&all->windows[i].targets);
        MPI_Comm_free(&all->windows[i].comm);
    }
}

static void run_scheme(struct Epochal *all, const char *scheme, enum Epoch first, enum Epoch last)
{
    char name[64];
    for (int epoch = (int)first; epoch <= (int)last; ++epoch) {
        for (int operation = 0; operation < 2; ++operation) {
            for (int size = 0; size < SIZES; ++size) {
                all->epoch = (enum Epoch)epoch;
                all->gets = operation == 1;
                all->bytes = sizes[size];
                snprintf(name, sizeof name, "%s_%s_%s_%d", scheme, epochs[epoch],
                         operations[operation], sizes[size]);
                if (begin_job_line(all->job, name)) {
                    run_line(all, name);
                }
            }
        }
    }
}

int main(int argc, char **argv)
{
    const struct Job job = begin_job(&argc, &argv);
    struct Epochal all = {.job = &job, .target = job.ranks / 2};
    void *memory;
    if (job.ranks / 2 > MOST_ORIGINS) {
        fprintf(stderr, "overlap_epochs: at most %d ranks\n", 2 * MOST_ORIGINS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    look_up("MPIX_Win_ifence", &begin_fence);
    look_up("MPIX_Win_ilock", &begin_lock);
    all.buffer = make_data(MOST_BYTES);
    for (int many = 0; many < 2; ++many) {
        make_windows(&all, many == 1);
        run_scheme(&all, many == 1 ? "many" : "pairs", FENCE, GATS);
        free_windows(&all);
    }
    if (job.ranks >= 4) {
        const bool watched = job.rank == ORIGIN || job.rank == all.target;
        MPI_Comm_split(MPI_COMM_WORLD, watched ? 0 : MPI_UNDEFINED, job.rank, &all.watched);
        MPI_Win_allocate(MOST_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &all.everybody);
        run_scheme(&all, "held", EXCLUSIVE, SHARED);
        MPI_Win_free(&all.everybody);
        if (watched) {
            MPI_Comm_free(&all.watched);
        }
    }
    free(all.buffer);
    end_job();
    return 0;
}
