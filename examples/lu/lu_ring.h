/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that messages travel through and the groups that epochs are opened for. The ring
 * opens epochs and puts; closing them is what the two programs do differently, and do themselves.
 */
#ifndef LU_RING_H
#define LU_RING_H

#include "lu_plan.h"

#include <mpi.h>

/* Messages that may be on their way to one reader. */
enum { ring_slots = 16 };

typedef struct {
    const Plan *plan;
    int cells;         /* of one slot */
    MPI_Win win;       /* ring_slots slots at every rank */
    double *slots;     /* this rank's part of the window */
    double *buffers;   /* where this rank writes its own messages: as many */
    int buffer;        /* index of the buffer given last */
    MPI_Group *one;    /* [r] rank r alone */
    MPI_Group *after;  /* [c] the c ranks after this one, c >= 1 */
    MPI_Group *before; /* [c] the c ranks before it */
} Ring;

/* Collective. */
Ring ring_create(const Plan *plan, int cells, MPI_Info info, MPI_Comm comm);
void ring_free(Ring *ring);

/* Turns to the next buffer, and returns it. */
double *ring_next_buffer(Ring *ring);

/* Where a message lands at its readers. */
const double *ring_slot(const Ring *ring, int message);

/* Opens the exposure epoch for one message. */
void ring_expose(const Ring *ring, int message);

/* Opens the access epoch for one message and puts the current buffer to every reader. */
void ring_put(const Ring *ring, int message, int count);

#endif
