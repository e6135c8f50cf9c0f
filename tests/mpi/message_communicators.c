/* SPDX-License-Identifier: BSD-3-Clause */
/* In MPICH a communicator that has been freed goes with its last request, also while the program
 * computes. What a window has left with it ends on a thread of the program's all the same. */
#include "check.h"
#include "compute.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 20, BYTES = 400000 };

static char out[BYTES], in[BYTES], beside[BYTES];
static pthread_t main_thread;
static atomic_bool watched;
static atomic_int foreign_calls;

/* In the place of the C library's: what is kept lies in memory, too. */
int munmap(void *memory, size_t bytes)
{
    if (watched && !pthread_equal(pthread_self(), main_thread))
        ++foreign_calls;
    return (int)syscall(SYS_munmap, memory, bytes);
}

static MPI_Comm with_window(void)
{
    MPI_Comm comm;
    MPI_Win win;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    CHECK_OK(MPI_Win_free(&win));
    return comm;
}

/* It frees the communicator first, and then computes until all is there. */
static void receive_and_free(MPI_Comm comm)
{
    MPI_Request receive, later;
    CHECK_OK(MPI_Irecv(beside, BYTES, MPI_BYTE, 1 - check_rank, 2, MPI_COMM_WORLD, &later));
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, 1 - check_rank, 1, comm, &receive));
    CHECK_OK(MPI_Request_free(&receive));
    CHECK_OK(MPI_Comm_free(&comm));
    watched = true;
    compute(5);
    CHECK_OK(MPI_Wait(&later, MPI_STATUS_IGNORE));
    watched = false;
}

static void send(MPI_Comm comm)
{
    compute(1);
    CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, 1 - check_rank, 1, comm));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, 1 - check_rank, 2, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    main_thread = pthread_self();
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Comm const comm = with_window();
        if (round % 2 == check_rank)
            receive_and_free(comm);
        else
            send(comm);
    }
    CHECK_EQ(foreign_calls, 0);
    return check_end();
}
