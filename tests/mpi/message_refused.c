/* SPDX-License-Identifier: BSD-3-Clause */
/* The system has no thread for the progress of messages when the first large request is started.
 * Once it has, some requests later, they move on while a process computes. */
#define _GNU_SOURCE
#include "check.h"
#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SENDER, RECEIVER, BYTES = 1 << 20, STARTS = 2000 };

static atomic_bool refuses;
static atomic_int refused;

typedef int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context);

/* Comes before the C library's, also for our library. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
    create *next;
    if (atomic_load(&refuses)) {
        atomic_fetch_add(&refused, 1);
        return EAGAIN;
    }
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(thread, attributes, run, context);
}

static void start_and_wait(void)
{
    MPI_Request request;
    CHECK_OK(MPI_Ibarrier(MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    static char buffer[BYTES];
    MPI_Request request;
    check_begin(&argc, &argv);
    struct signals signals = make_signals();
    atomic_store(&refuses, true);
    start_and_wait();
    start_and_wait();
    CHECK_EQ(atomic_load(&refused), 1); /* it is not asked each time */
    atomic_store(&refuses, false);
    for (int i = 0; i < STARTS; ++i)
        start_and_wait();
    if (check_rank == SENDER) {
        check_hear(RECEIVER);
        CHECK_OK(MPI_Send(buffer, BYTES, MPI_BYTE, RECEIVER, 1, MPI_COMM_WORLD));
        signal_to(&signals, RECEIVER, 1);
    } else {
        CHECK_OK(MPI_Irecv(buffer, BYTES, MPI_BYTE, SENDER, 1, MPI_COMM_WORLD, &request));
        check_tell(SENDER);
        compute_until(&signals, 1);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free_signals(&signals);
    return check_end();
}
