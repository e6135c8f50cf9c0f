/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One job of two executables, for even and for odd ranks, whose handlers are functions of their own
 * that do the same. Each executable has a file with these:
 */
#ifndef SIDELIGHT_TESTS_TWO_PROGRAMS_PROGRAM_H
#define SIDELIGHT_TESTS_TWO_PROGRAMS_PROGRAM_H

#include <sidelight.h>

enum { DOUBLE, NEGATE, HANDLERS };

/* A segment is an int. Its answer is two: what the handler makes of it, and program_number. */
extern MPIX_Am_user_function *const program_handlers[HANDLERS];
extern const int program_number;    /* 0 or 1: of the ranks that run it */
extern const int program_creates[]; /* the order in which it creates its operations */

#endif
