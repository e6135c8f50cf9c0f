/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 waits for counters of its own, and is notified late by some of the others. What a report
 * says of a trace of it is in tests/tools/test_report_programs.py: the argument says who is late,
 * without one each of them is.
 */
#include <sidelight.h>

#include "check.h"
#include "compute.h"

enum { COUNTERS = 2, COUNTER = 1, ROUNDS = 5, LATE = 20 /* ms */ };

static void put(MPI_Win win)
{
    int64_t const one = 1;
    CHECK_OK(MPI_Put_notify(&one, 1, MPI_INT64_T, 0, check_rank, 1, MPI_INT64_T, COUNTER, win));
}

static void put_late(MPI_Win win)
{
    int64_t const two = 2;
    MPI_Request sent;
    compute(LATE);
    CHECK_OK(
        MPI_Rput_notify(&two, 1, MPI_INT64_T, 0, check_rank, 1, MPI_INT64_T, COUNTER, win, &sent));
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

static void await(MPI_Win win, MPI_Count value)
{
    MPI_Request reached;
    CHECK_OK(MPIX_Win_notify_ithreshold(win, COUNTER, value, &reached));
    CHECK_OK(MPI_Wait(&reached, MPI_STATUS_IGNORE));
}

static void reset(MPI_Win win, MPI_Count expected)
{
    MPI_Count value = 0;
    CHECK_OK(MPI_Win_reset_notify_value(win, COUNTER, &value));
    CHECK_EQ(value, expected);
}

static void first(MPI_Win win)
{
    if (check_rank == 0)
        await(win, 1);
    else if (check_rank == 1)
        put_late(win);
}

/* Of two. */
static void second(MPI_Win win)
{
    if (check_rank == 0)
        await(win, 2);
    else if (check_rank == 1)
        put(win);
    else
        put_late(win);
}

static void behind_a_reset(MPI_Win win)
{
    if (check_rank == 0) {
        await(win, 1);
        reset(win, 1);
        await(win, 1);
    } else if (check_rank == 1) {
        put(win);
    } else {
        put_late(win);
    }
}

static const struct {
    const char *name;
    void (*run)(MPI_Win);
    MPI_Count puts; /* that the counter shows in the end */
} cases[] = {{"first", first, 1}, {"second", second, 2}, {"behind_a_reset", behind_a_reset, 1}};

int main(int argc, char **argv)
{
    MPI_Win win;
    int64_t *memory = NULL;
    check_begin(&argc, &argv);
    CHECK_OK(MPI_Win_allocate(check_size * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                              MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_set_num_notify(win, MPI_INFO_NULL, COUNTERS));
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)
            continue;
        check_step(cases[i].name);
        for (int round = 0; round < ROUNDS; ++round) {
            MPI_Barrier(MPI_COMM_WORLD);
            cases[i].run(win);
            if (check_rank == 0)
                reset(win, cases[i].puts);
        }
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
    return check_end();
}
