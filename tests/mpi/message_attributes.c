/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator that has been freed goes, in some MPIs, with its last request: also where that is
 * one which the program has freed. Its attributes go on a thread of the program's all the same.
 *
 * message_attributes [late|old]: the key is made behind the first request that is freed; it is made
 * by the call of MPI-1, where there is one. */
#define _GNU_SOURCE
#include "check.h"
#include "compute.h"

#include <dlfcn.h>
#include <pthread.h>

enum { ROUNDS = 30, BYTES = 400000 };

static char out[BYTES], in[BYTES], beside[BYTES];
static pthread_t main_thread;
static MPI_Comm comms[ROUNDS];
static volatile int deletions, foreign_calls;

static int deleted(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval, (void)value, (void)state;
    ++deletions;
    foreign_calls += !pthread_equal(pthread_self(), main_thread);
    return MPI_SUCCESS;
}

typedef int create_keyval(MPI_Copy_function *copy, MPI_Delete_function *remove, int *keyval,
                          void *state);

/* By a name that not every header declares. */
static int make_old_key(void)
{
    int keyval = MPI_KEYVAL_INVALID;
    create_keyval *create;
    *(void **)&create = dlsym(RTLD_DEFAULT, "MPI_Keyval_create");
    if (create == NULL)
        return MPI_KEYVAL_INVALID;
    CHECK_OK(create(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL));
    return keyval;
}

static int make_key(const char *how)
{
    int keyval = strcmp(how, "old") == 0 ? make_old_key() : MPI_KEYVAL_INVALID;
    if (keyval == MPI_KEYVAL_INVALID)
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL));
    return keyval;
}

/* Its send is freed and under way. */
static void begin_send(MPI_Comm *comm)
{
    MPI_Request send;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, comm));
    CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, 1 - check_rank, 1, *comm, &send));
    CHECK_OK(MPI_Request_free(&send));
}

/* The communicator goes while the program computes, or on its thread. */
static void end_send(MPI_Comm *comm, int keyval)
{
    int const other = 1 - check_rank;
    MPI_Request large, receive;
    CHECK_OK(MPI_Comm_set_attr(*comm, keyval, comm));
    CHECK_OK(MPI_Irecv(beside, BYTES, MPI_BYTE, other, 2, MPI_COMM_WORLD, &large));
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, other, 1, *comm, &receive));
    CHECK_OK(MPI_Comm_free(comm));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    compute(1);
    CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, other, 2, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&large, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    main_thread = pthread_self();
    const char *const how = argc > 1 ? argv[1] : "";
    bool const late = strcmp(how, "late") == 0;
    int keyval = late ? MPI_KEYVAL_INVALID : make_key(how);
    for (int round = 0; late && round < ROUNDS; ++round)
        begin_send(&comms[round]);
    if (late)
        keyval = make_key(how);
    for (int round = 0; round < ROUNDS; ++round) {
        if (!late)
            begin_send(&comms[round]);
        end_send(&comms[round], keyval);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(foreign_calls, 0);
    CHECK_EQ(deletions, ROUNDS);
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    return check_end();
}
