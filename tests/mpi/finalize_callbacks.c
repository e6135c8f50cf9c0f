/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI_Finalize calls first, the delete callbacks of MPI_COMM_SELF, may use all of MPI
 * (MPI-4.1, 11.2.4): here windows that live on, and new ones. Those that were attached last come
 * first. */
#include "windows.h"

enum { BYTES = 1 << 12 };

static struct window kept;
static int calls;

/* Each writes to the next. */
static void exchange(struct window *w, int64_t value)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    int64_t const mine = value + w->rank;
    int64_t found = -1;
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, right, window_at(w, right, 0), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    memcpy(&found, w->base, sizeof found);
    CHECK_EQ(found, value + left);
}

static void add(struct window *w)
{
    int64_t const one = 1;
    int64_t before = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, w->rank, window_at(w, w->rank, 8),
                              MPI_SUM, w->win));
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_EQ(before, 0);
}

static int use_kept(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    CHECK_EQ(calls++, 0);
    exchange(&kept, 200);
    return MPI_SUCCESS;
}

static int use_others(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    CHECK_EQ(calls++, 1);
    for (int flavor = FLAVOR_ALLOCATE; flavor <= FLAVOR_DYNAMIC; ++flavor) {
        struct window made = window_open((enum flavor)flavor, MPI_COMM_WORLD, BYTES, 1);
        exchange(&made, 300);
        add(&made);
        window_close(&made);
    }
    exchange(&kept, 400);
    window_close(&kept);
    return MPI_SUCCESS;
}

static void attach(MPI_Comm_delete_attr_function *callback)
{
    int key = MPI_KEYVAL_INVALID;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &key, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    CHECK_OK(MPI_Comm_free_keyval(&key));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    attach(use_others);
    kept = window_open(FLAVOR_CREATE, MPI_COMM_WORLD, BYTES, 1);
    exchange(&kept, 100);
    attach(use_kept);
    CHECK_OK(MPI_Finalize());
    CHECK_EQ(calls, 2);
    if (check_failures == 0 && check_rank == 0)
        printf("ok\n");
    return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
