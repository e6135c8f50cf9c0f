/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that a test makes and frees. */
#ifndef SIDELIGHT_TESTS_DUPLICATES_H
#define SIDELIGHT_TESTS_DUPLICATES_H

#include "noted_errors.h"
#include "windows.h"
#include <sidelight.h>

static inline MPI_Win duplicate(MPI_Win win, MPI_Info info)
{
    MPI_Win made = MPI_WIN_NULL;
    CHECK_OK(MPIX_Win_dup_with_info(win, info, &made));
    CHECK(made != MPI_WIN_NULL);
    return made;
}

/* The same with one key. */
static inline MPI_Win duplicate_with(MPI_Win win, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Win const made = duplicate(win, info);
    MPI_Info_free(&info);
    return made;
}

static inline void free_handle(MPI_Win *win)
{
    CHECK_OK(MPI_Win_free(win));
    CHECK(*win == MPI_WIN_NULL);
}

#endif /* SIDELIGHT_TESTS_DUPLICATES_H */
