/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank accesses memory of the one on its right. */
#ifndef SIDELIGHT_TESTS_NEIGHBOURS_H
#define SIDELIGHT_TESTS_NEIGHBOURS_H

#include "check.h"

static inline int right(void) { return (check_rank + 1) % check_size; }

static inline int left(void) { return (check_rank + check_size - 1) % check_size; }

/* Each rank learns an address from the rank on its right, where it is an origin. */
static inline MPI_Aint exchange_address(const void *mine)
{
    MPI_Aint address, theirs;
    MPI_Get_address(mine, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, left(), 5, &theirs, 1, MPI_AINT, right(), 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return theirs;
}

#endif /* SIDELIGHT_TESTS_NEIGHBOURS_H */
