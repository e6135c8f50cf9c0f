/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions in a shared library of their own that do nothing. They take what MPI_Put and
 * MPI_Win_flush take, in the same registers and places on the stack. */
#ifndef BENCH_BARE_CALLS_H
#define BENCH_BARE_CALLS_H

#include <stddef.h>

int bare_put(const void *origin, int origin_count, void *origin_type, int target, ptrdiff_t offset,
             int target_count, void *target_type, void *window);

int bare_flush(int target, void *window);

#endif
