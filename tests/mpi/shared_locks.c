/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows made with sidelight_no_exclusive_locks: lock_all asks nobody, everything else is as it
 * was, and an exclusive lock is refused. */
#include "host_defects.h"

enum { CELLS = 8, ROUNDS = 20 };

static MPI_Info promise(const char *value)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "sidelight_no_exclusive_locks", value));
    return info;
}

static bool is_promised(MPI_Win win)
{
    char text[16] = "";
    int found = 0;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, "sidelight_no_exclusive_locks", sizeof text - 1, text, &found));
    MPI_Info_free(&info);
    return found && strcmp(text, "true") == 0;
}

static int64_t get(struct window *w, int target, int cell)
{
    int64_t value = -1;
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, target, window_at(w, target, 8 * cell), 1, MPI_INT64_T,
                     w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    return value;
}

/* Each target is used first by another call, some by none. */
static void used_one_by_one(struct window *w)
{
    int64_t values[ROUNDS], one = 1, seen = -1;
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    MPI_Request request;
    for (int k = 0; k < ROUNDS; ++k) {
        values[k] = 1000 * k + w->rank;
        CHECK_OK(MPI_Win_lock_all(k % 2 == 0 ? 0 : MPI_MODE_NOCHECK, w->win));
        CHECK_OK(MPI_Win_flush(left, w->win)); /* of nothing, to nobody so far */
        window_put(w, right, 0, &values[k]);
        CHECK_EQ(get(w, right, 0), values[k]);
        CHECK_OK(MPI_Rput(&values[k], 1, MPI_INT64_T, left, window_at(w, left, 8), 1, MPI_INT64_T,
                          w->win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_flush_all(w->win));
        CHECK_OK(MPI_Rget(&seen, 1, MPI_INT64_T, left, window_at(w, left, 8), 1, MPI_INT64_T,
                          w->win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(seen, values[k]);
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, window_at(w, 0, 16), 1, MPI_INT64_T,
                                MPI_SUM, w->win));
        CHECK_OK(MPI_Win_flush_local(0, w->win));
        CHECK_OK(MPI_Win_unlock_all(w->win));
        CHECK_OK(MPI_Win_lock_all(0, w->win)); /* of which nothing is used */
        CHECK_OK(MPI_Win_unlock_all(w->win));
    }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    CHECK_EQ(get(w, 0, 2), ROUNDS * w->size);
    CHECK_OK(MPI_Win_unlock(0, w->win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_EQ(get(w, w->rank, 0), 1000 * (ROUNDS - 1) + left);
    CHECK_EQ(get(w, w->rank, 1), 1000 * (ROUNDS - 1) + right);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    MPI_Barrier(w->comm);
}

/* Loads and stores of the program in its own memory, which others read and wait for. */
static void own_memory(struct window *w)
{
    int const left = (w->rank + w->size - 1) % w->size;
    int64_t const shown = 77 + w->rank;
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    memcpy(w->base + 8 * 3, &shown, sizeof shown);
    window_meet(w);
    CHECK_EQ(get(w, left, 3), 77 + left);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

static void refused(struct window *w)
{
    if (host_is_alone())
        return;
    CHECK(is_promised(w->win));
    MPI_Info later = promise("false");
    CHECK_OK(MPI_Win_set_info(w->win, later));
    MPI_Info_free(&later);
    CHECK(is_promised(w->win));
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    for (int target = 0; target < w->size; ++target)
        CHECK_ERROR(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win), MPI_ERR_LOCKTYPE);
    CHECK_ERROR(MPI_Win_unlock(0, w->win), MPI_ERR_RMA_SYNC);
    MPI_Barrier(w->comm);
}

/* One member alone has promised it: then all is as it always was. */
static void not_by_all(enum flavor flavor)
{
    int64_t const value = 5;
    MPI_Info info = promise(check_rank == 0 ? "true" : "false");
    struct window w = window_open_with(info, flavor, MPI_COMM_WORLD, 8 * CELLS, 1);
    MPI_Info_free(&info);
    if (check_size > 1) {
        CHECK(host_is_alone() || !is_promised(w.win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        window_put(&w, 0, 4, &value);
        CHECK_EQ(get(&w, 0, 4), value);
        CHECK_OK(MPI_Win_unlock(0, w.win));
    }
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        MPI_Info info = promise("true");
        struct window w = window_open_with(info, (enum flavor)flavor, MPI_COMM_WORLD, 8 * CELLS, 1);
        MPI_Info_free(&info);
        used_one_by_one(&w);
        own_memory(&w);
        refused(&w);
        window_close(&w);
        not_by_all((enum flavor)flavor);
    }
    return check_end();
}
