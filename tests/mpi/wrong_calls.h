/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong programs get the error class that MPI names, touch nobody's memory, and can go on: what the
 * programs that show it share. Each window's memory is filled with a pattern of its owner, a wrong
 * call that writes at all writes other bytes, and in the end the pattern must be whole.
 */
#ifndef SIDELIGHT_TESTS_WRONG_CALLS_H
#define SIDELIGHT_TESTS_WRONG_CALLS_H

#include "host_defects.h"
#include <limits.h>

enum { BYTES = 256, UNIT = 4, CELLS = BYTES / UNIT, LARGE = 1 << 16 };

enum operation {
    PUT,
    GET,
    ACCUMULATE,
    GET_ACCUMULATE,
    RPUT,
    RGET,
    RACCUMULATE,
    RGET_ACCUMULATE,
    WITH_COUNT,
    FETCH_AND_OP = WITH_COUNT,
    COMPARE_AND_SWAP,
    OPERATIONS
};

static const char *const operation_names[OPERATIONS] = {
    "put",  "get",         "accumulate",      "get_accumulate", "rput",
    "rget", "raccumulate", "rget_accumulate", "fetch_and_op",   "compare_and_swap"};

/* Where an operation goes, and with what. */
struct access {
    int target;
    MPI_Aint at;
    int count;
    MPI_Datatype type;
    MPI_Op op;
};

static unsigned char origin_memory[LARGE], result_memory[LARGE];

/* Buffers large enough for whatever the type reaches, before and after their middle. */
static inline int issue(struct window *w, enum operation operation, struct access a)
{
    void *const o = origin_memory + LARGE / 2, *const r = result_memory + LARGE / 2;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS, n = a.count;
    MPI_Datatype const t = a.type;
    MPI_Win const win = w->win;
    switch (operation) {
    case PUT:
        return MPI_Put(o, n, t, a.target, a.at, n, t, win);
    case GET:
        return MPI_Get(r, n, t, a.target, a.at, n, t, win);
    case ACCUMULATE:
        return MPI_Accumulate(o, n, t, a.target, a.at, n, t, a.op, win);
    case GET_ACCUMULATE:
        return MPI_Get_accumulate(o, n, t, r, n, t, a.target, a.at, n, t, a.op, win);
    case RPUT:
        code = MPI_Rput(o, n, t, a.target, a.at, n, t, win, &request);
        break;
    case RGET:
        code = MPI_Rget(r, n, t, a.target, a.at, n, t, win, &request);
        break;
    case RACCUMULATE:
        code = MPI_Raccumulate(o, n, t, a.target, a.at, n, t, a.op, win, &request);
        break;
    case RGET_ACCUMULATE:
        code = MPI_Rget_accumulate(o, n, t, r, n, t, a.target, a.at, n, t, a.op, win, &request);
        break;
    case FETCH_AND_OP:
        return MPI_Fetch_and_op(o, r, t, a.target, a.at, a.op, win);
    default:
        return MPI_Compare_and_swap(o, r, r, t, a.target, a.at, win);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        CHECK(request == MPI_REQUEST_NULL);
    return code;
}

static inline struct access at_cell(int target, MPI_Aint cell, int count)
{
    return (struct access){target, cell, count, MPI_INT, MPI_SUM};
}

static inline MPI_Aint cell_at(const struct window *w, int target, MPI_Aint cell)
{
    return w->flavor == FLAVOR_DYNAMIC ? w->origin[target] + UNIT * cell : cell;
}

/* Nobody but the target knows what is attached there, so of a place in a dynamic window the call
 * tells, or the flush. */
static inline bool is_told_later(const struct window *w, int class)
{
    return w->flavor == FLAVOR_DYNAMIC && class == MPI_ERR_RMA_RANGE;
}

static inline void expect(struct window *w, enum operation operation, struct access a, int class)
{
    static char step[64];
    snprintf(step, sizeof step, "%s to %d at %lld", operation_names[operation], a.target,
             (long long)a.at);
    check_step(step);
    int code = issue(w, operation, a);
    if (code == MPI_SUCCESS && is_told_later(w, class))
        code = MPI_Win_flush(a.target, w->win);
    CHECK_ERROR(code, class);
}

static inline void expect_all(struct window *w, struct access a, int class)
{
    for (int o = 0; o < OPERATIONS; ++o)
        expect(w, (enum operation)o, a, class);
}

static inline void fill(struct window *w)
{
    for (int i = 0; i < BYTES; ++i)
        w->base[i] = (unsigned char)(37 * w->rank + i);
}

static inline void check_untouched(struct window *w)
{
    bool whole = true;
    CHECK_OK(MPI_Win_sync(w->win));
    MPI_Barrier(w->comm);
    for (int i = 0; i < BYTES; ++i)
        whole = whole && w->base[i] == (unsigned char)(37 * w->rank + i);
    CHECK(whole);
    if (!whole)
        fill(w);
    MPI_Barrier(w->comm);
}

/* An epoch with a put, a get and the old value put back. */
static inline void check_usable(struct window *w, int target)
{
    int const mark = 4242;
    int old = 0, seen = 0;
    MPI_Aint const at = cell_at(w, target, 9);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
    CHECK_OK(MPI_Get(&old, 1, MPI_INT, target, at, 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Put(&mark, 1, MPI_INT, target, at, 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT, target, at, 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Put(&old, 1, MPI_INT, target, at, 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_unlock(target, w->win));
    CHECK_EQ(seen, mark);
    check_untouched(w);
}

/* Errors return, and what is wrongly written is seen. */
static inline void wrong_calls_begin(void)
{
    memset(origin_memory, 0xEE, sizeof origin_memory);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

#endif /* SIDELIGHT_TESTS_WRONG_CALLS_H */
