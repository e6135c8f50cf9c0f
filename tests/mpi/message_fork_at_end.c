/* SPDX-License-Identifier: BSD-3-Clause */
/* The last session ends while another thread forks, or here, to be sure of it, what fork() calls.
 * Nobody counts as being in MPI behind that: in the next session messages have progress again. The
 * log tells by how many steps, since one process has nobody else to see it. */
#include "check.h"

#if MPI_VERSION >= 4

#include <pthread.h>
#include <sys/wait.h>

enum { BYTES = 1 << 20, A_WHILE = 100000 /* microseconds */ };

static MPI_Session session = MPI_SESSION_NULL;
static bool forks;

/* Was registered before the library's, so it comes after that. */
static void before_fork(void)
{
    if (forks)
        CHECK_OK(MPI_Session_finalize(&session));
}

static void open_session(void)
{
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
}

static MPI_Comm this_process(void)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "sidelight.test.fork", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

static void leave_a_request_alone(void)
{
    static char in[BYTES], out[BYTES];
    MPI_Request request;
    MPI_Comm comm = this_process();
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, 0, 1, comm, &request));
    usleep(A_WHILE);
    CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, 0, 1, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(void)
{
    int status = -1;
    pthread_atfork(before_fork, NULL, NULL);
    check_watch();
    open_session();
    forks = true;
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    forks = false;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    open_session();
    leave_a_request_alone();
    CHECK_OK(MPI_Session_finalize(&session));
    return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#else

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    return check_skip("this host has no sessions");
}

#endif
