/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "lu_clock.h"

#include <time.h>

double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void mpi_clock_enter(MpiClock *clock) { clock->entered = clock_now(); }

void mpi_clock_leave(MpiClock *clock) { clock->inside += clock_now() - clock->entered; }
