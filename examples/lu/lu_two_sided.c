/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange without one-sided calls, as well as it can be written: an owner sends to all readers
 * at once and goes on to compute, a reader has receives open for as many messages ahead as there
 * are slots. The same buffers and slots as the others.
 */
#include "lu_clock.h"
#include "lu_exchange.h"

#include <stddef.h>
#include <stdlib.h>

struct Exchange {
    const Plan *plan;
    MPI_Comm comm;
    int cells;                       /* of one slot */
    double *slots;                   /* where messages land */
    double *buffers;                 /* where this rank writes its own */
    int buffer;                      /* index of the buffer given last */
    int next;                        /* first message not yet received */
    MPI_Request arrival[ring_slots]; /* [slot] */
    MPI_Request *sent;               /* [buffer][reader] */
    MpiClock clock;
};

const char *const exchange_program = "lu_two_sided";

Exchange *exchange_create(const Plan *plan, int cells, MPI_Comm comm)
{
    Exchange *exchange = malloc(sizeof *exchange);
    const size_t bytes = (size_t)ring_slots * (size_t)cells * sizeof(double);
    const size_t sends = (size_t)ring_slots * (size_t)plan->ranks;
    *exchange = (Exchange){.plan = plan, .comm = comm, .cells = cells, .buffer = ring_slots - 1};
    exchange->slots = malloc(bytes);
    exchange->buffers = malloc(bytes);
    exchange->sent = malloc(sends * sizeof *exchange->sent);
    for (size_t i = 0; i < sends; i++) {
        exchange->sent[i] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < ring_slots; i++) {
        exchange->arrival[i] = MPI_REQUEST_NULL;
    }
    return exchange;
}

void exchange_free(Exchange *exchange)
{
    free(exchange->slots);
    free(exchange->buffers);
    free(exchange->sent);
    free(exchange);
}

/* Receives every message whose slot is free when `used` is the first message still in use. */
static void receive_ahead(Exchange *exchange, int used)
{
    const Plan *plan = exchange->plan;
    while (exchange->next < plan->messages && exchange->next < used + ring_slots) {
        const int slot = exchange->next % ring_slots;
        if (plan_reads(plan, exchange->next)) {
            MPI_Irecv(exchange->slots + (ptrdiff_t)slot * exchange->cells, exchange->cells,
                      MPI_DOUBLE, plan_owner(plan, exchange->next), slot, exchange->comm,
                      &exchange->arrival[slot]);
        }
        exchange->next++;
    }
}

void exchange_begin(Exchange *exchange)
{
    exchange->clock = (MpiClock){0};
    exchange->next = 0;
    mpi_clock_enter(&exchange->clock);
    receive_ahead(exchange, 0);
    mpi_clock_leave(&exchange->clock);
}

static MPI_Request *sends_of(const Exchange *exchange, int buffer)
{
    return exchange->sent + (ptrdiff_t)buffer * exchange->plan->ranks;
}

static double *buffer_of(const Exchange *exchange)
{
    return exchange->buffers + (ptrdiff_t)exchange->buffer * exchange->cells;
}

double *exchange_buffer(Exchange *exchange)
{
    exchange->buffer = (exchange->buffer + 1) % ring_slots;
    mpi_clock_enter(&exchange->clock);
    MPI_Waitall(exchange->plan->ranks, sends_of(exchange, exchange->buffer), MPI_STATUSES_IGNORE);
    mpi_clock_leave(&exchange->clock);
    return buffer_of(exchange);
}

void exchange_send(Exchange *exchange, int message, int count)
{
    const Plan *plan = exchange->plan;
    MPI_Request *sends = sends_of(exchange, exchange->buffer);
    mpi_clock_enter(&exchange->clock);
    for (int i = 0; i < plan_reader_count(plan, message); i++) {
        MPI_Isend(buffer_of(exchange), count, MPI_DOUBLE, plan_reader(plan, message, i),
                  message % ring_slots, exchange->comm, &sends[i]);
    }
    mpi_clock_leave(&exchange->clock);
}

const double *exchange_receive(Exchange *exchange, int message)
{
    const int slot = message % ring_slots;
    mpi_clock_enter(&exchange->clock);
    receive_ahead(exchange, message);
    MPI_Wait(&exchange->arrival[slot], MPI_STATUS_IGNORE);
    mpi_clock_leave(&exchange->clock);
    return exchange->slots + (ptrdiff_t)slot * exchange->cells;
}

void exchange_finish(Exchange *exchange)
{
    mpi_clock_enter(&exchange->clock);
    MPI_Waitall(ring_slots * exchange->plan->ranks, exchange->sent, MPI_STATUSES_IGNORE);
    mpi_clock_leave(&exchange->clock);
}

double exchange_mpi_seconds(const Exchange *exchange) { return exchange->clock.inside; }
