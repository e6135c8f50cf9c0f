/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages where it is awkward: a handler that takes long, while others put, flush and lock
 * elsewhere; one handler in two windows; and what others see of it and it of them (a litmus test).
 *
 * active_hostile [milliseconds of the long handler [everywhere]]
 *
 * With `everywhere` others work at the handler's target, too: it needs a progress thread, or memory
 * that is mapped.
 */
#include "windows.h"
#include <fcntl.h>
#include <sidelight.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { X, Y, DONE, COUNTED, CELLS, LIMIT = 150 /* seconds */ };

static long milliseconds = 300;

/* What the ranks see of the long handler, whoever runs it: not in a window. */
static struct board {
    atomic_bool begun;
    atomic_bool may_end;
    atomic_bool ended;
} * board;

/* A handler calls nothing of MPI. */
static struct board *share_board(void)
{
    char name[64];
    long process = getpid();
    MPI_Bcast(&process, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/active_hostile-%ld", process);
    if (check_rank == 0)
        shm_unlink(name); /* of a process that had this number and was killed */
    MPI_Barrier(MPI_COMM_WORLD);
    int const file = shm_open(name, O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0);
    CHECK_EQ(ftruncate(file, sizeof(struct board)), 0);
    void *const shared =
        mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(shared != MAP_FAILED);
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        shm_unlink(name);
    return shared;
}

/* Takes its time, and goes on until rank 2 lets it end: however slow this machine is, what rank 2
 * has done by then was done meanwhile. */
static void take_long(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                      MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                      int segments, int offset)
{
    (void)in, (void)in_count, (void)in_type, (void)count, (void)type, (void)out, (void)out_count;
    (void)out_type, (void)segments, (void)offset;
    double const begin = check_seconds(), least = 0.001 * (double)milliseconds;
    board->begun = true;
    while (check_seconds() - begin < least || (!board->may_end && check_seconds() - begin < LIMIT))
        usleep(1000);
    ((int64_t *)memory)[0] = 1;
    board->ended = true;
}

/* Reads the first element, and writes the number that it is sent to it unless that is 0. */
static void exchange(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                     MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                     int segments, int offset)
{
    volatile int64_t *const cell = memory;
    (void)in_count, (void)in_type, (void)count, (void)type, (void)out_type, (void)segments;
    (void)offset;
    if (out_count > 0)
        *(int64_t *)out = *cell;
    if (*(int64_t *)in != 0)
        *cell = *(int64_t *)in;
}

static void add(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                int offset)
{
    (void)in_count, (void)in_type, (void)count, (void)type, (void)out, (void)out_count;
    (void)out_type, (void)offset;
    for (int i = 0; i < segments; ++i)
        *(int64_t *)memory += ((int64_t *)in)[i];
}

static MPI_Op long_op, exchange_op, add_op;

static int send_to(const struct window *w, MPI_Op op, int target, int cell, const int64_t *in,
                   int64_t *out)
{
    return MPIX_Am(in, 1, MPI_INT64_T, out, out != NULL, MPI_INT64_T, 1, target, MPI_INT64_T,
                   window_at(w, target, 8 * (MPI_Aint)cell), 1, MPI_INT64_T, MPI_INT64_T, op,
                   w->win);
}

/* A round of put, flush and fetch. */
static void work_at(const struct window *w, int target)
{
    int64_t const one = 1;
    int64_t old = -1;
    CHECK_OK(
        MPI_Put(&one, 1, MPI_INT64_T, target, window_at(w, target, 8 * Y), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, window_at(w, target, 8 * COUNTED),
                              MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
}

static void long_handler(struct window *w, struct window *other, bool everywhere)
{
    int64_t const one = 1;
    check_step("a handler that takes long");
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    MPI_Barrier(w->comm);
    if (w->rank == 1) {
        CHECK_OK(send_to(w, long_op, 0, DONE, &one, NULL));
        CHECK_OK(MPI_Win_flush(0, w->win));
        CHECK(board->ended);
    } else if (w->rank == 2) {
        double begin = check_seconds();
        while (!board->begun && check_seconds() - begin < LIMIT)
            usleep(1000);
        CHECK(board->begun);
        begin = check_seconds();
        for (int turn = 0; turn < 3 || check_seconds() - begin < 0.0007 * (double)milliseconds;
             ++turn) {
            for (int target = everywhere ? 0 : 1; target < 3; ++target)
                work_at(w, target);
            int const locked = everywhere ? 0 : 1;
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, locked, 0, other->win));
            work_at(other, locked);
            CHECK_OK(MPI_Win_unlock(locked, other->win));
        }
        CHECK(!board->ended);
        board->may_end = true;
    }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    if (w->rank == 0)
        CHECK_EQ(((int64_t *)w->base)[DONE], 1);
}

/* The same operation, under other numbers there. */
static void two_windows(struct window *w, struct window *other)
{
    enum { ROUNDS = 200 };
    int const right = (w->rank + 1) % w->size;
    check_step("two windows");
    for (int i = 0; i < CELLS; ++i)
        ((int64_t *)w->base)[i] = ((int64_t *)other->base)[i] = 0;
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Win_lock_all(MPIX_MODE_CONCURRENT_AM, other->win));
    int64_t const two = 2, three = 3;
    for (int round = 0; round < ROUNDS; ++round) {
        CHECK_OK(send_to(w, add_op, right, X, &two, NULL));
        CHECK_OK(send_to(other, add_op, right, X, &three, NULL));
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Win_unlock_all(other->win));
    MPI_Barrier(w->comm);
    CHECK_EQ(((int64_t *)w->base)[X], 2 * ROUNDS);
    CHECK_EQ(((int64_t *)other->base)[X], 3 * ROUNDS);
    MPI_Barrier(w->comm);
}

/* Ranks 0 and 1 each write a cell of rank 2 and read the other's: at least one of them sees the
 * other. `by_handler`: handlers write and gets read, else puts write and handlers read. */
static void litmus(struct window *w, bool by_handler, int rounds)
{
    int const mine = w->rank == 0 ? X : Y, theirs = w->rank == 0 ? Y : X;
    check_step(by_handler ? "handlers write" : "handlers read");
    int64_t const nothing = 0;
    int both = 0;
    MPI_Barrier(w->comm);
    if (w->rank == 2)
        ((int64_t *)w->base)[X] = ((int64_t *)w->base)[Y] = 0;
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(MPIX_MODE_CONCURRENT_AM, w->win));
    for (int64_t round = 1; round <= rounds; ++round) {
        int64_t seen[2] = {0, 0}, mate = 0;
        MPI_Barrier(w->comm);
        if (w->rank < 2) {
            MPI_Aint const at = window_at(w, 2, 8 * (MPI_Aint)(by_handler ? theirs : mine));
            if (by_handler)
                CHECK_OK(send_to(w, exchange_op, 2, mine, &round, NULL));
            else
                CHECK_OK(MPI_Put(&round, 1, MPI_INT64_T, 2, at, 1, MPI_INT64_T, w->win));
            CHECK_OK(MPI_Win_flush(2, w->win));
            if (by_handler)
                CHECK_OK(MPI_Get(seen, 1, MPI_INT64_T, 2, at, 1, MPI_INT64_T, w->win));
            else
                CHECK_OK(send_to(w, exchange_op, 2, theirs, &nothing, seen));
            CHECK_OK(MPI_Win_flush(2, w->win));
            MPI_Sendrecv(&seen[0], 1, MPI_INT64_T, 1 - w->rank, 3, &mate, 1, MPI_INT64_T,
                         1 - w->rank, 3, w->comm, MPI_STATUS_IGNORE);
            CHECK(seen[0] == round || mate == round);
            CHECK(seen[0] >= round - 1 && seen[0] <= round);
            both += seen[0] == round && mate == round;
        }
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    (void)both;
}

int main(int argc, char **argv)
{
    struct window w[2];
    check_begin(&argc, &argv);
    milliseconds = argc > 1 ? atol(argv[1]) : milliseconds;
    board = share_board();
    CHECK_OK(MPIX_Am_op_create(take_long, &long_op));
    CHECK_OK(MPIX_Am_op_create(exchange, &exchange_op));
    CHECK_OK(MPIX_Am_op_create(add, &add_op));
    for (int i = 0; i < 2; ++i)
        w[i] = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * CELLS, 8);
    for (int i = 0; i < 2; ++i) {
        if (i == 0)
            CHECK_OK(MPIX_Am_win_op_register(long_op, w[i].win));
        CHECK_OK(MPIX_Am_win_op_register(exchange_op, w[i].win));
        CHECK_OK(MPIX_Am_win_op_register(add_op, w[i].win));
    }
    long_handler(&w[0], &w[1], argc > 2 && strcmp(argv[2], "everywhere") == 0);
    two_windows(&w[0], &w[1]);
    litmus(&w[0], false, 500);
    litmus(&w[0], true, 500);
    for (int i = 0; i < 2; ++i)
        window_close(&w[i]);
    return check_end();
}
