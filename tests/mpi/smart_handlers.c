/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers of two origins that both compute, about the same memory: the post that both wait for
 * calls the interrupt threads of both at once, one has to stand back behind the other's handler,
 * and tries again by itself.
 *
 * smart_handlers    (3 ranks)
 */
#include "check.h"
#include "signals.h"

#include <sidelight.h>
#include <sidelight_am.h>
#include <unistd.h>

enum { TARGET = 1, ROUNDS = 20, HANDLER_MICROSECONDS = 3000 };

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

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Win win;
    MPI_Op op;
    int *sum = NULL;
    CHECK_EQ(check_size, 3);
    CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_SMART));
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &win);
    *sum = 0;
    CHECK_OK(MPIX_Am_op_create(add_slowly, &op));
    CHECK_OK(MPIX_Am_win_op_register(op, win));
    struct signals signals = make_signals();
    for (int round = 0; round < ROUNDS; ++round) {
        check_step("two handlers at once");
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == TARGET)
            let_both_in(win, &signals, sum, round);
        else
            send_handler(win, op, &signals, round);
    }
    free_signals(&signals);
    MPI_Op_free(&op);
    MPI_Win_free(&win);
    return check_end();
}
