/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose MPI is begun and ended by a library that it is linked to. It has windows of ours,
 * so that something is left to be freed at the end. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { WINDOWS = 3 };

int rank_in_library(void);

/* Not the host's: those have no nonblocking calls that complete. */
static int is_ours(MPI_Win win)
{
    int (*ilock)(int, int, int, MPI_Win, MPI_Request *) = NULL;
    int (*iunlock)(int, MPI_Win, MPI_Request *) = NULL;
    MPI_Request requests[2];
    *(void **)&ilock = dlsym(RTLD_DEFAULT, "MPIX_Win_ilock");
    *(void **)&iunlock = dlsym(RTLD_DEFAULT, "MPIX_Win_iunlock");
    return ilock(MPI_LOCK_SHARED, 0, 0, win, &requests[0]) == MPI_SUCCESS &&
           iunlock(0, win, &requests[1]) == MPI_SUCCESS &&
           MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
}

int main(void)
{
    int good = 1;
    for (int i = 0; i < WINDOWS; ++i) {
        MPI_Win win;
        int64_t *base;
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        good = good && is_ours(win);
        MPI_Win_free(&win);
    }
    if (rank_in_library() == 0)
        puts(good ? "ok" : "the windows are the host's");
    return good ? 0 : 1;
}
