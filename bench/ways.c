/* SPDX-License-Identifier: BSD-3-Clause */
#include "ways.h"

#include <stdio.h>

static const int sizes[] = {8, 1 << 10, 16 << 10, 64 << 10, 1 << 20};

void measure_ways(const struct Pair *pair, const struct Way *ways, int count)
{
    const struct Team team = team_of(pair);
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; ++size) {
        for (const struct Way *way = ways; way < ways + count; ++way) {
            char name[32];
            snprintf(name, sizeof name, "%s_%d", way->name, sizes[size]);
            const struct Line line = {name, way->action, NULL};
            *way->bytes = sizes[size];
            if (chosen(name, pair->names, pair->count)) {
                measure(&team, &line, way->context, pair->plan);
            }
        }
    }
}
