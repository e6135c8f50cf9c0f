/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange with standard calls and overlap inside the epochs, as one is taught to write it: an
 * owner puts its message and leaves the access open while it computes, so that the transfer has
 * time; its next call closes it. Its readers pay for that: they wait until the epoch is closed,
 * though the data are long there (Late Complete).
 */
#include "lu_clock.h"
#include "lu_exchange.h"

#include <stdbool.h>
#include <stdlib.h>

struct Exchange {
    Ring ring;
    bool open; /* an access epoch */
    MpiClock clock;
};

const char *const exchange_program = "lu_overlapping";

Exchange *exchange_create(const Plan *plan, int cells, MPI_Comm comm)
{
    Exchange *exchange = malloc(sizeof *exchange);
    *exchange = (Exchange){.ring = ring_create(plan, cells, MPI_INFO_NULL, comm)};
    return exchange;
}

void exchange_free(Exchange *exchange)
{
    ring_free(&exchange->ring);
    free(exchange);
}

void exchange_begin(Exchange *exchange) { exchange->clock = (MpiClock){0}; }

/* Within the clock. */
static void close_access(Exchange *exchange)
{
    if (exchange->open) {
        MPI_Win_complete(exchange->ring.win);
        exchange->open = false;
    }
}

double *exchange_buffer(Exchange *exchange) { return ring_next_buffer(&exchange->ring); }

void exchange_send(Exchange *exchange, int message, int count)
{
    mpi_clock_enter(&exchange->clock);
    close_access(exchange);
    ring_put(&exchange->ring, message, count);
    exchange->open = true;
    mpi_clock_leave(&exchange->clock);
}

const double *exchange_receive(Exchange *exchange, int message)
{
    mpi_clock_enter(&exchange->clock);
    close_access(exchange);
    ring_expose(&exchange->ring, message);
    MPI_Win_wait(exchange->ring.win);
    mpi_clock_leave(&exchange->clock);
    return ring_slot(&exchange->ring, message);
}

void exchange_finish(Exchange *exchange)
{
    mpi_clock_enter(&exchange->clock);
    close_access(exchange);
    mpi_clock_leave(&exchange->clock);
}

double exchange_mpi_seconds(const Exchange *exchange) { return exchange->clock.inside; }
