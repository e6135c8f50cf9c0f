/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that have been set are raised for the first time where no descriptor can be opened any
 * more.
 */
#include "check.h"

#include <sidelight.h>
#include <sys/resource.h>

static void notify_and_await(MPI_Win win, int *base)
{
    int const other = 1 - check_rank, value = 4711 + check_rank;
    MPI_Request request;
    CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT, other, 0, 1, MPI_INT, 0, win));
    CHECK_OK(MPI_Win_flush(other, win));
    CHECK_OK(MPIX_Win_notify_ithreshold(win, 0, 1, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(*base, 4711 + other);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *base = NULL;
    check_begin(&argc, &argv);
    CHECK_OK(
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_set_num_notify(win, MPI_INFO_NULL, 1));
    CHECK_OK(MPI_Win_lock_all(0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlim_t const files = limit.rlim_cur;
    limit.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    notify_and_await(win, base);
    limit.rlim_cur = files;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
    return check_end();
}
