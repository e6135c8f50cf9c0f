/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program as somebody writes it for MPI-5.1: it includes mpi.h and knows nothing of Sidelight.
 * Stencil-like: each rank puts a row to its right neighbour, which waits for it by the counter and
 * hands it on with what it has added; and each call of the section is used once.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROW = 1000, ROUNDS = 20, ROWS_COUNTER = 0, OTHER_COUNTER = 1, COUNTERS = 2 };

static int failures;

static void check(int holds, const char *what)
{
    if (!holds) {
        ++failures;
        fprintf(stderr, "wrong: %s\n", what);
    }
}

static MPI_Count value_of(MPI_Win win, int counter)
{
    MPI_Count value = -1;
    check(MPI_Win_get_notify_value(win, counter, &value) == MPI_SUCCESS, "a value");
    return value;
}

static void await(MPI_Win win, int counter, MPI_Count expected)
{
    while (value_of(win, counter) < expected) {}
}

static void hand_on_rows(MPI_Win win, int rank, int ranks, const double *memory)
{
    static double row[ROW];
    const int right = (rank + 1) % ranks;
    for (int round = 1; round <= ROUNDS; ++round) {
        if (rank != 0)
            await(win, ROWS_COUNTER, round);
        for (int i = 0; i < ROW; ++i)
            row[i] = rank == 0 ? round : memory[i] + 1;
        MPI_Put_notify(row, ROW, MPI_DOUBLE, right, 0, ROW, MPI_DOUBLE, ROWS_COUNTER, win);
        MPI_Win_flush_local(right, win);
        if (rank == 0) {
            await(win, ROWS_COUNTER, round);
            for (int i = 0; i < ROW; ++i)
                check(memory[i] == round + ranks - 1, "a row that was handed on");
        }
    }
}

static void other_calls(MPI_Win win, int right)
{
    double one = 1, got = 0, old = 0;
    MPI_Request requests[4];
    MPI_Count value = 0;
    MPI_Get_notify(&got, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, OTHER_COUNTER, win);
    MPI_Accumulate_notify(&one, 1, MPI_DOUBLE, right, ROW, 1, MPI_DOUBLE, MPI_SUM, OTHER_COUNTER,
                          win);
    MPI_Get_accumulate_notify(&one, 1, MPI_DOUBLE, &old, 1, MPI_DOUBLE, right, ROW, 1, MPI_DOUBLE,
                              MPI_SUM, OTHER_COUNTER, win);
    MPI_Rput_notify(&one, 1, MPI_DOUBLE, right, ROW + 1, 1, MPI_DOUBLE, OTHER_COUNTER, win,
                    &requests[0]);
    MPI_Rget_notify(&got, 1, MPI_DOUBLE, right, 1, 1, MPI_DOUBLE, OTHER_COUNTER, win, &requests[1]);
    MPI_Raccumulate_notify(&one, 1, MPI_DOUBLE, right, ROW, 1, MPI_DOUBLE, MPI_SUM, OTHER_COUNTER,
                           win, &requests[2]);
    MPI_Rget_accumulate_notify_c(&one, 1, MPI_DOUBLE, &old, 1, MPI_DOUBLE, right, ROW, 1,
                                 MPI_DOUBLE, MPI_SUM, OTHER_COUNTER, win, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Put_notify_c(&one, 0, MPI_DOUBLE, right, 0, 0, MPI_DOUBLE, OTHER_COUNTER, win);
    MPI_Win_flush(right, win);
    await(win, OTHER_COUNTER, 8);
    check(MPI_Win_reset_notify_value(win, OTHER_COUNTER, &value) == MPI_SUCCESS && value == 8,
          "what a reset has found");
    check(value_of(win, OTHER_COUNTER) == 0, "zero after a reset");
}

static void errors_and_bounds(MPI_Win win, int right)
{
    int *number = NULL, flag = 0, class = MPI_SUCCESS, found = 0;
    MPI_Count *highest = NULL, value = 0;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Win_get_notify_value(win, COUNTERS, &value), &class);
    check(class == MPI_ERR_RMA_NOTIFICATION, "the class of an error");
    MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_NUM_SB, &number, &flag);
    check(flag && *number >= COUNTERS, "MPI_WIN_NOTIFICATION_NUM_SB");
    MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_NUM_UB, &number, &flag);
    check(flag && *number >= COUNTERS, "MPI_WIN_NOTIFICATION_NUM_UB");
    MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_VALUE_UB, &highest, &flag);
    check(flag && *highest >= ROUNDS, "MPI_WIN_NOTIFICATION_VALUE_UB");
    check(MPI_Win_get_num_notify(win, right, &found) == MPI_SUCCESS && found == COUNTERS,
          "MPI_Win_get_num_notify");
}

int main(int argc, char **argv)
{
    double *memory;
    int rank, ranks;
    MPI_Info info;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_max_num_notify", "2");
    MPI_Win_allocate(2 * ROW * (MPI_Aint)sizeof *memory, sizeof *memory, info, MPI_COMM_WORLD,
                     &memory, &win);
    for (int i = 0; i < 2 * ROW; ++i)
        memory[i] = 0;
    MPI_Info_set(info, "mpi_assert_same_num_notifications", "true");
    MPI_Win_set_num_notify(win, info, COUNTERS);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, win);
    hand_on_rows(win, rank, ranks, memory);
    MPI_Barrier(MPI_COMM_WORLD);
    other_calls(win, (rank + 1) % ranks);
    errors_and_bounds(win, (rank + 1) % ranks);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (failures != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
