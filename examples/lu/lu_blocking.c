/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange as the MPI standard has it, each call where it is needed: a reader opens the
 * exposure for a message and waits for it, an owner puts its message and closes the access. An
 * owner whose reader still computes waits for it in MPI_Win_complete, though it has work to do
 * itself.
 */
#include "lu_clock.h"
#include "lu_exchange.h"

#include <stdlib.h>

struct Exchange {
    Ring ring;
    MpiClock clock;
};

const char *const exchange_program = "lu_blocking";

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
    ring_expose(&exchange->ring, message);
    MPI_Win_wait(exchange->ring.win);
    mpi_clock_leave(&exchange->clock);
    return ring_slot(&exchange->ring, message);
}

void exchange_finish(Exchange *exchange)
{
    (void)exchange; /* each call above has completed its epoch */
}

double exchange_mpi_seconds(const Exchange *exchange) { return exchange->clock.inside; }
