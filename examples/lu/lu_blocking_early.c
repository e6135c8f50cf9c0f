/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange as the MPI standard has it, put into the order that serves it best: a rank opens its
 * next exposure as soon as the last one is closed, before it computes. It cannot go further: one
 * exposure is open at most, and MPI_Win_complete still waits for a reader that is more than one
 * message behind, which only happens with three ranks or more.
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

const char *const exchange_program = "lu_blocking_early";

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

double *exchange_buffer(Exchange *exchange) { return ring_next_buffer(&exchange->ring); }

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

double exchange_mpi_seconds(const Exchange *exchange) { return exchange->clock.inside; }
