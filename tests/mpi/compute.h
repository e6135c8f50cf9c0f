/* SPDX-License-Identifier: BSD-3-Clause */
/* The program is busy and calls no MPI. */
#ifndef SIDELIGHT_TESTS_COMPUTE_H
#define SIDELIGHT_TESTS_COMPUTE_H

#include <time.h>

static inline void compute(double milliseconds)
{
    struct timespec now, begin;
    double passed = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (passed < milliseconds) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        passed = 1e3 * (double)(now.tv_sec - begin.tv_sec) +
                 1e-6 * (double)(now.tv_nsec - begin.tv_nsec);
    }
}

#endif
