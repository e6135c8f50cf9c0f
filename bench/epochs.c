/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "epochs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The calls of <sidelight.h> that are used here; null on a host alone. */
static struct {
    int (*iwait)(MPI_Win, MPI_Request *);
    int (*icomplete)(MPI_Win, MPI_Request *);
    int (*iunlock)(int, MPI_Win, MPI_Request *);
    int (*ifence)(int, MPI_Win, MPI_Request *);
} calls;

/* ISO C has no conversion from what dlsym returns to a function. */
static void look_up(const char *name, void *call, size_t size)
{
    void *const address = dlsym(RTLD_DEFAULT, name);
    memcpy(call, &address, size);
}

bool epochs_can_be_nonblocking(void)
{
    look_up("MPIX_Win_iwait", &calls.iwait, sizeof calls.iwait);
    look_up("MPIX_Win_icomplete", &calls.icomplete, sizeof calls.icomplete);
    look_up("MPIX_Win_iunlock", &calls.iunlock, sizeof calls.iunlock);
    look_up("MPIX_Win_ifence", &calls.ifence, sizeof calls.ifence);
    return calls.iwait && calls.icomplete && calls.iunlock && calls.ifence;
}

double now_microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
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

/* Where the nonblocking call that closes an epoch puts its request. */
static MPI_Request *next_request(struct Epochs *epochs)
{
    if (epochs->closed == MOST_CLOSED) {
        fprintf(stderr, "epochs: more than %d closed at once\n", MOST_CLOSED);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return &epochs->requests[epochs->closed++];
}

/* A standard call has closed the epoch, and it is complete. */
static void note_complete(struct Epochs *epochs)
{
    *next_request(epochs) = MPI_REQUEST_NULL;
    epochs->done[epochs->closed - 1] = now_microseconds();
}

void epochs_wait(struct Epochs *epochs)
{
    if (epochs->nonblocking) {
        calls.iwait(epochs->win, next_request(epochs));
    } else {
        MPI_Win_wait(epochs->win);
        note_complete(epochs);
    }
}

void epochs_complete(struct Epochs *epochs)
{
    if (epochs->nonblocking) {
        calls.icomplete(epochs->win, next_request(epochs));
    } else {
        MPI_Win_complete(epochs->win);
        note_complete(epochs);
    }
}

void epochs_unlock(struct Epochs *epochs, int target)
{
    if (epochs->nonblocking) {
        calls.iunlock(target, epochs->win, next_request(epochs));
    } else {
        MPI_Win_unlock(target, epochs->win);
        note_complete(epochs);
    }
}

void epochs_fence(struct Epochs *epochs)
{
    if (epochs->nonblocking) {
        calls.ifence(MPI_MODE_NOSUCCEED, epochs->win, next_request(epochs));
    } else {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, epochs->win);
        note_complete(epochs);
    }
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
