/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers of two origins that both compute, about the same memory: the post that both wait for
 * calls the interrupt threads of both at once, one has to stand back behind the other's handler,
 * and tries again by itself. Then one whose own call had to stand back, which computes behind it.
 *
 * smart_handlers    (3 ranks)
 */
#include "check.h"
#include "signals.h"

#include <sidelight.h>
#include <sidelight_am.h>
#include <unistd.h>

enum { TARGET = 1, ROUNDS = 20, HANDLER_MICROSECONDS = 3000, LONG_MICROSECONDS = 20000 };
enum { SUM, RUNS, CELLS }; /* the target's memory */

static void add_slowly(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                       MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                       int segments, int offset)
{
    (void)in_count, (void)in_type, (void)count, (void)type, (void)out, (void)out_count;
    (void)out_type, (void)segments, (void)offset;
    int const before = *(const int *)memory;
    usleep(HANDLER_MICROSECONDS);
    *(int *)memory = before + *(const int *)in;
}

/* It tells that it runs, and holds the memory for long. */
static void hold(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                 MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                 int offset)
{
    (void)in, (void)in_count, (void)in_type, (void)count, (void)type, (void)out, (void)out_count;
    (void)out_type, (void)segments, (void)offset;
    __atomic_store_n((int *)memory + RUNS, 1, __ATOMIC_RELEASE);
    usleep(LONG_MICROSECONDS);
}

static void let_both_in(MPI_Win win, const struct signals *signals, const int *sum, int round)
{
    int const ranks[] = {0, 2};
    MPI_Group origins = check_group(2, ranks);
    check_hear(0);
    check_hear(2);
    usleep(1000); /* both compute by now */
    CHECK_OK(MPI_Win_post(origins, 0, win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_EQ(*sum, 2 * (round + 1));
    signal_to(signals, 0, round);
    signal_to(signals, 2, round);
    MPI_Group_free(&origins);
}

static void send_handler(MPI_Win win, MPI_Op op, const struct signals *signals, int round)
{
    int const target = TARGET, one = 1;
    MPI_Group group = check_group(1, &target);
    MPI_Request requests[2];
    CHECK_OK(MPIX_Win_istart(group, 0, win, &requests[0]));
    CHECK_OK(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, TARGET, MPI_INT, 0, 1, MPI_INT, MPI_INT,
                     op, win));
    CHECK_OK(MPIX_Win_icomplete(win, &requests[1]));
    check_tell(TARGET);
    compute_until(signals, round);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Group_free(&group);
}

/* The epochs of all are open when the barrier is over. */
static void open_to_both(MPI_Win win, bool locks)
{
    int const ranks[] = {0, 2}, target = TARGET;
    bool const targeted = check_rank == TARGET;
    MPI_Group group = targeted ? check_group(2, ranks) : check_group(1, &target);
    if (targeted && !locks)
        CHECK_OK(MPI_Win_post(group, 0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (!targeted && locks)
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win));
    else if (!targeted)
        CHECK_OK(MPI_Win_start(group, 0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group_free(&group);
}

static void wait_for_both(MPI_Win win, bool locks, int *memory)
{
    check_hear(0);
    if (locks) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win));
        CHECK_OK(MPI_Win_unlock(TARGET, win));
    } else {
        CHECK_OK(MPI_Win_wait(win));
    }
    CHECK_EQ(memory[SUM], 1);
    memory[SUM] = memory[RUNS] = 0;
}

static void hold_memory(MPI_Win win, bool locks, MPI_Op op)
{
    CHECK_OK(MPIX_Am(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 1, TARGET, MPI_INT, 0, CELLS, MPI_INT,
                     MPI_INT, op, win));
    CHECK_OK(locks ? MPI_Win_unlock(TARGET, win) : MPI_Win_complete(win));
}

/* While the other's handler runs. */
static void stand_back_and_compute(MPI_Win win, bool locks, MPI_Op op,
                                   const struct signals *signals, int value)
{
    int const one = 1;
    int *memory;
    MPI_Aint size;
    int unit;
    MPI_Request request;
    CHECK_OK(MPI_Win_shared_query(win, TARGET, &size, &unit, &memory));
    while (__atomic_load_n(&memory[RUNS], __ATOMIC_ACQUIRE) == 0)
        usleep(100);
    CHECK_OK(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, TARGET, MPI_INT, 0, 1, MPI_INT, MPI_INT,
                     op, win));
    CHECK_OK(locks ? MPIX_Win_iunlock(TARGET, win, &request) : MPIX_Win_icomplete(win, &request));
    check_tell(TARGET);
    compute_until(signals, value);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void left_behind(MPI_Win win, bool locks, MPI_Op add, MPI_Op holds, int *memory,
                        const struct signals *signals, int value)
{
    check_step(locks ? "left behind another's, locks" : "left behind another's");
    open_to_both(win, locks);
    if (check_rank == TARGET) {
        wait_for_both(win, locks, memory);
        signal_to(signals, 0, value);
    } else if (check_rank == 2) {
        hold_memory(win, locks, holds);
    } else {
        stand_back_and_compute(win, locks, add, signals, value);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Win win;
    MPI_Op op, holds;
    int *sum = NULL;
    CHECK_EQ(check_size, 3);
    CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_SMART));
    MPI_Win_allocate(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &win);
    memset(sum, 0, CELLS * sizeof(int));
    CHECK_OK(MPIX_Am_op_create(add_slowly, &op));
    CHECK_OK(MPIX_Am_win_op_register(op, win));
    CHECK_OK(MPIX_Am_op_create(hold, &holds));
    CHECK_OK(MPIX_Am_win_op_register(holds, win));
    struct signals signals = make_signals();
    for (int round = 0; round < ROUNDS; ++round) {
        check_step("two handlers at once");
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == TARGET)
            let_both_in(win, &signals, sum, round);
        else
            send_handler(win, op, &signals, round);
    }
    *sum = 0;
    for (int round = 0; round < ROUNDS; ++round)
        left_behind(win, round % 2 != 0, op, holds, sum, &signals, ROUNDS + round);
    free_signals(&signals);
    MPI_Op_free(&op);
    MPI_Op_free(&holds);
    MPI_Win_free(&win);
    return check_end();
}
