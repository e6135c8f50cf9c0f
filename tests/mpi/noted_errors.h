/* SPDX-License-Identifier: BSD-3-Clause */
/* An error handler that notes what it is called with. */
#ifndef SIDELIGHT_TESTS_NOTED_ERRORS_H
#define SIDELIGHT_TESTS_NOTED_ERRORS_H

#include <mpi.h>

static int handled, handled_class;
static MPI_Win handled_window;

static inline void on_error(MPI_Win *win, int *code, ...)
{
    ++handled;
    handled_window = *win;
    MPI_Error_class(*code, &handled_class);
}

/* From now on the errors of this window are noted. */
static inline void note_errors(MPI_Win win)
{
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(on_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    handled = 0;
    handled_window = MPI_WIN_NULL;
}

#endif /* SIDELIGHT_TESTS_NOTED_ERRORS_H */
