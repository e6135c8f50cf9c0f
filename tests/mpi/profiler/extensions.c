/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a tool in it that defines calls of Sidelight's own and goes on to their second
 * names: it sees each of the program's calls, and none that the library makes.
 */
#include <sidelight.h>

#include "../nonblocking.h"

static int fences, flushes, puts_seen;

int MPIX_Win_ifence(int assert, MPI_Win win, MPI_Request *request)
{
    ++fences;
    return PMPIX_Win_ifence(assert, win, request);
}

int MPIX_Win_iflush(int rank, MPI_Win win, MPI_Request *request)
{
    ++flushes;
    return PMPIX_Win_iflush(rank, win, request);
}

int MPIX_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, int notification_idx, MPI_Win win)
{
    ++puts_seen;
    return PMPIX_Put_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, notification_idx, win);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    check_begin(&argc, &argv);
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8L * CELLS, 8);
    int64_t const value = 5 + w.rank;
    int const to = window_right_of(&w);
    for (int round = 0; round < ROUNDS; ++round) {
        CHECK_OK(MPIX_Win_ifence(0, w.win, &request));
        wait_for(&request);
        window_put(&w, to, 0, &value);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    CHECK_EQ(window_cell(&w, 0), 5 + window_left_of(&w));
    CHECK_OK(MPI_Win_set_num_notify(w.win, MPI_INFO_NULL, 1));
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    for (int round = 0; round < ROUNDS; ++round) {
        CHECK_OK(MPIX_Put_notify(&value, 1, MPI_INT64_T, to, 1, 1, MPI_INT64_T, 0, w.win));
        CHECK_OK(MPIX_Win_iflush(to, w.win, &request));
        wait_for(&request);
    }
    CHECK_OK(MPIX_Win_notify_ithreshold(w.win, 0, ROUNDS, &request));
    wait_for(&request);
    CHECK_EQ(window_cell(&w, 1), 5 + window_left_of(&w));
    CHECK_OK(MPI_Win_unlock_all(w.win));
    CHECK_EQ(fences, ROUNDS);
    CHECK_EQ(flushes, ROUNDS);
    CHECK_EQ(puts_seen, ROUNDS);
    window_close(&w);
    return check_end();
}
