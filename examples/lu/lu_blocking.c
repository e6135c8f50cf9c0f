/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange as the MPI standard has it. A rank has one exposure epoch open at most, because the
 * next one can be opened only after MPI_Win_wait; it opens it at once then, before it computes, so
 * that no owner waits in MPI_Win_complete for a reader that computes.
 */
#include "lu_clock.h"
#include "lu_exchange.h"

#include <stdlib.h>

struct Exchange {
    Ring ring;
    int exposed; /* the message that the open exposure is for, or `none` */
    MpiClock clock;
};

enum { none = -1 };

const char *const exchange_program = "lu_blocking";

Exchange *exchange_create(const Plan *plan, int cells, MPI_Comm comm)
{
    Exchange *exchange = malloc(sizeof *exchange);
    *exchange = (Exchange){.ring = ring_create(plan, cells, MPI_INFO_NULL, comm), .exposed = none};
    return exchange;
}

void exchange_free(Exchange *exchange)
{
    ring_free(&exchange->ring);
    free(exchange);
}

/* Opens the exposure for the first message from `next` on that this rank reads, unless its slot
 * still holds one that is in use: message `used` or a later one. */
static void expose_next(Exchange *exchange, int next, int used)
{
    int message = plan_next_read(exchange->ring.plan, next);
    exchange->exposed = none;
    if (message < exchange->ring.plan->messages && message < used + ring_slots) {
        ring_expose(&exchange->ring, message);
        exchange->exposed = message;
    }
}

void exchange_begin(Exchange *exchange)
{
    exchange->clock = (MpiClock){0};
    mpi_clock_enter(&exchange->clock);
    expose_next(exchange, 0, 0);
    mpi_clock_leave(&exchange->clock);
}

double *exchange_buffer(Exchange *exchange)
{
    return ring_next_buffer(&exchange->ring);
}

void exchange_send(Exchange *exchange, int message, int count)
{
    mpi_clock_enter(&exchange->clock);
    ring_put(&exchange->ring, message, count);
    MPI_Win_complete(exchange->ring.win);
    mpi_clock_leave(&exchange->clock);
}

const double *exchange_receive(Exchange *exchange, int message)
{
    mpi_clock_enter(&exchange->clock);
    if (exchange->exposed == none) {
        expose_next(exchange, message, message);
    }
    MPI_Win_wait(exchange->ring.win);
    expose_next(exchange, message + 1, message);
    mpi_clock_leave(&exchange->clock);
    return ring_slot(&exchange->ring, message);
}

void exchange_finish(Exchange *exchange)
{
    (void)exchange; /* each call above has completed its epoch */
}

double exchange_mpi_seconds(const Exchange *exchange)
{
    return exchange->clock.inside;
}
