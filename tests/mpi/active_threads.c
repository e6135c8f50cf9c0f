/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: one thread of the target waits in a call of the host's, whose loop runs the
 * handlers that come; another one makes nonblocking calls, which take requests of the host's while
 * they have the engine. The host may hold a lock in its loop, for which those calls wait.
 */
#include "windows.h"

#include <pthread.h>
#include <sidelight.h>
#include <time.h>

enum { MESSAGES = 500, HANDLER_US = 200 };

static struct window w;
static volatile int over;

static void count(void *in, int in_count, MPI_Datatype in_type, void *memory, int number,
                  MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                  int offset)
{
    (void)in, (void)in_count, (void)in_type, (void)number, (void)type, (void)out, (void)out_count;
    (void)out_type, (void)segments, (void)offset;
    nanosleep(&(struct timespec){.tv_nsec = 1000L * HANDLER_US}, NULL); /* the other one comes */
    ++*(int64_t *)memory;
}

static void *flush_on(void *unused)
{
    (void)unused;
    while (!over) {
        MPI_Request request;
        CHECK_OK(MPIX_Win_iflush(w.rank, w.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return NULL;
}

static void send_messages(MPI_Op op)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win));
    for (int i = 0; i < MESSAGES; ++i) {
        CHECK_OK(MPIX_Am(NULL, 0, MPI_BYTE, NULL, 0, MPI_BYTE, 1, 1, MPI_BYTE, 0, 1, MPI_INT64_T,
                         MPI_BYTE, op, w.win));
        CHECK_OK(MPI_Win_flush(1, w.win));
    }
    CHECK_OK(MPI_Win_unlock(1, w.win));
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, w.comm));
}

static void serve(void)
{
    pthread_t thread;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w.rank, 0, w.win));
    CHECK_EQ(pthread_create(&thread, NULL, flush_on, NULL), 0);
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, w.comm, MPI_STATUS_IGNORE));
    over = 1;
    pthread_join(thread, NULL);
    CHECK_OK(MPI_Win_unlock(w.rank, w.win));
    CHECK_EQ(*(int64_t *)w.base, MESSAGES);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Op op;
    MPI_Info info;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    MPI_Info_create(&info);
    MPI_Info_set(info, "sidelight_am_at_target", "true");
    w = window_open_with(info, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8, 8);
    MPI_Info_free(&info);
    CHECK_OK(MPIX_Am_op_create(count, &op));
    CHECK_OK(MPIX_Am_win_op_register(op, w.win));
    MPI_Barrier(w.comm);
    if (w.rank == 0)
        send_messages(op);
    else
        serve();
    MPI_Barrier(w.comm);
    window_close(&w);
    CHECK_OK(MPI_Op_free(&op));
    return check_end();
}
