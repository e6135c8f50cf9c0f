/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How messages travel: each is put to its readers in a GATS epoch of its own (start, put, complete
 * at the owner; post, wait at the readers). lu_blocking.c, lu_blocking_early.c, lu_overlapping.c
 * and lu_nonblocking.c are sources of the functions below, and lu_two_sided.c, which sends and
 * receives in their place; the rest of the program does not know which of them it is linked with.
 *
 * Every rank calls them in the order of the messages. Message m lands in slot m mod slots of the
 * reader's window. A reader opens the exposure for a message only when it is done with the message
 * that had the slot before, so an owner, who can put only into an open exposure, never overwrites
 * what is still needed.
 */
#ifndef LU_EXCHANGE_H
#define LU_EXCHANGE_H

#include "lu_plan.h"
#include "lu_ring.h"

typedef struct Exchange Exchange;

/* What the report calls the program. */
extern const char *const exchange_program;

/* Collective: makes the window for messages of at most `cells` cells. */
Exchange *exchange_create(const Plan *plan, int cells, MPI_Comm comm);
void exchange_free(Exchange *exchange);

/* Before the first message of a solve. */
void exchange_begin(Exchange *exchange);

/* Where the owner writes its message. It may read it until its second
 * exchange_buffer after. */
double *exchange_buffer(Exchange *exchange);

/* Sends `count` cells of the buffer given last to the readers of the message. */
void exchange_send(Exchange *exchange, int message, int count);

/* Returns when the message is there. It may be read until the next exchange_receive. */
const double *exchange_receive(Exchange *exchange, int message);

/* After the last message of a solve: every epoch is complete. */
void exchange_finish(Exchange *exchange);

/* Seconds that this rank has spent inside MPI calls since exchange_begin. */
double exchange_mpi_seconds(const Exchange *exchange);

#endif
