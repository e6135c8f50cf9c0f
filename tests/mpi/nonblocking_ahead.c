/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of epochs pending far ahead of the other side, requests waited for in any order or not
 * at all, and the reorder keys, which let an epoch pass one that is stuck.
 */
#include "host_defects.h"
#include <sidelight.h>

enum { EPOCHS = 1000, CHAIN = 5000, FENCES = 300, STEPS = 400 };

static int64_t values[CHAIN];
static MPI_Request requests[CHAIN];

static void add(struct window *w, int target, int index)
{
    static const int64_t one = 1;
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, index, 1, MPI_INT64_T, MPI_SUM, w->win));
}

static MPI_Group only(int rank) { return check_group(1, &rank); }

static void drop(MPI_Request *request) { CHECK_OK(MPI_Request_free(request)); }

/* Waits in an order that has nothing to do with theirs; every third is freed instead. */
static void wait_shuffled(int count, bool free_some)
{
    uint64_t seed = 7;
    for (int i = count - 1; i > 0; --i) {
        int const j = (int)(check_random(&seed) % (uint64_t)(i + 1));
        MPI_Request const kept = requests[i];
        requests[i] = requests[j];
        requests[j] = kept;
    }
    for (int i = 0; i < count; ++i)
        if (free_some && i % 3 == 0)
            drop(&requests[i]);
        else
            CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
}

/* --- Far ahead -------------------------------------------------------------------------------- */

/* All accesses of rank 0 are closed before rank 1 exposes anything. */
static void origin_ahead(struct window *w)
{
    MPI_Request r;
    check_step("origin ahead");
    if (w->rank == 0) {
        MPI_Group to = only(1);
        for (int k = 0; k < EPOCHS; ++k) {
            values[k] = 3 * k;
            CHECK_OK(MPIX_Win_istart(to, 0, w->win, &r));
            drop(&r);
            window_put(w, 1, k, &values[k]);
            CHECK_OK(MPIX_Win_icomplete(w->win, &requests[k]));
        }
        CHECK(check_pending(&requests[0]));
        check_tell(1);
        wait_shuffled(EPOCHS, false);
        MPI_Group_free(&to);
    } else if (w->rank == 1) {
        MPI_Group from = only(0);
        check_hear(0);
        for (int k = 0; k < EPOCHS; ++k) {
            CHECK_EQ(window_cell(w, k), 0); /* none runs ahead of its exposure */
            CHECK_OK(MPI_Win_post(from, 0, w->win));
            CHECK_OK(MPI_Win_wait(w->win));
            CHECK_EQ(window_cell(w, k), 3 * k);
        }
        MPI_Group_free(&from);
    }
}

/* All exposures are open and closed before the origin comes; the grants survive until then. */
static void target_ahead(struct window *w)
{
    MPI_Request r;
    check_step("target ahead");
    if (w->rank == 1) {
        MPI_Group from = only(0);
        for (int k = 0; k < EPOCHS; ++k) {
            CHECK_OK(MPIX_Win_ipost(from, 0, w->win, &r));
            drop(&r);
            CHECK_OK(MPIX_Win_iwait(w->win, &requests[k]));
        }
        CHECK(check_pending(&requests[0]));
        check_tell(0);
        wait_shuffled(EPOCHS, false);
        for (int k = 0; k < EPOCHS; ++k)
            CHECK_EQ(window_cell(w, k), 5 * k);
        MPI_Group_free(&from);
    } else if (w->rank == 0) {
        MPI_Group to = only(1);
        check_hear(1);
        for (int k = 0; k < EPOCHS; ++k) {
            values[k] = 5 * k;
            CHECK_OK(MPI_Win_start(to, 0, w->win));
            window_put(w, 1, k, &values[k]);
            CHECK_OK(MPI_Win_complete(w->win));
        }
        MPI_Group_free(&to);
    }
}

/* Thousands of epochs on a lock that another holds; they come in order when it is given up. */
static void chain_of_locks(struct window *w, bool free_some)
{
    MPI_Request r;
    check_step("chain of locks");
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        int64_t const zero[2] = {0, 0};
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        memcpy(w->base, zero, sizeof zero);
        check_tell(1);
        check_hear(1);
        CHECK_EQ(window_cell(w, 0), 0);
        CHECK_OK(MPI_Win_unlock(0, w->win));
    } else if (w->rank == 1) {
        check_hear(0);
        for (int k = 0; k < CHAIN; ++k) {
            values[k] = k;
            CHECK_OK(MPIX_Win_ilock(k % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w->win,
                                    &r));
            drop(&r);
            window_put(w, 0, 0, &values[k]);
            add(w, 0, 1);
            CHECK_OK(MPIX_Win_iunlock(0, w->win, &requests[k]));
        }
        CHECK(check_pending(&requests[0]));
        CHECK(check_pending(&requests[CHAIN - 1]));
        check_tell(0);
        wait_shuffled(CHAIN, free_some);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win)); /* behind all of them */
        CHECK_OK(MPI_Win_unlock(0, w->win));
    }
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        CHECK_EQ(window_cell(w, 0), CHAIN - 1);
        CHECK_EQ(window_cell(w, 1), CHAIN);
    }
}

/* Rank 0 is hundreds of fences ahead of the others, each with its put. */
static void fences_ahead(struct window *w)
{
    check_step("fences ahead");
    CHECK_OK(MPI_Win_fence(0, w->win));
    if (w->rank == 0) {
        for (int k = 0; k < FENCES; ++k) {
            values[k] = 9 * k;
            window_put(w, 1, k, &values[k]);
            CHECK_OK(MPIX_Win_ifence(0, w->win, &requests[k]));
        }
        CHECK(check_pending(&requests[0]));
        for (int other = 1; other < w->size; ++other)
            check_tell(other);
        CHECK_OK(MPI_Waitall(FENCES, requests, MPI_STATUSES_IGNORE));
    } else {
        check_hear(0);
        for (int k = 0; k < FENCES; ++k) {
            CHECK_OK(MPI_Win_fence(0, w->win));
            CHECK(w->rank != 1 || window_cell(w, k) == 9 * k);
        }
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* One random list of accesses between pairs, of which each rank does its part without waiting. */
static void random_pairs(struct window *w)
{
    uint64_t seed = 99;
    int count = 0, expected[WINDOW_MOST_RANKS] = {0};
    MPI_Request r;
    check_step("random pairs");
    memset(w->base, 0, (size_t)w->bytes);
    MPI_Barrier(w->comm);
    for (int k = 0; k < STEPS; ++k) {
        int const origin = (int)(check_random(&seed) % (uint64_t)w->size);
        int const target = (int)(check_random(&seed) % (uint64_t)w->size);
        MPI_Group to = only(target), from = only(origin);
        if (w->rank == target) {
            CHECK_OK(MPIX_Win_ipost(from, 0, w->win, &r));
            drop(&r);
            ++expected[origin];
        }
        if (w->rank == origin) {
            CHECK_OK(MPIX_Win_istart(to, 0, w->win, &r));
            drop(&r);
            add(w, target, origin);
            CHECK_OK(MPIX_Win_icomplete(w->win, &requests[count++]));
        }
        if (w->rank == target)
            CHECK_OK(MPIX_Win_iwait(w->win, &requests[count++]));
        MPI_Group_free(&to);
        MPI_Group_free(&from);
    }
    wait_shuffled(count, false);
    for (int origin = 0; origin < w->size; ++origin)
        CHECK_EQ(window_cell(w, origin), expected[origin]);
    MPI_Barrier(w->comm);
}

/* --- The reorder keys ------------------------------------------------------------------------- */

enum side { ACCESS, EXPOSURE };

/* One whole epoch with a peer; the request that closes it. */
static void epoch(struct window *w, enum side side, int peer, int slot, MPI_Request *closing)
{
    MPI_Group group = only(peer);
    MPI_Request opening;
    if (side == ACCESS) {
        CHECK_OK(MPIX_Win_istart(group, 0, w->win, &opening));
        add(w, peer, slot);
        CHECK_OK(MPIX_Win_icomplete(w->win, closing));
    } else {
        CHECK_OK(MPIX_Win_ipost(group, 0, w->win, &opening));
        CHECK_OK(MPIX_Win_iwait(w->win, closing));
    }
    drop(&opening);
    MPI_Group_free(&group);
}

/* Rank 0 has an epoch with rank 1, which comes only when told to, then one with rank 2, which is
 * there at once. Only a key lets the second complete before the first. */
static void second_epoch(struct window *w, enum side first, enum side second, bool reorder)
{
    MPI_Request r[2];
    if (w->rank == 0) {
        epoch(w, first, 1, 0, &r[0]);
        epoch(w, second, 2, 0, &r[1]);
        if (reorder)
            CHECK_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
        else
            CHECK(check_pending(&r[1]));
        CHECK(check_pending(&r[0]));
        check_tell(1);
        CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    } else if (w->rank <= 2) {
        if (w->rank == 1)
            check_hear(0);
        epoch(w, (w->rank == 1 ? first : second) == ACCESS ? EXPOSURE : ACCESS, 0, w->rank, &r[0]);
        CHECK_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    }
    MPI_Barrier(w->comm);
}

static void reorder_key(const char *key, enum side first, enum side second)
{
    check_step(key);
    for (int on = 0; on < 2; ++on) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, key, on ? "1" : "0");
        struct window w = window_open_with(info, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
        MPI_Info_free(&info);
        second_epoch(&w, first, second, on != 0);
        window_close(&w);
    }
}

/* The same with locks: rank 1 holds its own, that of rank 2 is free. */
static void reorder_locks(bool reorder)
{
    MPI_Info info;
    check_step("A_A_A_R with locks");
    MPI_Info_create(&info);
    MPI_Info_set(info, "sidelight_a_a_a_r", reorder ? "1" : "0");
    struct window w = window_open_with(info, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    MPI_Info_free(&info);
    if (w.rank == 1) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
        check_tell(0);
        check_hear(0);
        CHECK_OK(MPI_Win_unlock(1, w.win));
    } else if (w.rank == 0) {
        check_hear(1);
        for (int k = 0; k < 2; ++k) {
            MPI_Request opening;
            CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 1 + k, 0, w.win, &opening));
            drop(&opening);
            add(&w, 1 + k, 0);
            CHECK_OK(MPIX_Win_iunlock(1 + k, w.win, &requests[k]));
        }
        if (reorder)
            CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        else
            CHECK(check_pending(&requests[1]));
        CHECK(check_pending(&requests[0]));
        check_tell(1);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    window_close(&w);
}

static void far_ahead(enum flavor flavor)
{
    struct window w = window_open(flavor, MPI_COMM_WORLD, 8 * EPOCHS, 8);
    origin_ahead(&w);
    MPI_Barrier(w.comm);
    target_ahead(&w);
    chain_of_locks(&w, false);
    chain_of_locks(&w, true);
    fences_ahead(&w);
    random_pairs(&w);
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    far_ahead(FLAVOR_ALLOCATE);
    far_ahead(FLAVOR_SHARED);
    if (check_size >= 3) {
        reorder_key("sidelight_a_a_a_r", ACCESS, ACCESS);
        reorder_key("sidelight_a_a_e_r", EXPOSURE, ACCESS);
        reorder_key("sidelight_e_a_e_r", EXPOSURE, EXPOSURE);
        reorder_key("sidelight_e_a_a_r", ACCESS, EXPOSURE);
        reorder_key("MPI_WIN_ACCESS_AFTER_ACCESS_REORDER", ACCESS, ACCESS);
        reorder_locks(false);
        reorder_locks(true);
    }
    return check_end();
}
