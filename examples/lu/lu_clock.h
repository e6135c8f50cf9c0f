/* SPDX-License-Identifier: BSD-3-Clause */
/* Wall-clock time, and the part of it that is spent inside MPI calls. */
#ifndef LU_CLOCK_H
#define LU_CLOCK_H

/* Seconds since some fixed moment. */
double clock_now(void);

typedef struct {
    double inside; /* seconds, complete calls only */
    double entered;
} MpiClock;

/* Around each group of MPI calls. */
void mpi_clock_enter(MpiClock *clock);
void mpi_clock_leave(MpiClock *clock);

#endif
