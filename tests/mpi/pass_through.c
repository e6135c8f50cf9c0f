/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows that are left to the host MPI: with SIDELIGHT_SHARE_MEMORY=never and no network, those on
 * memory that the program brings along. The standard calls work as on the host alone; of the
 * nonblocking ones those that the host can do, and the others say that they cannot. Both kinds of
 * window live side by side.
 */
#include "windows.h"
#include <sidelight.h>

enum { WORDS = 16, BYTES = 8 * WORDS };

/* --- Standard calls --------------------------------------------------------------------------- */

static void fences(struct window *w, int64_t value)
{
    int64_t const mine = value + w->rank;
    CHECK_OK(MPI_Win_fence(0, w->win));
    window_put(w, window_right_of(w), 0, &mine);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    CHECK_EQ(window_cell(w, 0), value + window_left_of(w));
    MPI_Barrier(w->comm);
}

static void exposures(struct window *w)
{
    int const from = window_left_of(w), to = window_right_of(w);
    int64_t const mine = 70 + w->rank;
    MPI_Group origins = check_group(1, &from), targets = check_group(1, &to);
    CHECK_OK(MPI_Win_post(origins, 0, w->win));
    CHECK_OK(MPI_Win_start(targets, 0, w->win));
    window_put(w, to, 1, &mine);
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    CHECK_EQ(window_cell(w, 1), 70 + from);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

static void locks(struct window *w)
{
    int64_t const one = 1;
    int64_t old = -1, sum = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, window_right_of(w), 0, w->win));
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, window_right_of(w),
                            window_at(w, window_right_of(w), 16), 1, MPI_INT64_T, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_unlock(window_right_of(w), w->win));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, window_at(w, 0, 16), MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush_local(0, w->win));
    CHECK(old >= 1 && old <= w->size);
    window_meet(w);
    CHECK_OK(MPI_Get(&sum, 1, MPI_INT64_T, 0, window_at(w, 0, 16), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_EQ(sum, 1 + w->size);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

static int deleted;

static int forget(MPI_Win win, int keyval, void *value, void *state)
{
    (void)win, (void)keyval, (void)state;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static void properties(struct window *w)
{
    static int const one = 1;
    int flag = 0, *found = NULL, length = 0, keyval, result;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group group, own;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_CREATE_FLAVOR, &found, &flag));
    CHECK(flag &&
          *found == (w->flavor == FLAVOR_CREATE ? MPI_WIN_FLAVOR_CREATE : MPI_WIN_FLAVOR_DYNAMIC));
    CHECK_OK(MPI_Win_set_name(w->win, "left to the host"));
    CHECK_OK(MPI_Win_get_name(w->win, name, &length));
    CHECK(strcmp(name, "left to the host") == 0);
    CHECK_OK(MPI_Win_get_group(w->win, &group));
    MPI_Comm_group(w->comm, &own);
    MPI_Group_compare(group, own, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&own);
    CHECK_OK(MPI_Win_get_info(w->win, &info));
    CHECK_OK(MPI_Win_set_info(w->win, info));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &keyval, NULL));
    CHECK_OK(MPI_Win_set_attr(w->win, keyval, (void *)(intptr_t)&one));
    CHECK_OK(MPI_Win_get_attr(w->win, keyval, &found, &flag));
    CHECK(flag && found == &one);
    CHECK_OK(MPI_Win_free_keyval(&keyval)); /* the window still has it, until it is freed */
    flag = 1;
    CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_NOTIFICATION_NUM_UB, &found, &flag));
    CHECK_EQ(flag, 0);
    flag = 1;
    CHECK_OK(MPIX_Win_op_intrinsic("sum", 1, MPI_INT, w->win, &flag));
    CHECK_EQ(flag, 0);
}

/* --- Nonblocking calls ------------------------------------------------------------------------ */

static int handled, handled_class;
static MPI_Win handled_window;

static void handle(MPI_Win *win, int *code, ...)
{
    ++handled;
    handled_window = *win;
    MPI_Error_class(*code, &handled_class);
}

/* The call failed as unsupported, through the handler, and left the request alone. */
#define CHECK_REFUSED(call)                                                                        \
    do {                                                                                           \
        handled = 0;                                                                               \
        request = MPI_REQUEST_NULL;                                                                \
        CHECK_ERROR(call, MPI_ERR_UNSUPPORTED_OPERATION);                                          \
        CHECK_EQ(handled, 1);                                                                      \
        CHECK_EQ(handled_class, MPI_ERR_UNSUPPORTED_OPERATION);                                    \
        CHECK(handled_window == w->win);                                                           \
        CHECK(request == MPI_REQUEST_NULL);                                                        \
    } while (0)

/* The call succeeded and its request is complete. */
#define CHECK_DONE(call)                                                                           \
    do {                                                                                           \
        CHECK_OK(call);                                                                            \
        CHECK(check_complete_at_once(&request));                                                   \
        CHECK(request == MPI_REQUEST_NULL);                                                        \
    } while (0)

static void nonblocking_fence(struct window *w)
{
    MPI_Request request;
    CHECK_REFUSED(MPIX_Win_ifence(0, w->win, &request));
    fences(w, 200);
}

static void nonblocking_locks(struct window *w)
{
    int64_t const value = 500 + w->rank;
    MPI_Request request;
    CHECK_ERROR(MPIX_Win_ilock(MPI_LOCK_SHARED, window_right_of(w), 0, w->win, NULL), MPI_ERR_ARG);
    CHECK_DONE(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, window_right_of(w), 0, w->win, &request));
    window_put(w, window_right_of(w), 3, &value);
    CHECK_REFUSED(MPIX_Win_iflush(window_right_of(w), w->win, &request));
    CHECK_REFUSED(MPIX_Win_iflush_local(window_right_of(w), w->win, &request));
    CHECK_REFUSED(MPIX_Win_iunlock(window_right_of(w), w->win, &request));
    CHECK_OK(MPI_Win_unlock(window_right_of(w), w->win));
    MPI_Barrier(w->comm);
    CHECK_DONE(MPIX_Win_ilock_all(0, w->win, &request));
    CHECK_EQ(window_cell(w, 3), 500 + window_left_of(w));
    CHECK_REFUSED(MPIX_Win_iflush_all(w->win, &request));
    CHECK_REFUSED(MPIX_Win_iflush_local_all(w->win, &request));
    CHECK_REFUSED(MPIX_Win_iunlock_all(w->win, &request));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

/* The exposure at rank 1 ends in a request, which is pending until the origin has completed. */
static void end_exposure(struct window *w, int origin)
{
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_ERROR(MPIX_Win_iwait(w->win, NULL), MPI_ERR_ARG);
    CHECK_OK(MPIX_Win_iwait(w->win, &request));
    CHECK(check_pending(&request));
    check_tell(origin);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Rank 1 exposes its memory to rank 0. */
static void nonblocking_exposure(struct window *w)
{
    int const origin = 0, target = 1;
    int64_t const value = 900;
    MPI_Group group = check_group(1, w->rank == origin ? &target : &origin);
    MPI_Request request;
    if (w->rank == target) {
        CHECK_DONE(MPIX_Win_ipost(group, 0, w->win, &request));
        end_exposure(w, origin);
        CHECK_EQ(window_cell(w, 4), value);
        CHECK_OK(MPI_Win_post(group, 0, w->win)); /* the epoch is over: the next one may begin */
        CHECK_OK(MPI_Win_wait(w->win));
    } else if (w->rank == origin) {
        CHECK_DONE(MPIX_Win_istart(group, 0, w->win, &request));
        check_hear(target);
        window_put(w, target, 4, &value);
        CHECK_REFUSED(MPIX_Win_icomplete(w->win, &request));
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK_OK(MPI_Win_start(group, 0, w->win));
        CHECK_OK(MPI_Win_complete(w->win));
    }
    MPI_Group_free(&group);
    MPI_Barrier(w->comm);
}

static void nonblocking(struct window *w)
{
    MPI_Errhandler handler;
    CHECK_OK(MPI_Win_create_errhandler(handle, &handler));
    CHECK_OK(MPI_Win_set_errhandler(w->win, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    nonblocking_fence(w);
    nonblocking_locks(w);
    nonblocking_exposure(w);
}

static void left_to_host(enum flavor flavor)
{
    struct window w = window_open(flavor, MPI_COMM_WORLD, BYTES, 8);
    int const before = deleted;
    check_step(flavor_names[flavor]);
    fences(&w, 100);
    exposures(&w);
    locks(&w);
    properties(&w);
    nonblocking(&w);
    window_close(&w);
    CHECK_EQ(deleted, before + 1);
}

/* --- Both kinds ------------------------------------------------------------------------------- */

/* Epochs on both at the same time; a request of ours stays pending while the host's fences. */
static void side_by_side(enum flavor flavor)
{
    struct window ours = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, BYTES, 1);
    struct window theirs = window_open(flavor, MPI_COMM_WORLD, BYTES, 1);
    int64_t const value = 40 + ours.rank;
    MPI_Request requests[2];
    check_step("both kinds");
    CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 0, 0, ours.win, &requests[0]));
    window_put(&ours, 0, 1 + ours.rank, &value);
    fences(&theirs, 300);
    CHECK_OK(MPIX_Win_iunlock(0, ours.win, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_lock_all(0, ours.win));
    CHECK_OK(MPI_Win_lock_all(0, theirs.win));
    window_put(&ours, window_right_of(&ours), 8, &value);
    window_put(&theirs, window_right_of(&ours), 8, &value);
    window_meet(&ours);
    window_meet(&theirs);
    CHECK_EQ(window_cell(&ours, 8), 40 + window_left_of(&ours));
    CHECK_EQ(window_cell(&theirs, 8), 40 + window_left_of(&ours));
    for (int origin = 0; origin < ours.size && ours.rank == 0; ++origin)
        CHECK_EQ(window_cell(&ours, 1 + origin), 40 + origin);
    CHECK_OK(MPI_Win_unlock_all(theirs.win));
    CHECK_OK(MPI_Win_unlock_all(ours.win));
    window_close(&ours);
    window_close(&theirs);
}

/* A host reuses the handles of freed windows: what was ours may now be the host's, and back. */
static void taking_turns(enum flavor flavor)
{
    struct window kept = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, BYTES, 1);
    check_step("handles used again");
    for (int k = 0; k < 30; ++k) {
        enum flavor const kind = k % 3 == 0 ? flavor : k % 3 == 1 ? FLAVOR_ALLOCATE : FLAVOR_SHARED;
        struct window w = window_open(kind, MPI_COMM_WORLD, BYTES, 1);
        MPI_Win const freed = w.win;
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
        fences(&w, 1000 * k);
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        MPI_Win other = MPI_WIN_NULL;
        if (kind == flavor)
            CHECK_ERROR(MPIX_Win_dup_with_info(w.win, MPI_INFO_NULL, &other),
                        MPI_ERR_UNSUPPORTED_OPERATION);
        CHECK(other == MPI_WIN_NULL);
        if (kind == flavor)
            CHECK_ERROR(MPIX_Win_iflush_all(w.win, &request), MPI_ERR_UNSUPPORTED_OPERATION);
        else
            CHECK_OK(MPIX_Win_iflush_all(w.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_unlock_all(w.win));
        CHECK(freed != kept.win);
        window_close(&w);
        fences(&kept, 2000 * k);
    }
    window_close(&kept);
}

int main(int argc, char **argv)
{
    static const enum flavor flavors[] = {FLAVOR_CREATE, FLAVOR_DYNAMIC};
    check_begin(&argc, &argv);
    for (size_t f = 0; f < sizeof flavors / sizeof *flavors; ++f) {
        left_to_host(flavors[f]);
        side_by_side(flavors[f]);
        taking_turns(flavors[f]);
    }
    return check_end();
}
