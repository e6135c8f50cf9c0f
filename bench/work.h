/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work beside communication: a fixed amount, so that who takes the core meanwhile is seen; or as
 * much time slept, as if there were a core to spare for whoever communicates.
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <stdbool.h>

struct Work {
    double turns; /* of the loop, in a microsecond that nothing disturbs */
    bool sleeps;
};

/* How fast this core works: the quickest of some trials. */
struct Work work_begin(bool sleeps);

/* Takes so long where nobody else takes the core. */
void work_for(const struct Work *work, double microseconds);

/* The same, and asks every microsecond, or some 15 where it sleeps, until it is told so, whether
 * something has come. Returns when that was, by the clock; 0: it has not. */
double work_until(const struct Work *work, double microseconds, bool (*has_come)(void *context),
                  void *context);

#endif
