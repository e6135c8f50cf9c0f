/* SPDX-License-Identifier: BSD-3-Clause */
/* More ranks than cores: a wait that finds nothing gives the core away, so all of this ends. */
#include "host_defects.h"

enum { FENCES = 300, LAPS = 100, LOCKS = 100, CELLS = 64 };

static void fences(struct window *w)
{
    check_step("fences");
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int64_t k = 0; k < FENCES; ++k) {
        int64_t const value = 100 * k + w->rank;
        for (int target = 0; target < w->size; ++target)
            window_put(w, target, w->rank, &value);
        CHECK_OK(MPI_Win_fence(0, w->win));
        for (int origin = 0; origin < w->size; ++origin)
            CHECK_EQ(window_cell(w, origin), 100 * k + origin);
        CHECK_OK(MPI_Win_fence(0, w->win));
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* A token goes around: each waits for its left, then opens its right. All but one wait. */
static void token(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    MPI_Group from = check_group(1, &left), to = check_group(1, &right);
    check_step("a token around a ring");
    for (int64_t k = 0; k < LAPS; ++k) {
        int64_t const value = 1000 * k + w->rank;
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        if (w->rank != 0) {
            CHECK_OK(MPI_Win_wait(w->win));
            CHECK_EQ(window_cell(w, 0), 1000 * k + left);
        }
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        window_put(w, right, 0, &value);
        CHECK_OK(MPI_Win_complete(w->win));
        if (w->rank == 0) {
            CHECK_OK(MPI_Win_wait(w->win));
            CHECK_EQ(window_cell(w, 0), 1000 * k + left);
        }
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Barrier(w->comm);
}

/* Everyone wants one lock, most of the time. */
static void contended_lock(struct window *w)
{
    check_step("one lock for all");
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    memset(w->base, 0, (size_t)w->bytes);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    MPI_Barrier(w->comm);
    for (int k = 0; k < LOCKS; ++k) {
        int64_t value = -1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, 0, window_at(w, 0, 0), 1, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        ++value;
        window_put(w, 0, 0, &value);
        CHECK_OK(MPI_Win_unlock(0, w->win));
    }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK(w->rank != 0 || window_cell(w, 0) == (int64_t)LOCKS * w->size);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (host_is_alone())
        return check_skip("the hosts do not give the core away");
    for (int flavor = FLAVOR_ALLOCATE; flavor <= FLAVOR_SHARED; ++flavor) {
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD, 8 * CELLS, 1);
        fences(&w);
        token(&w);
        contended_lock(&w);
        window_close(&w);
    }
    return check_end();
}
