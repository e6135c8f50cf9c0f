/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts what one thread does between two points: allocations, mutexes and system calls, its own
 * and those of every library under it. The functions are defined in the program, ahead of the C
 * library's; system calls come back to the thread as signals (Syscall User Dispatch, Linux 5.11).
 */
#ifndef SIDELIGHT_TESTS_PATH_COUNTERS_H
#define SIDELIGHT_TESTS_PATH_COUNTERS_H

#include <stdbool.h>

struct counters {
    int allocations;  /* malloc, calloc, realloc, free and their relatives; operator new calls them
                       */
    int mutexes;      /* pthread_mutex_lock and pthread_mutex_trylock */
    int system_calls; /* 0 where they cannot be counted */
    int last_call;    /* the number of the last system call */
};

/* Whether system calls can be counted here. */
bool counters_see_system_calls(void);

/* Starts from zero, for the calling thread; ends in the same thread with counters_stop. */
void counters_start(void);
struct counters counters_stop(void);

#endif /* SIDELIGHT_TESTS_PATH_COUNTERS_H */
