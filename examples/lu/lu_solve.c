/* SPDX-License-Identifier: BSD-3-Clause */
#include "lu_solve.h"

/* Makes the message and sends it; returns its cells, or NULL when another rank owns it. */
static const double *send_own(Rows *rows, Exchange *exchange, int message)
{
    const Plan *plan = rows->plan;
    if (message >= plan->messages || plan_owner(plan, message) != plan->rank) {
        return NULL;
    }
    double *cells = exchange_buffer(exchange);
    int count = rows_finish(rows, message, cells);
    if (plan_reader_count(plan, message) > 0) {
        exchange_send(exchange, message, count);
    }
    return cells;
}

/* Parts the changed rows: the one that the next message carries, if it is there, and the others. */
static RowRange take_next_row(const Plan *plan, int message, RowRange *changed)
{
    int next = plan_row(plan, message + 1);
    if (next < changed->first || next > changed->last) {
        return (RowRange){next, next - 1};
    }
    if (plan_is_elimination(plan, message)) {
        changed->first++;
    } else {
        changed->last--;
    }
    return (RowRange){next, next};
}

void solve(Rows *rows, Exchange *exchange, Progress *progress)
{
    const Plan *plan = rows->plan;
    exchange_begin(exchange);
    const double *own = send_own(rows, exchange, 0);
    for (int message = 0; message < plan->messages; message++) {
        const double *cells = own;
        if (plan_reads(plan, message)) {
            cells = exchange_receive(exchange, message);
        }
        /* Everybody waits for the next message: it leaves before the rest of this is applied. */
        RowRange rest = plan_changed(plan, message);
        RowRange next = take_next_row(plan, message, &rest);
        if (cells) {
            rows_apply(rows, message, cells, next);
        }
        own = send_own(rows, exchange, message + 1);
        if (cells) {
            rows_apply(rows, message, cells, rest);
        }
        progress_step(progress);
    }
    exchange_finish(exchange);
}
