/* SPDX-License-Identifier: BSD-3-Clause */
/* A host polls requests of its own kinds while it makes progress, and completes them by calls of
 * MPI: Open MPI those of files. In a step of the library's thread such a call is the host's own,
 * and waits for no step. */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

enum { BYTES = 400000, SECONDS = 20 };

static char out[BYTES], in[BYTES];
static pthread_t main_thread;
static volatile int foreign_calls;
static _Thread_local bool inside;

static int poll_as_the_host(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    int flag = 0;
    if (!inside) {
        inside = true;
        CHECK_OK(MPI_Test(&none, &flag, MPI_STATUS_IGNORE));
        CHECK(flag);
        CHECK_OK(MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        foreign_calls += !pthread_equal(pthread_self(), main_thread);
        inside = false;
    }
    return 0;
}

int main(int argc, char **argv)
{
    typedef int change_callback(int (*)(void));
    MPI_Request request;
    check_begin(&argc, &argv);
    main_thread = pthread_self();
    change_callback *add = NULL, *remove = NULL;
    *(void **)&add = dlsym(RTLD_DEFAULT, "opal_progress_register");
    *(void **)&remove = dlsym(RTLD_DEFAULT, "opal_progress_unregister");
    if (add == NULL || remove == NULL)
        return check_skip("the host has no such functions");
    add(poll_as_the_host);
    int const other = 1 - check_rank;
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request));
    time_t const end = time(NULL) + SECONDS;
    while (foreign_calls == 0 && time(NULL) < end)
        continue;
    CHECK(foreign_calls > 0);
    CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    remove(poll_as_the_host);
    return check_end();
}
