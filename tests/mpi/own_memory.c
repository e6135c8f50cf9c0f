/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A target that does nothing but ask its own memory for what a peer writes there: every call of its
 * is complete at once, and the peer's operation must come through all the same.
 */
#include "windows.h"

enum { ROUNDS = 20 };

static int64_t peek(struct window *w)
{
    int64_t value = -1;
    CHECK_OK(MPI_Fetch_and_op(NULL, &value, MPI_INT64_T, w->rank, w->origin[w->rank], MPI_NO_OP,
                              w->win));
    return value;
}

static int64_t ask_by_lock(struct window *w, int assertion)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, assertion, w->win));
    int64_t const value = peek(w);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    return value;
}

static int64_t ask_by_flush(struct window *w, bool local)
{
    int64_t const value = peek(w);
    CHECK_OK(local ? MPI_Win_flush_local(w->rank, w->win) : MPI_Win_flush(w->rank, w->win));
    return value;
}

static int64_t ask_by_request(struct window *w)
{
    int64_t value = -1, nothing = 0;
    MPI_Request request;
    CHECK_OK(MPI_Rget_accumulate(&nothing, 1, MPI_INT64_T, &value, 1, MPI_INT64_T, w->rank,
                                 w->origin[w->rank], 1, MPI_INT64_T, MPI_NO_OP, w->win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return value;
}

static int64_t ask(struct window *w, int way)
{
    switch (way) {
    case 0:
        return ask_by_lock(w, 0);
    case 1:
        return ask_by_lock(w, MPI_MODE_NOCHECK);
    case 2:
        return ask_by_request(w);
    default:
        return ask_by_flush(w, way == 3);
    }
}

/* All ranks tell the next one each number, and wait for it from the one before. */
static void pass_on(struct window *w, int way)
{
    int const next = (w->rank + 1) % w->size;
    bool const open = way >= 2;
    static const char *const ways[] = {"lock", "lock without check", "request", "local flush",
                                       "flush"};
    check_step(ways[way]);
    MPI_Barrier(w->comm);
    if (open)
        CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int64_t k = way * ROUNDS + 1; k <= (way + 1) * ROUNDS; ++k) {
        if (!open)
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w->win));
        CHECK_OK(MPI_Accumulate(&k, 1, MPI_INT64_T, next, w->origin[next], 1, MPI_INT64_T,
                                MPI_REPLACE, w->win));
        CHECK_OK(open ? MPI_Win_flush(next, w->win) : MPI_Win_unlock(next, w->win));
        while (ask(w, way) < k)
            continue;
    }
    if (open)
        CHECK_OK(MPI_Win_unlock_all(w->win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (enum flavor flavor = 0; flavor < FLAVORS; ++flavor) {
        struct window w = window_open(flavor, MPI_COMM_WORLD, 8, 8);
        for (int way = 0; way < 5; ++way)
            pass_on(&w, way);
        window_close(&w);
    }
    return check_end();
}
