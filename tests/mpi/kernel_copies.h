/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the kernel lets processes reach one another's memory. */
#ifndef SIDELIGHT_TESTS_KERNEL_COPIES_H
#define SIDELIGHT_TESTS_KERNEL_COPIES_H

#include "check.h"

#include <sys/uio.h>

/* Collective. Each tells the next one where a word of its own is. */
static inline bool kernel_copies(void)
{
    static int64_t word = 4711;
    const int64_t mine[2] = {getpid(), (int64_t)(intptr_t)&word};
    int64_t others[2], read_word = 0;
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(mine, 2, MPI_INT64_T, (check_rank + 1) % ranks, 0, others, 2, MPI_INT64_T,
                 (check_rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct iovec here = {&read_word, sizeof read_word};
    struct iovec there = {(void *)(intptr_t)others[1], sizeof read_word};
    int may = process_vm_readv((pid_t)others[0], &here, 1, &there, 1, 0) == sizeof read_word;
    MPI_Allreduce(MPI_IN_PLACE, &may, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return may;
}

#endif
