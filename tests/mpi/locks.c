/* SPDX-License-Identifier: BSD-3-Clause */
/* Exclusive and shared locks: mutual exclusion, several at once, and what a lock protects. */
#include "host_defects.h"

enum { HALVES = 64 };

static int64_t get(struct window *w, int target, int index)
{
    int64_t value = -1;
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, target, window_at(w, target, 8 * index), 1,
                     MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    return value;
}

/* A counter that is read, raised and written back: the lock alone makes it exact. */
static void counter(struct window *w)
{
    int const rounds = w->size > 2 ? 40 : 200;
    for (int k = 0; k < rounds; ++k)
        for (int target = 0; target < w->size; ++target) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
            int64_t const next = get(w, target, 0) + 1;
            window_put(w, target, 0, &next);
            CHECK_OK(MPI_Win_unlock(target, w->win));
        }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_EQ(get(w, w->rank, 0), rounds * w->size);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    MPI_Barrier(w->comm);
}

/* Writers fill an array with one number under an exclusive lock; readers never see two. */
static void readers_and_writers(struct window *w)
{
    int64_t values[HALVES];
    MPI_Aint const at = window_at(w, 0, 8);
    for (int k = 0; k < 100; ++k) {
        bool const writes = (k + w->rank) % 4 == 0;
        CHECK_OK(MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w->win));
        for (int i = 0; i < HALVES; ++i)
            values[i] = 1000 * k + w->rank;
        if (writes)
            CHECK_OK(MPI_Put(values, HALVES, MPI_INT64_T, 0, at, HALVES, MPI_INT64_T, w->win));
        else
            CHECK_OK(MPI_Get(values, HALVES, MPI_INT64_T, 0, at, HALVES, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_unlock(0, w->win));
        for (int i = 1; i < HALVES; ++i)
            CHECK_EQ(values[i], values[0]);
    }
    MPI_Barrier(w->comm);
}

/* Shared locks are held by all at the same time: each waits in its epoch until all are in. */
static void shared_together(struct window *w)
{
    for (int k = 0; k < 10; ++k) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
        CHECK(get(w, 0, 0) >= 0);
        MPI_Barrier(w->comm);
        CHECK_OK(MPI_Win_unlock(0, w->win));
        MPI_Barrier(w->comm);
    }
}

/* All targets locked at once by one origin, unlocked in another order. */
static void several(struct window *w)
{
    MPI_Barrier(w->comm);
    for (int64_t k = 0; k < 40; ++k) {
        int64_t const value = 100 * k + w->rank;
        for (int target = 0; target < w->size; ++target)
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
        for (int target = 0; target < w->size; ++target)
            window_put(w, target, 1 + w->rank, &value);
        for (int target = w->size - 1; target >= 0; --target)
            CHECK_OK(MPI_Win_unlock(target, w->win));
    }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    for (int origin = 0; origin < w->size; ++origin)
        CHECK_EQ(get(w, w->rank, 1 + origin), 3900 + origin);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    MPI_Barrier(w->comm);
}

/* Two exclusive locks in the same order by everyone, money moved between the two. */
static void two_at_once(struct window *w)
{
    int const second = w->size - 1, pairs = w->size > 1;
    for (int k = 0; pairs && k < 60; ++k) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second, 0, w->win));
        int64_t const less = get(w, 0, HALVES + 1) - 1, more = get(w, second, HALVES + 1) + 1;
        CHECK_EQ(less + more, 0);
        window_put(w, 0, HALVES + 1, &less);
        window_put(w, second, HALVES + 1, &more);
        CHECK_OK(MPI_Win_unlock(0, w->win));
        CHECK_OK(MPI_Win_unlock(second, w->win));
    }
    MPI_Barrier(w->comm);
}

/* MPI_MODE_NOCHECK where nobody else holds a lock, epochs without operations, one's own lock. */
static void plain(struct window *w)
{
    int const right = (w->rank + 1) % w->size;
    int64_t const value = 321;
    for (int k = 0; k < 50; ++k) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win));
        CHECK_OK(MPI_Win_unlock(right, w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
        memcpy(w->base + 8, &value, sizeof value);
        CHECK_EQ(get(w, w->rank, 1), value);
        CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, MPI_MODE_NOCHECK, w->win));
    window_put(w, right, 2, &value);
    CHECK_EQ(get(w, right, 2), value);
    CHECK_OK(MPI_Win_unlock(right, w->win));
    MPI_Barrier(w->comm);
}

static void everything(struct window *w)
{
    counter(w);
    readers_and_writers(w);
    shared_together(w);
    several(w);
    two_at_once(w);
    plain(w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run_everywhere("locks", everything, 8 * (HALVES + 2), 1);
    return check_end();
}
