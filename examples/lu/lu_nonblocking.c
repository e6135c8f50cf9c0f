/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange with nonblocking closing calls. An owner closes its access epoch and goes on to
 * compute; it waits only when it needs the buffer again, ring_slots of its own messages later. A
 * reader opens and closes the exposures of all messages that have a free slot, far ahead, so that
 * no owner ever finds it late, and waits for each message only when it needs it.
 */
#include "lu_clock.h"
#include "lu_exchange.h"

#include <sidelight.h>
#include <stdlib.h>

struct Exchange {
    Ring ring;
    int next;                        /* first message not yet exposed */
    MPI_Request arrival[ring_slots]; /* [slot] exposure closed for the message there */
    MPI_Request sent[ring_slots];    /* [buffer] access closed for the message there */
    MpiClock clock;
};

const char *const exchange_program = "lu_nonblocking";

/*
 * All four reorder keys, by their short names (the long ones do not fit into an info key of
 * Open MPI). By default an epoch is activated when the one closed before it on the window is
 * complete. Here that is not just slower: the exposures that a rank has closed ahead complete only
 * with messages that depend on its own next one, so the access epoch of that one must be allowed to
 * overtake them (A_A_E_R). The other three keep one late neighbour from holding up all others. It
 * is safe because epochs that are pending together never touch the same memory: exposures are for
 * different slots, accesses read different buffers and write slots that the reader has set free,
 * and no rank puts into its own window.
 */
static MPI_Info reorder_info(void)
{
    static const char *const keys[] = {"sidelight_a_a_a_r", "sidelight_a_a_e_r",
                                       "sidelight_e_a_e_r", "sidelight_e_a_a_r"};
    MPI_Info info;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        MPI_Info_set(info, keys[i], "1");
    }
    return info;
}

Exchange *exchange_create(const Plan *plan, int cells, MPI_Comm comm)
{
    MPI_Info info = reorder_info();
    Exchange *exchange = malloc(sizeof *exchange);
    *exchange = (Exchange){.ring = ring_create(plan, cells, info, comm)};
    MPI_Info_free(&info);
    for (int i = 0; i < ring_slots; i++) {
        exchange->arrival[i] = exchange->sent[i] = MPI_REQUEST_NULL;
    }
    return exchange;
}

void exchange_free(Exchange *exchange)
{
    ring_free(&exchange->ring);
    free(exchange);
}

/* Opens and closes the exposures of every message whose slot is free when `used` is the first
 * message still in use. */
static void expose_ahead(Exchange *exchange, int used)
{
    const Plan *plan = exchange->ring.plan;
    while (exchange->next < plan->messages && exchange->next < used + ring_slots) {
        if (plan_reads(plan, exchange->next)) {
            ring_expose(&exchange->ring, exchange->next);
            MPIX_Win_iwait(exchange->ring.win, &exchange->arrival[exchange->next % ring_slots]);
        }
        exchange->next++;
    }
}

void exchange_begin(Exchange *exchange)
{
    exchange->clock = (MpiClock){0};
    exchange->next = 0;
    mpi_clock_enter(&exchange->clock);
    expose_ahead(exchange, 0);
    mpi_clock_leave(&exchange->clock);
}

double *exchange_buffer(Exchange *exchange)
{
    double *buffer = ring_next_buffer(&exchange->ring);
    mpi_clock_enter(&exchange->clock);
    MPI_Wait(&exchange->sent[exchange->ring.buffer], MPI_STATUS_IGNORE);
    mpi_clock_leave(&exchange->clock);
    return buffer;
}

void exchange_send(Exchange *exchange, int message, int count)
{
    mpi_clock_enter(&exchange->clock);
    ring_put(&exchange->ring, message, count);
    MPIX_Win_icomplete(exchange->ring.win, &exchange->sent[exchange->ring.buffer]);
    mpi_clock_leave(&exchange->clock);
}

const double *exchange_receive(Exchange *exchange, int message)
{
    mpi_clock_enter(&exchange->clock);
    expose_ahead(exchange, message);
    MPI_Wait(&exchange->arrival[message % ring_slots], MPI_STATUS_IGNORE);
    mpi_clock_leave(&exchange->clock);
    return ring_slot(&exchange->ring, message);
}

void exchange_finish(Exchange *exchange)
{
    mpi_clock_enter(&exchange->clock);
    for (int i = 0; i < ring_slots; i++) {
        MPI_Wait(&exchange->sent[i], MPI_STATUS_IGNORE);
    }
    mpi_clock_leave(&exchange->clock);
}

double exchange_mpi_seconds(const Exchange *exchange) { return exchange->clock.inside; }
