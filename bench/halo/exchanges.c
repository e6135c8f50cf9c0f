/* SPDX-License-Identifier: BSD-3-Clause */
#include "../epochs.h"
#include "../measure.h"
#include "grid.h"

#include <sidelight_notify.h>

/* --- Sends and receives ----------------------------------------------------------------------- */

static void begin_persistent(struct Halo *halo)
{
    for (int side = 0; side < SIDES; ++side) {
        MPI_Recv_init(of_side(halo->places[0], side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                      side ^ 1, halo->grid, &halo->requests[side]);
        MPI_Send_init(of_side(halo->edges, side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                      side, halo->grid, &halo->requests[SIDES + side]);
    }
}

static void exchange_persistent(struct Halo *halo)
{
    MPI_Startall(2 * SIDES, halo->requests);
    MPI_Waitall(2 * SIDES, halo->requests, MPI_STATUSES_IGNORE);
}

static void end_persistent(struct Halo *halo)
{
    for (int i = 0; i < 2 * SIDES; ++i) {
        MPI_Request_free(&halo->requests[i]);
    }
}

static void exchange_isend(struct Halo *halo)
{
    for (int side = 0; side < SIDES; ++side) {
        MPI_Irecv(of_side(halo->places[0], side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                  side ^ 1, halo->grid, &halo->requests[side]);
    }
    for (int side = 0; side < SIDES; ++side) {
        MPI_Isend(of_side(halo->edges, side), halo->bytes, MPI_BYTE, halo->neighbours[side], side,
                  halo->grid, &halo->requests[SIDES + side]);
    }
    MPI_Waitall(2 * SIDES, halo->requests, MPI_STATUSES_IGNORE);
}

/* The receives of the next exchange, into the place that has been read. */
static void receive_ahead(struct Halo *halo)
{
    const int next = halo->turn ^ 1;
    for (int side = 0; side < SIDES; ++side) {
        MPI_Irecv(of_side(halo->places[next], side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                  side ^ 1, halo->grid, &halo->receiving[next][side]);
    }
}

static void send_and_wait(struct Halo *halo)
{
    for (int side = 0; side < SIDES; ++side) {
        MPI_Isend(of_side(halo->edges, side), halo->bytes, MPI_BYTE, halo->neighbours[side], side,
                  halo->grid, &halo->requests[side]);
    }
    MPI_Waitall(SIDES, halo->receiving[halo->turn], MPI_STATUSES_IGNORE);
    MPI_Waitall(SIDES, halo->requests, MPI_STATUSES_IGNORE);
}

static void exchange_isend_ahead(struct Halo *halo)
{
    halo->turn ^= 1;
    receive_ahead(halo);
    send_and_wait(halo);
}

static void end_isend_ahead(struct Halo *halo)
{
    halo->turn ^= 1;
    send_and_wait(halo);
}

/* --- Epochs of post, start, complete and wait ------------------------------------------------- */

static void start_and_put(struct Halo *halo)
{
    const MPI_Win win = halo->wins[halo->turn];
    MPI_Win_start(halo->group, 0, win);
    for (int side = 0; side < SIDES; ++side) {
        MPI_Put(of_side(halo->edges, side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                (MPI_Aint)(side ^ 1) * LARGEST_EDGE, halo->bytes, MPI_BYTE, win);
    }
}

static void exchange_by_epochs(struct Halo *halo, bool nonblocking)
{
    MPI_Win_post(halo->group, 0, halo->wins[0]);
    start_and_put(halo);
    close_access(halo->wins[0], nonblocking, &halo->requests[0]);
    close_exposure(halo->wins[0], nonblocking, &halo->requests[1]);
    MPI_Waitall(2, halo->requests, MPI_STATUSES_IGNORE);
}

static void exchange_gats(struct Halo *halo) { exchange_by_epochs(halo, false); }

static void exchange_nonblocking(struct Halo *halo) { exchange_by_epochs(halo, true); }

/* The exposure of the next exchange, whose place has been read, is posted before the data of this
 * one leave: the neighbours' grants are there when they are wanted. */
static void begin_ahead(struct Halo *halo)
{
    MPI_Win_post(halo->group, 0, halo->wins[halo->turn ^ 1]);
}

static void exchange_ahead(struct Halo *halo)
{
    halo->turn ^= 1;
    begin_ahead(halo);
    start_and_put(halo);
    MPI_Win_complete(halo->wins[halo->turn]);
    MPI_Win_wait(halo->wins[halo->turn]);
}

static void end_ahead(struct Halo *halo)
{
    MPI_Win_start(halo->group, 0, halo->wins[halo->turn ^ 1]);
    MPI_Win_complete(halo->wins[halo->turn ^ 1]);
    MPI_Win_wait(halo->wins[halo->turn ^ 1]);
}

/* --- Notified puts ---------------------------------------------------------------------------- */

static struct {
    int (*put)(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, int, MPI_Win);
    int (*threshold)(MPI_Win, int, MPI_Count, MPI_Request *);
    int (*number)(MPI_Win, MPI_Info, int);
} notified;

static bool notifications_are_there(void)
{
    return look_up("MPI_Put_notify", &notified.put) &&
           look_up("MPIX_Win_notify_ithreshold", &notified.threshold) &&
           look_up("MPI_Win_set_num_notify", &notified.number);
}

/* Each side has a counter of its own: a neighbour that is an exchange ahead is not taken for
 * another one. */
static void begin_notified(struct Halo *halo)
{
    for (int turn = 0; turn < TURNS; ++turn) {
        notified.number(halo->wins[turn], MPI_INFO_NULL, SIDES);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, halo->wins[turn]);
    }
    halo->counted = 0;
}

/* No neighbour is more than one exchange ahead, as it waits for this process's edge; so it never
 * writes where this process still reads. */
static void exchange_notified(struct Halo *halo)
{
    halo->turn ^= 1;
    halo->counted += halo->turn; /* counts pairs of exchanges, one on each window */
    const MPI_Win win = halo->wins[halo->turn];
    for (int side = 0; side < SIDES; ++side) {
        notified.put(of_side(halo->edges, side), halo->bytes, MPI_BYTE, halo->neighbours[side],
                     (MPI_Aint)(side ^ 1) * LARGEST_EDGE, halo->bytes, MPI_BYTE, side ^ 1, win);
    }
    for (int side = 0; side < SIDES; ++side) {
        if (halo->neighbours[side] != MPI_PROC_NULL) {
            notified.threshold(win, side, halo->counted, &halo->requests[0]);
            MPI_Wait(&halo->requests[0], MPI_STATUS_IGNORE);
        }
    }
    MPI_Win_flush_local_all(win);
}

static void end_notified(struct Halo *halo)
{
    for (int turn = 0; turn < TURNS; ++turn) {
        MPI_Win_unlock_all(halo->wins[turn]);
    }
    halo->turn = 0;
}

const struct Way ways[WAYS] = {
    {"persistent", NULL, begin_persistent, exchange_persistent, end_persistent},
    {"isend", NULL, NULL, exchange_isend, NULL},
    {"isend_ahead", NULL, receive_ahead, exchange_isend_ahead, end_isend_ahead},
    {"gats", NULL, NULL, exchange_gats, NULL},
    {"nonblocking", epochs_can_be_nonblocking, NULL, exchange_nonblocking, NULL},
    {"ahead", NULL, begin_ahead, exchange_ahead, end_ahead},
    {"notified", notifications_are_there, begin_notified, exchange_notified, end_notified},
};
