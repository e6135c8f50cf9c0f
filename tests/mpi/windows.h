/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of every flavour behind one face, so that a test runs on all of them. */
#ifndef SIDELIGHT_TESTS_WINDOWS_H
#define SIDELIGHT_TESTS_WINDOWS_H

#include "check.h"

enum flavor { FLAVOR_ALLOCATE, FLAVOR_SHARED, FLAVOR_CREATE, FLAVOR_DYNAMIC, FLAVORS };

static const char *const flavor_names[FLAVORS] = {"allocate", "allocate_shared", "create",
                                                  "dynamic"};

enum { WINDOW_MOST_RANKS = 64 };

struct window {
    MPI_Win win;
    MPI_Comm comm;
    enum flavor flavor;
    int rank, size; /* in comm */
    int unit;       /* displacement unit; 1 on dynamic windows whatever was asked */
    unsigned char *base;
    MPI_Aint bytes;
    MPI_Aint origin[WINDOW_MOST_RANKS]; /* displacement of each rank's first byte */
};

static inline void window_take_memory(struct window *w, MPI_Info info)
{
    switch (w->flavor) {
    case FLAVOR_ALLOCATE:
        CHECK_OK(MPI_Win_allocate(w->bytes, w->unit, info, w->comm, &w->base, &w->win));
        break;
    case FLAVOR_SHARED:
        CHECK_OK(MPI_Win_allocate_shared(w->bytes, w->unit, info, w->comm, &w->base, &w->win));
        break;
    case FLAVOR_CREATE:
        w->base = malloc((size_t)w->bytes);
        CHECK_OK(MPI_Win_create(w->base, w->bytes, w->unit, info, w->comm, &w->win));
        break;
    default:
        w->unit = 1;
        w->base = malloc((size_t)w->bytes);
        CHECK_OK(MPI_Win_create_dynamic(info, w->comm, &w->win));
        CHECK_OK(MPI_Win_attach(w->win, w->base, w->bytes));
        break;
    }
}

static inline bool window_is_on_one_node(MPI_Comm comm)
{
    MPI_Comm node;
    int here = 0, all = 0;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_size(comm, &all);
    MPI_Comm_free(&node);
    return here == all;
}

/* Collective over comm; memory starts as zeros. Memory can be shared on one node alone: across
 * nodes the window is an allocated one instead, and says so. */
static inline struct window window_open_with(MPI_Info info, enum flavor flavor, MPI_Comm comm,
                                             MPI_Aint bytes, int unit)
{
    MPI_Aint first = 0;
    if (flavor == FLAVOR_SHARED && !window_is_on_one_node(comm))
        flavor = FLAVOR_ALLOCATE;
    struct window w = {.comm = comm, .flavor = flavor, .unit = unit, .bytes = bytes};
    MPI_Comm_rank(comm, &w.rank);
    MPI_Comm_size(comm, &w.size);
    window_take_memory(&w, info);
    memset(w.base, 0, (size_t)bytes);
    if (flavor == FLAVOR_DYNAMIC)
        MPI_Get_address(w.base, &first);
    MPI_Allgather(&first, 1, MPI_AINT, w.origin, 1, MPI_AINT, comm);
    return w;
}

static inline struct window window_open(enum flavor flavor, MPI_Comm comm, MPI_Aint bytes, int unit)
{
    return window_open_with(MPI_INFO_NULL, flavor, comm, bytes, unit);
}

/* Collective over the window's communicator. */
static inline void window_close(struct window *w)
{
    MPI_Barrier(w->comm);
    if (w->flavor == FLAVOR_DYNAMIC)
        CHECK_OK(MPI_Win_detach(w->win, w->base));
    CHECK_OK(MPI_Win_free(&w->win));
    CHECK(w->win == MPI_WIN_NULL);
    if (w->flavor == FLAVOR_DYNAMIC || w->flavor == FLAVOR_CREATE)
        free(w->base);
}

/* The displacement that means offset bytes into the memory of a rank. */
static inline MPI_Aint window_at(const struct window *w, int rank, MPI_Aint offset)
{
    return w->origin[rank] + offset / w->unit;
}

/* A number in this rank's own memory. */
static inline int64_t window_cell(const struct window *w, int index)
{
    int64_t value;
    memcpy(&value, w->base + 8 * index, sizeof value);
    return value;
}

/* A put to such a number of a rank. */
static inline void window_put(const struct window *w, int target, int index, const int64_t *value)
{
    CHECK_OK(MPI_Put(value, 1, MPI_INT64_T, target, window_at(w, target, 8 * index), 1, MPI_INT64_T,
                     w->win));
}

/* The neighbours in a ring of all ranks. */
static inline int window_left_of(const struct window *w)
{
    return (w->rank + w->size - 1) % w->size;
}
static inline int window_right_of(const struct window *w) { return (w->rank + 1) % w->size; }

/* All ranks have finished what they did and may look at their own memory. */
static inline void window_meet(const struct window *w)
{
    MPI_Win_flush_all(w->win);
    MPI_Win_sync(w->win);
    MPI_Barrier(w->comm);
    MPI_Win_sync(w->win);
}

/* All that this rank has asked of a target, on any window, has arrived there. Needed before a
 * message of MPI's own says so: that may be faster where windows travel over a network. `order` is
 * a window in a lock_all epoch; what two processes ask of each other is taken in order. */
static inline void window_arrive(const struct window *order, int target)
{
    int64_t const nothing = 0;
    CHECK_OK(MPI_Accumulate(&nothing, 1, MPI_INT64_T, target, window_at(order, target, 0), 1,
                            MPI_INT64_T, MPI_SUM, order->win));
    CHECK_OK(MPI_Win_flush(target, order->win));
}

/* Collective: a window for window_arrive(). */
static inline struct window window_open_order(MPI_Comm comm)
{
    struct window const order = window_open(FLAVOR_ALLOCATE, comm, 8, 8);
    CHECK_OK(MPI_Win_lock_all(0, order.win));
    return order;
}

static inline void window_close_order(struct window *order)
{
    CHECK_OK(MPI_Win_unlock_all(order->win));
    window_close(order);
}

#endif /* SIDELIGHT_TESTS_WINDOWS_H */
