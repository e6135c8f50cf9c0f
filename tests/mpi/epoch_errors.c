/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that the open epochs do not allow, windows that are none, and who is told of it. */
#include "noted_errors.h"
#include "wrong_calls.h"

enum { MANY = 400 }; /* more than the table of windows has places */

/* --- Epochs ----------------------------------------------------------------------------------- */

static void no_operation_at(struct window *w, int target)
{
    expect_all(w, at_cell(target, cell_at(w, target, 0), 1), MPI_ERR_RMA_SYNC);
}

static void no_flush(struct window *w, int target)
{
    CHECK_ERROR(MPI_Win_flush(target, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_flush_local(target, w->win), MPI_ERR_RMA_SYNC);
}

/* Nothing is open. */
static void closed(struct window *w)
{
    int flag = 0;
    for (int target = 0; target < w->size; ++target) {
        no_operation_at(w, target);
        no_flush(w, target);
        CHECK_ERROR(MPI_Win_unlock(target, w->win), MPI_ERR_RMA_SYNC);
    }
    CHECK_ERROR(MPI_Win_flush_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_flush_local_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_test(w->win, &flag), MPI_ERR_RMA_SYNC);
}

static void in_lock(struct window *w, MPI_Group self)
{
    int const last = w->size - 1;
    check_step("in a lock");
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w->win));
    if (w->size > 1) {
        no_operation_at(w, 0);
        no_flush(w, 0);
        CHECK_ERROR(MPI_Win_unlock(0, w->win), MPI_ERR_RMA_SYNC);
    }
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_start(self, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    MPI_Win copy = w->win;
    CHECK_ERROR(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(last, w->win));
    no_operation_at(w, last);
}

static void in_lock_all(struct window *w, MPI_Group self)
{
    check_step("in lock_all");
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_start(self, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_unlock(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    no_operation_at(w, 0);
}

/* Exposed, and later with access as well, to oneself alone. */
static void in_groups(struct window *w, MPI_Group self)
{
    check_step("in post and start");
    CHECK_OK(MPI_Win_post(self, 0, w->win));
    no_operation_at(w, w->rank);
    CHECK_ERROR(MPI_Win_post(self, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_start(self, 0, w->win));
    if (w->size > 1)
        no_operation_at(w, (w->rank + 1) % w->size);
    no_flush(w, w->rank);
    CHECK_ERROR(MPI_Win_start(self, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_complete(w->win));
    no_operation_at(w, w->rank);
    CHECK_OK(MPI_Win_wait(w->win));
    CHECK_ERROR(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
}

/* A fence epoch that is in use admits no other; one that has ended admits no operation. */
static void in_fence(struct window *w, MPI_Group self)
{
    int value;
    check_step("in fence");
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Get(&value, 1, MPI_INT, 0, cell_at(w, 0, 0), 1, MPI_INT, w->win));
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_start(self, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_post(self, 0, w->win), MPI_ERR_RMA_SYNC);
    no_flush(w, 0);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    no_operation_at(w, 0);
}

static void synchronisation(struct window *w)
{
    MPI_Group all, self;
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &w->rank, &self);
    closed(w);
    in_lock(w, self);
    in_lock_all(w, self);
    in_groups(w, self);
    in_fence(w, self);
    closed(w);
    MPI_Group_free(&all);
    MPI_Group_free(&self);
}

/* --- Error handlers --------------------------------------------------------------------------- */

/* The handler runs once for each error, knows window and class, and the call returns the class. */
static void own_handler(struct window *w)
{
    note_errors(w->win);
    no_operation_at(w, 0);
    CHECK_EQ(handled, OPERATIONS);
    CHECK_EQ(handled_class, MPI_ERR_RMA_SYNC);
    CHECK(handled_window == w->win);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    expect(w, PUT, at_cell(0, cell_at(w, 0, CELLS), 1), MPI_ERR_RMA_RANGE);
    CHECK_EQ(handled, OPERATIONS + 1);
    CHECK_EQ(handled_class, MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_unlock(0, w->win));
    CHECK_EQ(handled, OPERATIONS + 1);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
}

/* --- Windows that are none -------------------------------------------------------------------- */

static void no_window(MPI_Win win)
{
    struct window none = {.win = win};
    int flag;
    void *base;
    MPI_Win copy = win;
    MPI_Group group;
    for (int o = 0; o < OPERATIONS; ++o)
        CHECK_ERROR(issue(&none, (enum operation)o, at_cell(0, 0, 1)), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_fence(0, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_unlock(0, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_lock_all(0, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_flush(0, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_flush_all(win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_sync(win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_complete(win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_test(win, &flag), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_get_group(win, &group), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_free(&copy), MPI_ERR_WIN);
}

/* Handles of all bits zero are no windows, whatever was freed before. */
static void no_window_after_many(void)
{
    static struct window windows[MANY];
    MPI_Win zero;
    memset(&zero, 0, sizeof zero);
    for (int k = 0; k < MANY; ++k)
        windows[k] = window_open(FLAVOR_ALLOCATE, MPI_COMM_SELF, 8, 1);
    for (int k = 0; k < MANY; ++k)
        window_close(&windows[k]);
    no_window(zero);
}

static void everything(struct window *w)
{
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    fill(w);
    MPI_Barrier(w->comm);
    synchronisation(w);
    check_usable(w, 0);
    own_handler(w);
    check_usable(w, w->size - 1);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (host_is_alone())
        return check_skip("the hosts do not check what is tested here");
    wrong_calls_begin();
    run_everywhere("errors", everything, BYTES, UNIT);
    check_step("windows that are none");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, BYTES, UNIT);
    MPI_Win const freed = w.win;
    window_close(&w);
    no_window(freed);
    no_window(MPI_WIN_NULL);
    check_step("windows that are none, after many");
    no_window_after_many();
    return check_end();
}
