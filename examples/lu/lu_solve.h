/* SPDX-License-Identifier: BSD-3-Clause */
/* The solve: factorisation with forward solve, then backward solve, as one sequence of messages. */
#ifndef LU_SOLVE_H
#define LU_SOLVE_H

#include "lu_exchange.h"
#include "lu_kernel.h"
#include "lu_report.h"

/* Turns the right-hand side of the rows into the solution. Collective. */
void solve(Rows *rows, Exchange *exchange, Progress *progress);

#endif
