/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of operations that a flush, or an unlock, has completed are complete for the next call
 * that asks for them, whoever has completed them: a thread of the library's cannot tell the host.
 *
 * flushed_requests
 */
#include "windows.h"

enum { ROUNDS = 1000, AT_ONCE = 4, COUNT = 200 };

static int32_t fetched[AT_ONCE][COUNT];

static void fetch_all(MPI_Win win, int target, MPI_Request *requests)
{
    for (int i = 0; i < AT_ONCE; ++i)
        CHECK_OK(MPI_Rget(fetched[i], COUNT, MPI_INT32_T, target, (MPI_Aint)COUNT * i, COUNT,
                          MPI_INT32_T, win, &requests[i]));
}

static void check_complete(MPI_Request *requests)
{
    int flag = 0;
    CHECK_OK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    CHECK_OK(MPI_Testall(AT_ONCE - 1, requests + 1, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Request requests[AT_ONCE];
    int32_t *memory = NULL;
    check_begin(&argc, &argv);
    int const target = (check_rank + 1) % check_size;
    CHECK_OK(MPI_Win_allocate(sizeof fetched, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                              &memory, &win));
    for (int round = 0; round < ROUNDS; ++round) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
        fetch_all(win, target, requests);
        CHECK_OK(MPI_Win_flush(target, win));
        check_complete(requests);
        fetch_all(win, target, requests);
        CHECK_OK(MPI_Win_unlock(target, win));
        check_complete(requests);
    }
    CHECK_OK(MPI_Win_free(&win));
    return check_end();
}
