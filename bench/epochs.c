/* SPDX-License-Identifier: BSD-3-Clause */
#include "epochs.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

/* The calls of <sidelight.h> that are used here; null on a host alone. */
static struct {
    int (*iwait)(MPI_Win, MPI_Request *);
    int (*icomplete)(MPI_Win, MPI_Request *);
    int (*iunlock)(int, MPI_Win, MPI_Request *);
    int (*ifence)(int, MPI_Win, MPI_Request *);
} calls;

bool epochs_can_be_nonblocking(void)
{
    return look_up("MPIX_Win_iwait", &calls.iwait) &&
           look_up("MPIX_Win_icomplete", &calls.icomplete) &&
           look_up("MPIX_Win_iunlock", &calls.iunlock) && look_up("MPIX_Win_ifence", &calls.ifence);
}

struct Epochs epochs_create(MPI_Win win, MPI_Comm comm, bool nonblocking)
{
    struct Epochs epochs = {.win = win, .nonblocking = nonblocking};
    MPI_Group all;
    MPI_Comm_group(comm, &all);
    MPI_Group_size(all, &epochs.count);
    if (epochs.count > MOST_MEMBERS) {
        fprintf(stderr, "epochs: at most %d members\n", MOST_MEMBERS);
        MPI_Abort(comm, 2);
    }
    for (int rank = 0; rank < epochs.count; ++rank) {
        MPI_Group_incl(all, 1, &rank, &epochs.members[rank]);
    }
    MPI_Group_free(&all);
    return epochs;
}

void epochs_free(struct Epochs *epochs)
{
    for (int rank = 0; rank < epochs->count; ++rank) {
        MPI_Group_free(&epochs->members[rank]);
    }
}

void epochs_begin(struct Epochs *epochs) { epochs->closed = 0; }

void epochs_post(struct Epochs *epochs, int origin)
{
    MPI_Win_post(epochs->members[origin], 0, epochs->win);
}

void epochs_start(struct Epochs *epochs, int target)
{
    MPI_Win_start(epochs->members[target], 0, epochs->win);
}

void epochs_lock(struct Epochs *epochs, int type, int target)
{
    MPI_Win_lock(type, target, 0, epochs->win);
}

void close_exposure(MPI_Win win, bool nonblocking, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (nonblocking) {
        calls.iwait(win, request);
    } else {
        MPI_Win_wait(win);
    }
}

void close_access(MPI_Win win, bool nonblocking, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (nonblocking) {
        calls.icomplete(win, request);
    } else {
        MPI_Win_complete(win);
    }
}

void close_lock(MPI_Win win, bool nonblocking, int target, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (nonblocking) {
        calls.iunlock(target, win, request);
    } else {
        MPI_Win_unlock(target, win);
    }
}

void close_fence(MPI_Win win, bool nonblocking, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (nonblocking) {
        calls.ifence(MPI_MODE_NOSUCCEED, win, request);
    } else {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
}

/* Where the request of the next epoch that is closed goes. */
static MPI_Request *next_request(struct Epochs *epochs)
{
    if (epochs->closed == MOST_CLOSED) {
        fprintf(stderr, "epochs: more than %d closed at once\n", MOST_CLOSED);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return &epochs->requests[epochs->closed];
}

/* The next epoch is closed; by a standard call, it is complete. */
static void note_closed(struct Epochs *epochs)
{
    epochs->done[epochs->closed++] = now_microseconds();
}

void epochs_wait(struct Epochs *epochs)
{
    close_exposure(epochs->win, epochs->nonblocking, next_request(epochs));
    note_closed(epochs);
}

void epochs_complete(struct Epochs *epochs)
{
    close_access(epochs->win, epochs->nonblocking, next_request(epochs));
    note_closed(epochs);
}

void epochs_unlock(struct Epochs *epochs, int target)
{
    close_lock(epochs->win, epochs->nonblocking, target, next_request(epochs));
    note_closed(epochs);
}

void epochs_fence(struct Epochs *epochs)
{
    close_fence(epochs->win, epochs->nonblocking, next_request(epochs));
    note_closed(epochs);
}

void epochs_finish(struct Epochs *epochs)
{
    int which = 0;
    while (MPI_Waitany(epochs->closed, epochs->requests, &which, MPI_STATUS_IGNORE) ==
               MPI_SUCCESS &&
           which != MPI_UNDEFINED) {
        epochs->done[which] = now_microseconds();
    }
}
