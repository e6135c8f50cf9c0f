/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that forks, and calls MPI, while it holds a lock that its operator of a nonblocking
 * reduction takes too, as Python does with its interpreter's: no thread of the library's runs the
 * operator, and waits for that lock, while the program waits for the end of its step. And one that
 * forks in a handler of errors, which MPICH calls with its own lock: the step waits for that. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

enum { ROUNDS = 10, COUNT = 1 << 18, A_WHILE = 3000 /* microseconds */ };

static pthread_mutex_t interpreter;

static void make_interpreter(void)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&interpreter, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void add(void *first, void *second, int *length, MPI_Datatype *type)
{
    (void)type;
    pthread_mutex_lock(&interpreter);
    for (int i = 0; i < *length; ++i)
        ((int *)second)[i] += ((int *)first)[i];
    pthread_mutex_unlock(&interpreter);
}

static void fork_a_child(void)
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static void call_test(MPI_Request *request)
{
    int flag = 0;
    CHECK_OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
}

/* Without the lock there is nothing to wait for, so it is taken before the reduction starts. */
static void reduce(MPI_Op op, bool forks)
{
    static int given[COUNT], sum[COUNT];
    MPI_Request request;
    for (int i = 0; i < COUNT; ++i)
        given[i] = i + check_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_mutex_lock(&interpreter);
    CHECK_OK(MPI_Iallreduce(given, sum, COUNT, MPI_INT, op, MPI_COMM_WORLD, &request));
    usleep(A_WHILE);
    if (forks)
        fork_a_child();
    call_test(&request);
    pthread_mutex_unlock(&interpreter);
    usleep(A_WHILE);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(sum[COUNT - 1], check_size * (COUNT - 1) + check_size * (check_size - 1) / 2);
}

static bool has_forked;

static void fork_for_an_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    usleep(10 * A_WHILE);
    fork_a_child();
    has_forked = true;
}

/* Of a call that the library has no part in, so nobody is inside when the step begins. */
static void fork_in_a_handler(void)
{
    static char in[COUNT], out[COUNT];
    MPI_Errhandler handler;
    MPI_Request request;
    check_step("forks in a handler of errors");
    CHECK_OK(MPI_Comm_create_errhandler(fork_for_an_error, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    CHECK_OK(MPI_Irecv(in, COUNT, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request));
    MPI_Comm_set_name(MPI_COMM_SELF, NULL);
    CHECK(has_forked || strcmp(CHECK_HOST, "mpich4") != 0);
    CHECK_OK(MPI_Send(out, COUNT, MPI_BYTE, 0, 1, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

int main(int argc, char **argv)
{
    int provided = -1;
    MPI_Op op;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    make_interpreter();
    CHECK_OK(MPI_Op_create(add, 1, &op));
    for (int round = 0; round < ROUNDS; ++round) {
        check_step("calls with the lock");
        reduce(op, false);
        check_step("forks with the lock");
        reduce(op, true);
    }
    fork_in_a_handler();
    CHECK_OK(MPI_Op_free(&op));
    return check_end();
}
