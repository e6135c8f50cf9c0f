/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler that crashes ends the program as any crash does, and a line says that it was that
 * handler.
 *
 * active_crash handler|abort
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "windows.h"
#include <sidelight.h>

static bool aborts;

/* Not static: so that it has a name. */
void crash_handler(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                   MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                   int offset);
void crash_handler(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                   MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                   int offset)
{
    (void)in, (void)in_count, (void)in_type, (void)memory, (void)count, (void)type, (void)out;
    (void)out_count, (void)out_type, (void)segments, (void)offset;
    if (aborts)
        abort();
    raise(SIGSEGV);
}

/* The program's own, which is asked after the line. */
static void asked(int signal)
{
    static const char said[] = "the program was asked\n";
    (void)signal;
    if (write(STDERR_FILENO, said, sizeof said - 1) < 0)
        _exit(3);
    _exit(2);
}

int main(int argc, char **argv)
{
    int const one = 1;
    MPI_Op op;
    check_begin(&argc, &argv);
    aborts = strcmp(argv[1], "abort") == 0;
    signal(SIGSEGV, asked);
    signal(SIGABRT, asked);
    CHECK_OK(MPIX_Am_op_create(crash_handler, &op));
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    CHECK_OK(MPIX_Am_win_op_register(op, w.win));
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    CHECK_OK(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, (w.rank + 1) % w.size, MPI_INT, 0, 1,
                     MPI_INT64_T, MPI_INT, op, w.win));
    CHECK_OK(MPI_Win_unlock_all(w.win));
    check_step("nothing has crashed");
    MPI_Barrier(w.comm);
    return 0;
}
