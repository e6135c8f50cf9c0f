/* SPDX-License-Identifier: BSD-3-Clause */
/* Null pointers where MPI wants memory: for data, for requests, for what a query tells. */
#include "wrong_calls.h"

#include <sidelight.h>

/* Which of the addresses of an operation is null. */
enum which { ORIGIN, RESULT, COMPARE };

static int without(struct window *w, enum operation operation, struct access a, enum which which)
{
    void *const o = which == ORIGIN ? NULL : origin_memory;
    void *const r = which == RESULT ? NULL : result_memory;
    void *const c = which == COMPARE ? NULL : result_memory;
    MPI_Request request = MPI_REQUEST_NULL;
    int const n = a.count, to = a.target;
    MPI_Datatype const t = a.type;
    MPI_Win const win = w->win;
    switch (operation) {
    case PUT:
        return MPI_Put(o, n, t, to, a.at, n, t, win);
    case GET:
        return MPI_Get(o, n, t, to, a.at, n, t, win);
    case ACCUMULATE:
        return MPI_Accumulate(o, n, t, to, a.at, n, t, a.op, win);
    case GET_ACCUMULATE:
        return MPI_Get_accumulate(o, n, t, r, n, t, to, a.at, n, t, a.op, win);
    case RPUT:
        return MPI_Rput(o, n, t, to, a.at, n, t, win, &request);
    case RGET:
        return MPI_Rget(o, n, t, to, a.at, n, t, win, &request);
    case RACCUMULATE:
        return MPI_Raccumulate(o, n, t, to, a.at, n, t, a.op, win, &request);
    case RGET_ACCUMULATE:
        return MPI_Rget_accumulate(o, n, t, r, n, t, to, a.at, n, t, a.op, win, &request);
    case FETCH_AND_OP:
        return MPI_Fetch_and_op(o, r, t, to, a.at, a.op, win);
    default:
        return MPI_Compare_and_swap(o, c, r, t, to, a.at, win);
    }
}

static bool has(enum operation operation, enum which which)
{
    bool const returns = operation == GET_ACCUMULATE || operation == RGET_ACCUMULATE ||
                         operation == FETCH_AND_OP || operation == COMPARE_AND_SWAP;
    return which == ORIGIN || (which == RESULT && returns) ||
           (which == COMPARE && operation == COMPARE_AND_SWAP);
}

static void data(struct window *w, int target)
{
    static char step[64];
    MPI_Datatype const types[] = {MPI_INT, MPI_INT64_T, MPI_DOUBLE};
    for (int o = 0; o < OPERATIONS; ++o)
        for (int which = ORIGIN; which <= COMPARE; ++which)
            for (int t = 0; t < (o == COMPARE_AND_SWAP ? 2 : 3); ++t)
                for (int count = 1; count <= (o < WITH_COUNT ? 5 : 1); count += 4) {
                    struct access const a = {target, cell_at(w, target, 8), count, types[t],
                                             MPI_SUM};
                    if (!has((enum operation)o, (enum which)which))
                        continue;
                    snprintf(step, sizeof step, "%s to %d, null address %d", operation_names[o],
                             target, which);
                    check_step(step);
                    CHECK_ERROR(without(w, (enum operation)o, a, (enum which)which),
                                MPI_ERR_BUFFER);
                }
    check_step("nothing from nowhere, and what is not read");
    for (int o = 0; o < WITH_COUNT; ++o) {
        struct access const none = {target, cell_at(w, target, 8), 0, MPI_INT, MPI_SUM};
        if (o < RPUT)
            CHECK_OK(without(w, (enum operation)o, none, ORIGIN));
    }
    CHECK_OK(MPI_Fetch_and_op(NULL, result_memory, MPI_INT, target, cell_at(w, target, 8),
                              MPI_NO_OP, w->win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, result_memory, 1, MPI_INT, target,
                                cell_at(w, target, 8), 1, MPI_INT, MPI_NO_OP, w->win));
}

/* A type of addresses belongs to MPI_BOTTOM, which is null on these hosts. */
static void bottom(struct window *w, int target)
{
    int length = 1, value = 0, old = 0;
    MPI_Aint address;
    MPI_Datatype type, basic = MPI_INT;
    MPI_Get_address(&value, &address);
    MPI_Type_create_struct(1, &length, &address, &basic, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Get(&old, 1, MPI_INT, target, cell_at(w, target, 8), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Get(MPI_BOTTOM, 1, type, target, cell_at(w, target, 8), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_EQ(value, old);
    CHECK_OK(MPI_Put(MPI_BOTTOM, 1, type, target, cell_at(w, target, 8), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    MPI_Type_free(&type);
}

static void queries(struct window *w, int target)
{
    MPI_Aint size, at = cell_at(w, target, 8);
    int unit, flag, value = 0;
    void *base;
    check_step("null requests");
    CHECK_ERROR(MPI_Rput(&value, 1, MPI_INT, target, at, 1, MPI_INT, w->win, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Rget(&value, 1, MPI_INT, target, at, 1, MPI_INT, w->win, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Win_iflush(target, w->win, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Win_iunlock(target, w->win, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Win_ifence(0, w->win, NULL), MPI_ERR_ARG);
    check_step("null flags and places for answers");
    CHECK_ERROR(MPI_Win_test(w->win, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_get_group(w->win, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_get_info(w->win, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_get_attr(w->win, MPI_WIN_SIZE, NULL, &flag), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_get_attr(w->win, MPI_WIN_SIZE, &base, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_shared_query(w->win, 0, NULL, &unit, &base), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_shared_query(w->win, 0, &size, NULL, &base), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_shared_query(w->win, 0, &size, &unit, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_free(NULL), MPI_ERR_ARG);
}

static void everything(struct window *w)
{
    int const target = (w->rank + 1) % w->size;
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    fill(w);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    data(w, target);
    bottom(w, target);
    queries(w, target);
    CHECK_OK(MPI_Win_unlock(target, w->win));
    check_usable(w, target);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (host_is_alone())
        return check_skip("the hosts do not check what is tested here");
    wrong_calls_begin();
    run_everywhere("null arguments", everything, BYTES, UNIT);
    return check_end();
}
