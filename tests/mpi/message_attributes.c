/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator that has been freed goes, in some MPIs, with its last request: also where that is
 * one which the program has freed. Its attributes go on a thread of the program's all the same. */
#include "check.h"
#include "compute.h"

#include <pthread.h>

enum { ROUNDS = 30, BYTES = 400000 };

static char out[BYTES], in[BYTES], late[BYTES];
static pthread_t main_thread;
static volatile int deletions, foreign_calls;

static int deleted(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval, (void)value, (void)state;
    ++deletions;
    foreign_calls += !pthread_equal(pthread_self(), main_thread);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keyval;
    MPI_Comm comm;
    MPI_Request receive, beside, send;
    check_begin(&argc, &argv);
    main_thread = pthread_self();
    int const other = 1 - check_rank;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL));
    for (int round = 0; round < ROUNDS; ++round) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Comm_set_attr(comm, keyval, &keyval));
        CHECK_OK(MPI_Irecv(late, BYTES, MPI_BYTE, other, 2, MPI_COMM_WORLD, &beside));
        CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, other, 1, comm, &send));
        CHECK_OK(MPI_Request_free(&send));
        CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, other, 1, comm, &receive));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        compute(1);
        CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, other, 2, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&beside, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(foreign_calls, 0);
    CHECK_EQ(deletions, ROUNDS);
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    return check_end();
}
