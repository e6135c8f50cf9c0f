/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPIX_Win_dup_with_info: handles of one window share its memory, its epochs and the atomicity of
 * its accumulates; keys, name and attributes are each handle's own.
 */
#include "duplicates.h"
#include <sidelight.h>

enum { WORDS = 8, MANY = 200, ROUNDS = 300 };

static MPI_Aint word(const struct window *w, int target, int index)
{
    return window_at(w, target, 8 * index);
}

static void put(const struct window *w, MPI_Win through, int target, int index,
                const int64_t *value)
{
    CHECK_OK(
        MPI_Put(value, 1, MPI_INT64_T, target, word(w, target, index), 1, MPI_INT64_T, through));
}

/* --- What they share -------------------------------------------------------------------------- */

static void same_memory(const struct window *w, MPI_Win other)
{
    MPI_Group mine, its;
    int same = MPI_UNEQUAL;
    CHECK(other != w->win);
    CHECK(check_attribute(other, MPI_WIN_BASE) == check_attribute(w->win, MPI_WIN_BASE));
    CHECK_EQ(*(MPI_Aint *)check_attribute(other, MPI_WIN_SIZE),
             *(MPI_Aint *)check_attribute(w->win, MPI_WIN_SIZE));
    CHECK_EQ(*(int *)check_attribute(other, MPI_WIN_DISP_UNIT), w->unit);
    CHECK_EQ(*(int *)check_attribute(other, MPI_WIN_CREATE_FLAVOR),
             *(int *)check_attribute(w->win, MPI_WIN_CREATE_FLAVOR));
    CHECK_EQ(*(int *)check_attribute(other, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
    CHECK_OK(MPI_Win_get_group(w->win, &mine));
    CHECK_OK(MPI_Win_get_group(other, &its));
    CHECK_OK(MPI_Group_compare(mine, its, &same));
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&mine);
    MPI_Group_free(&its);
}

/* Each rank calls through another handle than its neighbour. */
static void fences(struct window *w, MPI_Win other)
{
    int64_t const mine = 100 + w->rank;
    MPI_Win const odd = w->rank % 2 == 1 ? other : w->win, even = w->rank % 2 == 1 ? w->win : other;
    CHECK_OK(MPI_Win_fence(0, odd));
    put(w, even, window_right_of(w), 0, &mine);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, even));
    CHECK_EQ(window_cell(w, 0), 100 + window_left_of(w));
    MPI_Barrier(w->comm);
}

/* Every call of an epoch through another handle than the one before it. */
static void exposures(struct window *w, MPI_Win other)
{
    int const from = window_left_of(w), to = window_right_of(w);
    int64_t const mine = 200 + w->rank;
    MPI_Group origins = check_group(1, &from), targets = check_group(1, &to);
    for (int k = 0; k < 3; ++k) {
        CHECK_OK(MPI_Win_post(origins, 0, other));
        CHECK_OK(MPI_Win_start(targets, 0, w->win));
        put(w, other, to, 1, &mine);
        CHECK_OK(MPI_Win_complete(other));
        CHECK_OK(MPI_Win_wait(w->win));
        CHECK_EQ(window_cell(w, 1), 200 + from);
    }
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

/* A flush through one handle completes what was put through another. */
static void flushes(struct window *w, MPI_Win first, MPI_Win second)
{
    int64_t value = 0;
    for (int k = 0; k < 20 && w->size > 1; ++k) {
        int64_t const mine = 300 + k;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, window_right_of(w), 0, first));
        put(w, k % 2 == 0 ? first : second, window_right_of(w), 2, &mine);
        CHECK_OK(MPI_Win_flush(window_right_of(w), k % 2 == 0 ? second : first));
        check_tell(window_right_of(w));
        check_hear(window_left_of(w));
        CHECK_OK(MPI_Win_sync(second));
        memcpy(&value, w->base + 16, sizeof value);
        CHECK_EQ(value, mine);
        check_tell(window_left_of(w));
        check_hear(window_right_of(w));
        CHECK_OK(MPI_Win_unlock(window_right_of(w), second));
    }
}

/* Requests of operations and of synchronisation, begun on any handle. */
static void requests(struct window *w, MPI_Win other)
{
    int64_t const mine = 400 + w->rank;
    int64_t got = -1;
    MPI_Request all[3];
    CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, window_right_of(w), 0, other, &all[0]));
    CHECK_OK(MPI_Rput(&mine, 1, MPI_INT64_T, window_right_of(w), word(w, window_right_of(w), 3), 1,
                      MPI_INT64_T, w->win, &all[1]));
    CHECK_OK(MPIX_Win_iflush(window_right_of(w), w->win, &all[2]));
    CHECK_OK(MPI_Waitall(3, all, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Rget(&got, 1, MPI_INT64_T, window_right_of(w), word(w, window_right_of(w), 3), 1,
                      MPI_INT64_T, other, &all[0]));
    CHECK_OK(MPI_Wait(&all[0], MPI_STATUS_IGNORE));
    CHECK_EQ(got, mine);
    CHECK_OK(MPIX_Win_iunlock(window_right_of(w), w->win, &all[0]));
    CHECK_OK(MPI_Wait(&all[0], MPI_STATUS_IGNORE));
    MPI_Barrier(w->comm);
}

/* Every rank adds through all handles in turn, one element and rows: no addition is lost. */
static void sums(struct window *w, MPI_Win first, MPI_Win second)
{
    MPI_Win const handles[3] = {w->win, first, second};
    int64_t const ones[2] = {1, 1};
    int64_t old = -1, seen = -1;
    memset(w->base, 0, (size_t)w->bytes);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(0, first));
    for (int k = 0; k < ROUNDS; ++k) {
        MPI_Win const win = handles[(k + w->rank) % 3];
        if (k % 2 == 0) {
            CHECK_OK(MPI_Accumulate(ones, 2, MPI_INT64_T, 0, word(w, 0, 4), 2, MPI_INT64_T, MPI_SUM,
                                    win));
        } else {
            CHECK_OK(MPI_Fetch_and_op(ones, &old, MPI_INT64_T, 0, word(w, 0, 4), MPI_SUM, win));
            CHECK_OK(MPI_Win_flush(0, handles[k % 3]));
            CHECK(old > seen);
            seen = old;
        }
    }
    CHECK_OK(MPI_Win_unlock_all(second));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, second));
    CHECK_OK(MPI_Get(&old, 1, MPI_INT64_T, 0, word(w, 0, 4), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, 0, word(w, 0, 5), 1, MPI_INT64_T, first));
    CHECK_OK(MPI_Win_unlock(0, first));
    CHECK_EQ(old, w->size * ROUNDS);
    CHECK_EQ(seen, w->size * ROUNDS / 2);
    MPI_Barrier(w->comm);
}

/* What is open through one handle is open through all, and so cannot be opened again. */
static void opened_twice(struct window *w, MPI_Win other)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, other), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock_all(0, other), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(w->rank, other));
    CHECK_ERROR(MPI_Win_unlock(w->rank, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_flush(w->rank, other), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_lock_all(0, other));
    CHECK_ERROR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

/* Memory that is attached through one handle is there through all. */
static void attached(struct window *w, MPI_Win other)
{
    int64_t more = 0;
    int64_t const mine = 500 + w->rank;
    MPI_Aint here, there;
    if (w->flavor != FLAVOR_DYNAMIC)
        return;
    CHECK_OK(MPI_Win_attach(other, &more, sizeof more));
    MPI_Get_address(&more, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, window_left_of(w), 5, &there, 1, MPI_AINT, window_right_of(w),
                 5, w->comm, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, window_right_of(w), there, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, other));
    CHECK_EQ(more, 500 + window_left_of(w));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_detach(w->win, &more));
}

/* Loads and stores through addresses that one handle has told. */
static void loads_and_stores(struct window *w, MPI_Win other)
{
    MPI_Aint size = -1;
    int unit = -1;
    int64_t *theirs = NULL;
    if (w->flavor == FLAVOR_DYNAMIC) {
        CHECK_ERROR(MPI_Win_shared_query(other, w->rank, &size, &unit, &theirs),
                    MPI_ERR_RMA_FLAVOR);
        return;
    }
    CHECK_OK(MPI_Win_shared_query(other, window_right_of(w), &size, &unit, &theirs));
    if (theirs == NULL)
        return;
    CHECK_EQ(size, w->bytes);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, window_right_of(w), 0, other));
    theirs[6] = 600 + w->rank;
    CHECK_OK(MPI_Win_unlock(window_right_of(w), w->win));
    MPI_Barrier(w->comm);
    CHECK_EQ(window_cell(w, 6), 600 + window_left_of(w));
    MPI_Barrier(w->comm);
}

static void shared(enum flavor flavor)
{
    check_step(flavor_names[flavor]);
    struct window w = window_open(flavor, MPI_COMM_WORLD, 8 * WORDS, 8);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN); /* and of its duplicates */
    MPI_Win first = duplicate(w.win, MPI_INFO_NULL), second = duplicate(first, MPI_INFO_NULL);
    same_memory(&w, first);
    same_memory(&w, second);
    fences(&w, first);
    exposures(&w, second);
    flushes(&w, first, second);
    requests(&w, first);
    sums(&w, first, second);
    opened_twice(&w, first);
    attached(&w, second);
    loads_and_stores(&w, second);
    free_handle(&first);
    fences(&w, second);
    free_handle(&second);
    window_close(&w);
}

/* --- Making and freeing them ------------------------------------------------------------------ */

/* One rank alone makes them, in an epoch that is open, and frees them in another order. */
static void many(void)
{
    MPI_Win handles[MANY];
    int64_t const one = 1;
    int64_t value = 0;
    check_step("many");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * WORDS, 8);
    if (w.rank == 0) {
        int const last = w.size - 1;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, w.win));
        for (int k = 0; k < MANY; ++k)
            handles[k] = duplicate(k % 3 == 0 ? w.win : handles[k - 1], MPI_INFO_NULL);
        for (int k = 0; k < MANY; ++k)
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, last, word(&w, last, 0), 1, MPI_INT64_T,
                                    MPI_SUM, handles[k]));
        for (int k = 0; k < MANY; ++k)
            if (k != 1)
                free_handle(&handles[(7 * k) % MANY]);
        CHECK_OK(MPI_Win_unlock(last, handles[7]));
        free_handle(&handles[7]);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w.win));
        CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, last, word(&w, last, 0), 1, MPI_INT64_T, w.win));
        CHECK_OK(MPI_Win_unlock(last, w.win));
        CHECK_EQ(value, MANY);
    }
    window_close(&w);
}

/* An epoch belongs to the window: it stays open when the handle is freed that has opened it. */
static void freed_in_epoch(void)
{
    int64_t const mine = 7;
    check_step("freed in an epoch");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * WORDS, 8);
    for (int k = 0; k < 10; ++k) {
        MPI_Win handle = duplicate(w.win, MPI_INFO_NULL);
        MPI_Request request;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, window_right_of(&w), 0, handle));
        put(&w, handle, window_right_of(&w), 0, &mine);
        CHECK_OK(MPI_Rput(&mine, 1, MPI_INT64_T, window_right_of(&w),
                          word(&w, window_right_of(&w), 1), 1, MPI_INT64_T, handle, &request));
        free_handle(&handle);
        CHECK_OK(MPI_Win_unlock(window_right_of(&w), w.win));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(w.comm);
    CHECK_EQ(window_cell(&w, 0), 7);
    CHECK_EQ(window_cell(&w, 1), 7);
    window_close(&w);
}

static void refuse_all(MPI_Win win)
{
    int64_t value = 0;
    void *base = NULL;
    int found = 0;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Group group;
    MPI_Win more = MPI_WIN_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_fence(0, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_flush(0, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_sync(win), MPI_ERR_WIN);
    CHECK_ERROR(MPIX_Win_ifence(0, win, &request), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Rput(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win, &request), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_get_info(win, &info), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_set_info(win, MPI_INFO_NULL), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_get_group(win, &group), MPI_ERR_WIN);
    CHECK_ERROR(MPIX_Win_dup_with_info(win, MPI_INFO_NULL, &more), MPI_ERR_WIN);
    CHECK(more == MPI_WIN_NULL);
}

/* When the window is gone its duplicates can only be freed; until then they refuse everything, by
 * their own error handler. */
static void orphans(void)
{
    check_step("orphans");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * WORDS, 8);
    MPI_Win left[3] = {duplicate(w.win, MPI_INFO_NULL), duplicate(w.win, MPI_INFO_NULL),
                       MPI_WIN_NULL};
    left[2] = duplicate(left[1], MPI_INFO_NULL);
    for (int k = 0; k < 3; ++k)
        note_errors(left[k]);
    free_handle(&left[1]);
    window_close(&w);
    handled = 0;
    refuse_all(left[0]);
    CHECK_EQ(handled, 12);
    CHECK(handled_window == left[0]);
    /* Windows that come now get the storage of the one that is gone. */
    struct window next = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * WORDS, 8);
    refuse_all(left[2]);
    free_handle(&left[0]);
    CHECK_OK(MPI_Win_fence(0, next.win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, next.win));
    free_handle(&left[2]);
    window_close(&next);
}

/* A handle that was freed is none. */
static void stale(void)
{
    check_step("a freed handle");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * WORDS, 8);
    MPI_Win handle = duplicate(w.win, MPI_INFO_NULL);
    MPI_Win const freed = handle;
    int64_t value = 0;
    free_handle(&handle);
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, freed), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, freed), MPI_ERR_WIN);
    CHECK_ERROR(MPIX_Win_dup_with_info(freed, MPI_INFO_NULL, &handle), MPI_ERR_WIN);
    window_close(&w);
}

static void mistakes(void)
{
    check_step("mistakes");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * WORDS, 8);
    MPI_Win handle = MPI_WIN_NULL;
    note_errors(w.win);
    CHECK_ERROR(MPIX_Win_dup_with_info(w.win, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_EQ(handled, 1);
    CHECK_ERROR(MPIX_Win_dup_with_info(MPI_WIN_NULL, MPI_INFO_NULL, &handle), MPI_ERR_WIN);
    CHECK(handle == MPI_WIN_NULL);
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int flavor = 0; flavor < FLAVORS; ++flavor)
        shared((enum flavor)flavor);
    many();
    freed_in_epoch();
    orphans();
    stale();
    mistakes();
    return check_end();
}
