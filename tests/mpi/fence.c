/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence epochs: data, assertions, and the barrier that a fence is. */
#include "host_defects.h"

/* Everyone puts to everyone, many times; each epoch sees all of its predecessor. */
static void all_to_all(struct window *w)
{
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int64_t k = 1; k <= 100; ++k) {
        int64_t const value = 1000 * k + w->rank;
        for (int target = 0; target < w->size; ++target)
            CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, target, window_at(w, target, 8 * w->rank), 1,
                             MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_fence(0, w->win));
        for (int origin = 0; origin < w->size; ++origin)
            CHECK_EQ(window_cell(w, origin), 1000 * k + origin);
        CHECK_OK(MPI_Win_fence(0, w->win));
    }
}

/* The epoch ends with accumulates by all to one, and gets of what they made in the next. */
static void sums(struct window *w)
{
    int64_t const one = 1;
    int64_t seen = -1, start = 0;
    memcpy(w->base, &start, sizeof start);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    for (int k = 1; k <= 50; ++k) {
        for (int i = 0; i < 3; ++i)
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, window_at(w, 0, 0), 1, MPI_INT64_T,
                                    MPI_SUM, w->win));
        CHECK_OK(MPI_Win_fence(0, w->win));
        CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, 0, window_at(w, 0, 0), 1, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_fence(0, w->win));
        CHECK_EQ(seen, 3 * k * w->size);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* Pairs of assertions for the fence before and the fence after a put. */
static void assertions_around_put(struct window *w)
{
    int const nostore = MPI_MODE_NOSTORE, noput = MPI_MODE_NOPUT;
    int const pairs[][2] = {{0, 0},
                            {MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED},
                            {MPI_MODE_NOPRECEDE | nostore, MPI_MODE_NOSUCCEED | nostore},
                            {nostore, MPI_MODE_NOSUCCEED | noput},
                            {MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED | nostore | noput},
                            {0, nostore | noput | MPI_MODE_NOSUCCEED},
                            {MPI_MODE_NOPRECEDE, nostore}};
    int const target = (w->rank + 1) % w->size, origin = (w->rank + w->size - 1) % w->size;
    for (int64_t p = 0; p < (int64_t)(sizeof pairs / sizeof *pairs); ++p) {
        int64_t const value = 100 * p + w->rank;
        CHECK_OK(MPI_Win_fence(pairs[p][0], w->win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, target, window_at(w, target, 0), 1, MPI_INT64_T,
                         w->win));
        CHECK_OK(MPI_Win_fence(pairs[p][1], w->win));
        CHECK_EQ(window_cell(w, 0), 100 * p + origin);
        MPI_Barrier(w->comm); /* the next first fence may be none */
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* An epoch of gets alone, with what that allows to assert. */
static void assertions_around_get(struct window *w)
{
    int const target = (w->rank + 1) % w->size;
    for (int64_t k = 0; k < 20; ++k) {
        int64_t const mine = 7 * k + w->rank;
        int64_t seen = -1;
        memcpy(w->base, &mine, sizeof mine);
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOPUT, w->win));
        CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, target, window_at(w, target, 0), 1, MPI_INT64_T,
                         w->win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, w->win));
        CHECK_EQ(seen, 7 * k + target);
        MPI_Barrier(w->comm);
    }
}

/* No one leaves a fence before everyone has entered it: each tells that it entered by a message
 * sent before, which must be there after. */
static void barrier(struct window *w)
{
    for (int k = 0; k < 30; ++k) {
        MPI_Request sent[WINDOW_MOST_RANKS];
        for (int other = 0; other < w->size; ++other)
            MPI_Isend(NULL, 0, MPI_BYTE, other, k, w->comm, &sent[other]);
        CHECK_OK(MPI_Win_fence(0, w->win));
        for (int other = 0; other < w->size; ++other)
            MPI_Recv(NULL, 0, MPI_BYTE, other, k, w->comm, MPI_STATUS_IGNORE);
        MPI_Waitall(w->size, sent, MPI_STATUSES_IGNORE);
    }
    for (int k = 0; k < 300; ++k)
        CHECK_OK(MPI_Win_fence(0, w->win));
}

/* More data than any internal buffer holds. */
static void large(struct window *w)
{
    enum { LARGE = 1 << 20 };
    unsigned char *const data = malloc(LARGE);
    int const target = (w->rank + 1) % w->size, origin = (w->rank + w->size - 1) % w->size;
    memset(data, 'a' + w->rank, LARGE);
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(
        MPI_Put(data, LARGE, MPI_BYTE, target, window_at(w, target, 0), LARGE, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    memset(data, 'a' + origin, LARGE);
    CHECK(memcmp(w->base, data, LARGE) == 0);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    free(data);
}

static void everything(struct window *w)
{
    all_to_all(w);
    sums(w);
    assertions_around_put(w);
    assertions_around_get(w);
    barrier(w);
    large(w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run_everywhere("fence", everything, 1 << 20, 1);
    return check_end();
}
