/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs about the nonblocking calls share. Displacements are numbers of cells. */
#ifndef SIDELIGHT_TESTS_NONBLOCKING_H
#define SIDELIGHT_TESTS_NONBLOCKING_H

#include "host_defects.h"
#include <sidelight.h>

enum { CELLS = 64, ROUNDS = 50 };

static inline MPI_Group only(const struct window *w, int rank)
{
    MPI_Group all, group;
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &rank, &group);
    MPI_Group_free(&all);
    return group;
}

static inline void wait_for(MPI_Request *request)
{
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    CHECK(*request == MPI_REQUEST_NULL);
}

/* The request of an opening call. */
static inline void at_once(MPI_Request *request) { CHECK(check_complete_at_once(request)); }

/* True on windows that these programs leave out: there displacements are addresses. */
static inline bool is_left_out(const struct window *w) { return w->flavor == FLAVOR_DYNAMIC; }

#endif /* SIDELIGHT_TESTS_NONBLOCKING_H */
