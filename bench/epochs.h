/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epochs closed by standard calls or by nonblocking ones, from the same source: the roles of
 * patterns.c and the programs beside it do not know which.
 *
 * The nonblocking calls are looked up while the program runs, so that it is linked to the host
 * alone and runs there with standard calls.
 */
#ifndef BENCH_EPOCHS_H
#define BENCH_EPOCHS_H

#include "measure.h"

#include <mpi.h>
#include <stdbool.h>

enum { MOST_MEMBERS = 8, MOST_CLOSED = 8 };

/* The epochs of this process on a window, one after another. */
struct Epochs {
    MPI_Win win;
    bool nonblocking;
    MPI_Group members[MOST_MEMBERS]; /* each alone, by rank */
    int count;
    /* Since epochs_begin, in the order in which they were closed. */
    MPI_Request requests[MOST_CLOSED];
    double done[MOST_CLOSED]; /* when each was seen complete, in microseconds of the clock */
    int closed;
};

/* Whether the nonblocking calls are there: the program runs under Sidelight. */
bool epochs_can_be_nonblocking(void);

/* What closes an epoch: a nonblocking call, or the standard one, with a null request. */
void close_exposure(MPI_Win win, bool nonblocking, MPI_Request *request);
void close_access(MPI_Win win, bool nonblocking, MPI_Request *request);
void close_lock(MPI_Win win, bool nonblocking, int target, MPI_Request *request);
void close_fence(MPI_Win win, bool nonblocking, MPI_Request *request);

/* Collective over the communicator of the window, of at most MOST_MEMBERS. */
struct Epochs epochs_create(MPI_Win win, MPI_Comm comm, bool nonblocking);
void epochs_free(struct Epochs *epochs);

void epochs_begin(struct Epochs *epochs);

void epochs_post(struct Epochs *epochs, int origin);
void epochs_start(struct Epochs *epochs, int target);
void epochs_lock(struct Epochs *epochs, int type, int target);

/* Close an epoch: standard calls return when it is complete, nonblocking ones at once. */
void epochs_wait(struct Epochs *epochs);
void epochs_complete(struct Epochs *epochs);
void epochs_unlock(struct Epochs *epochs, int target);
void epochs_fence(struct Epochs *epochs);

/* Returns when all that was closed since epochs_begin is complete. */
void epochs_finish(struct Epochs *epochs);

#endif
