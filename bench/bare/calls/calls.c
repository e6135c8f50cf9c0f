/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

int bare_put(const void *origin, int origin_count, void *origin_type, int target, ptrdiff_t offset,
             int target_count, void *target_type, void *window)
{
    (void)origin;
    (void)origin_count;
    (void)origin_type;
    (void)target;
    (void)offset;
    (void)target_count;
    (void)target_type;
    (void)window;
    return 0;
}

int bare_flush(int target, void *window)
{
    (void)target;
    (void)window;
    return 0;
}
