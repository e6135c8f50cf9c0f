/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that the host polls for the program, and that calls MPI, as collectives of a program's
 * own do (MPICH's MPIX_Async): beside progress of messages nobody waits there for a step that it
 * runs in. */
#include "check.h"

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40300000

#include <stdatomic.h>

enum { BYTES = 1 << 20, SMALL = 1, LARGE = 2 };

static atomic_int may_send, sent;
static MPI_Request small_request;
static const int value = 4711;

static int other(void) { return 1 - check_rank; }

static int poll_function(MPIX_Async_thing thing)
{
    (void)thing;
    if (atomic_load(&may_send) == 0)
        return MPIX_ASYNC_NOPROGRESS;
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, other(), SMALL, MPI_COMM_WORLD, &small_request));
    atomic_store(&sent, 1);
    return MPIX_ASYNC_DONE;
}

int main(int argc, char **argv)
{
    static char in[BYTES], out[BYTES];
    MPI_Request requests[3];
    int provided = -1, received = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    memset(out, 1 + check_rank, sizeof out);
    CHECK_OK(MPIX_Async_start(poll_function, NULL, MPIX_STREAM_NULL));
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, other(), LARGE, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, other(), SMALL, MPI_COMM_WORLD, &requests[1]));
    atomic_store(&may_send, 1);
    usleep(50000); /* in no call: a thread of ours would have stepped */
    CHECK(!atomic_load(&sent));
    CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, other(), LARGE, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int flag = 0; !atomic_load(&sent);)
        CHECK_OK(MPI_Iprobe(other(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&small_request, MPI_STATUS_IGNORE));
    CHECK_EQ(received, value);
    CHECK_EQ(in[BYTES - 1], 1 + other());
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    return check_skip("this host has no MPIX_Async_start");
}

#endif
