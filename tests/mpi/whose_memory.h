/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether Sidelight owns windows of this process, told by the memory that it has mapped. */
#ifndef SIDELIGHT_TESTS_WHOSE_MEMORY_H
#define SIDELIGHT_TESTS_WHOSE_MEMORY_H

#include "check.h"

/* Whether an address lies in memory that Sidelight has mapped; null: whether there is any. */
static bool is_sidelights(const void *address)
{
    uintptr_t const wanted = (uintptr_t)address;
    unsigned long first, end;
    char line[512];
    bool found = false;
    FILE *const maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL)
        found = sscanf(line, "%lx-%lx", &first, &end) == 2 &&
                (address == NULL || (first <= wanted && wanted < end)) &&
                strstr(line, "/memfd:sidelight") != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

#endif
