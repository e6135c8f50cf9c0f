/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library keeps with a communicator that windows were made on: it outlives no
 * communicator, is not copied with one, and need not be kept by all members alike.
 */
#include "windows.h"

enum { MANY = 100 };

/* Each rank adds to a word of the next one. */
static void use(const struct window *w, int64_t value)
{
    int const right = (w->rank + 1) % w->size;
    int64_t const mine = value + w->rank;
    int64_t seen = -1;
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Accumulate(&mine, 1, MPI_INT64_T, right, window_at(w, right, 0), 1, MPI_INT64_T,
                            MPI_SUM, w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_OK(
        MPI_Get(&seen, 1, MPI_INT64_T, w->rank, window_at(w, w->rank, 0), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_EQ(seen, value + (w->rank + w->size - 1) % w->size);
}

/* A dynamic window may need messages anywhere, so its members have to know their nodes. */
static void use_new_window(MPI_Comm comm, int64_t value)
{
    struct window w = window_open(FLAVOR_DYNAMIC, comm, 64, 1);
    use(&w, value);
    window_close(&w);
}

static void again_and_again(void)
{
    for (int k = 0; k < 5; ++k) {
        use_new_window(MPI_COMM_WORLD, k);
    }
}

/* A copy is a communicator of its own, before and after the other is freed. */
static void copies(void)
{
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    use_new_window(first, 10);
    MPI_Comm_dup(first, &second);
    use_new_window(second, 20);
    MPI_Comm_free(&first);
    use_new_window(second, 30);
    MPI_Comm_free(&second);
}

static void window_outlives_its_communicator(void)
{
    MPI_Comm comm, left;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    left = comm;
    struct window w = window_open(FLAVOR_DYNAMIC, comm, 64, 1);
    MPI_Comm_free(&left);
    w.comm = MPI_COMM_WORLD; /* the same ranks */
    use(&w, 40);
    window_close(&w);
}

/* More than are kept: at once, then one after the other. */
static void many(MPI_Comm parent)
{
    MPI_Comm comms[MANY];
    for (int k = 0; k < MANY; ++k) {
        MPI_Comm_dup(parent, &comms[k]);
        use_new_window(comms[k], k);
    }
    use_new_window(parent, -1);
    for (int k = 0; k < MANY; ++k) {
        use_new_window(comms[k], 2 * k);
        MPI_Comm_free(&comms[k]);
    }
    for (int k = 0; k < 3 * MANY; ++k) {
        MPI_Comm_dup(parent, &comms[0]);
        use_new_window(comms[0], 3 * k);
        MPI_Comm_free(&comms[0]);
    }
}

/* Some members have all that they can keep, and others have not. */
static void some_keep_more(void)
{
    MPI_Comm part, comms[MANY];
    MPI_Comm_split(MPI_COMM_WORLD, check_rank < 2, check_rank, &part);
    if (check_rank < 2) {
        for (int k = 0; k < MANY; ++k) {
            MPI_Comm_dup(part, &comms[k]);
            use_new_window(comms[k], k);
        }
    }
    MPI_Comm all;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    use_new_window(all, 50);
    use_new_window(all, 60);
    if (check_rank < 2) {
        for (int k = 0; k < MANY; ++k) {
            MPI_Comm_free(&comms[k]);
        }
    }
    use_new_window(all, 70);
    use_new_window(all, 80);
    MPI_Comm_free(&all);
    MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    again_and_again();
    copies();
    window_outlives_its_communicator();
    many(MPI_COMM_WORLD);
    some_keep_more();
    again_and_again();
    return check_end();
}
