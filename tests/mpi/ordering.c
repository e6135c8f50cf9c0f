/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates of one origin on one element of one target take effect in the order in which they
 * were issued, with no flush between them and whatever mix of calls and counts they are.
 */
#include "host_defects.h"

enum { ROUNDS = 300, WIDTH = 33 };

/* A write is seen by the read after it, and not by the read before it. */
static void reads_and_writes(struct window *w, int target)
{
    int64_t before[ROUNDS], after[ROUNDS], values[ROUNDS];
    MPI_Aint const at = window_at(w, target, 8 * w->rank);
    int64_t const start = 0;
    CHECK_OK(
        MPI_Accumulate(&start, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_REPLACE, w->win));
    for (int k = 0; k < ROUNDS; ++k) {
        values[k] = k + 1;
        CHECK_OK(MPI_Fetch_and_op(NULL, &before[k], MPI_INT64_T, target, at, MPI_NO_OP, w->win));
        CHECK_OK(MPI_Accumulate(&values[k], 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_REPLACE,
                                w->win));
        CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &after[k], 1, MPI_INT64_T, target, at, 1,
                                    MPI_INT64_T, MPI_NO_OP, w->win));
    }
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int k = 0; k < ROUNDS; ++k) {
        CHECK_EQ(before[k], k);
        CHECK_EQ(after[k], k + 1);
    }
}

/* Operations that do not commute, wide and narrow ones overlapping. */
static void wide_and_narrow(struct window *w, int target)
{
    int64_t twos[WIDTH], threes[WIDTH], result[WIDTH], one = 1;
    MPI_Aint const base = 8 * ((MPI_Aint)w->size + WIDTH * w->rank);
    MPI_Aint const at = window_at(w, target, base);
    for (int i = 0; i < WIDTH; ++i) {
        twos[i] = 2;
        threes[i] = 3;
    }
    CHECK_OK(MPI_Accumulate(threes, WIDTH, MPI_INT64_T, target, at, WIDTH, MPI_INT64_T, MPI_REPLACE,
                            w->win));
    for (int k = 0; k < 20; ++k) {
        int const narrow = k % WIDTH;
        CHECK_OK(MPI_Accumulate(twos, WIDTH, MPI_INT64_T, target, at, WIDTH, MPI_INT64_T, MPI_PROD,
                                w->win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target,
                                window_at(w, target, base + 8 * narrow), 1, MPI_INT64_T, MPI_SUM,
                                w->win));
    }
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, result, WIDTH, MPI_INT64_T, target, at, WIDTH,
                                MPI_INT64_T, MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < WIDTH; ++i)
        CHECK_EQ(result[i], (3ll << 20) + (i < 20 ? 1ll << (19 - i) : 0));
}

/* Each swap needs the one before it. */
static void swap_chain(struct window *w, int target)
{
    int64_t found[ROUNDS], expected[ROUNDS], next[ROUNDS];
    MPI_Aint const at = window_at(w, target, 8 * w->rank);
    int64_t const start = 5;
    CHECK_OK(
        MPI_Accumulate(&start, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_REPLACE, w->win));
    for (int k = 0; k < ROUNDS; ++k) {
        expected[k] = 5 + k;
        next[k] = 6 + k;
        CHECK_OK(MPI_Compare_and_swap(&next[k], &expected[k], &found[k], MPI_INT64_T, target, at,
                                      w->win));
    }
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int k = 0; k < ROUNDS; ++k)
        CHECK_EQ(found[k], expected[k]);
}

static void everything(struct window *w)
{
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    MPI_Barrier(w->comm);
    for (int target = 0; target < w->size; ++target) {
        reads_and_writes(w, target);
        wide_and_narrow(w, target);
        swap_chain(w, target);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        check_step(flavor_names[flavor]);
        if (host_cannot("ordering", (enum flavor)flavor, check_size))
            continue;
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD,
                                      8 * (MPI_Aint)check_size * (1 + WIDTH), 1);
        everything(&w);
        window_close(&w);
    }
    return check_end();
}
