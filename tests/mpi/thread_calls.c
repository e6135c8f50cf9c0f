/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: eight threads of each rank make every call of the chapter at the same time,
 * on windows of their own of every flavour, and on one that they share: under locks of different
 * targets, while others work elsewhere, and all in one epoch, each with its requests and flushes.
 */
#include "workers.h"

enum { LIVES = 3, ROUNDS = 10, SHARED_ROUNDS = 60, MORE = 4096 };

/* Words of every member's memory. */
enum {
    MINE,
    SUM,
    TICKET,
    SWAPPED,
    COPY,
    LAST,
    SLOT,
    WORDS = SLOT + MOST_THREADS * WINDOW_MOST_RANKS
};

static MPI_Aint word(const struct window *w, int target, int index)
{
    return window_at(w, target, 8 * index);
}

static int right(const struct window *w) { return (w->rank + 1) % w->size; }

static int left(const struct window *w) { return (w->rank + w->size - 1) % w->size; }

static int64_t own(const struct window *w, int index)
{
    int64_t value;
    memcpy(&value, w->base + 8 * (size_t)index, sizeof value);
    return value;
}

#define ONE 1, MPI_INT64_T
#define AT(target, index) (target), word(w, (target), (index))

/* --- What a window carries -------------------------------------------------------------------- */

static void attributes(struct worker *me, struct window *w)
{
    char name[MPI_MAX_OBJECT_NAME], expected[32];
    void *value = NULL;
    int key, found = 0, length;
    MPI_Info info;
    MPI_Group group;
    MPI_Errhandler handler;
    snprintf(expected, sizeof expected, "window of thread %d", me->number);
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL));
    CHECK_OK(MPI_Win_set_attr(w->win, key, me));
    CHECK_OK(MPI_Win_get_attr(w->win, key, &value, &found));
    CHECK(found && value == (void *)me);
    CHECK_OK(MPI_Win_delete_attr(w->win, key));
    CHECK_OK(MPI_Win_free_keyval(&key));
    CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_SIZE, &value, &found));
    CHECK(found);
    CHECK_OK(MPI_Win_set_name(w->win, expected));
    CHECK_OK(MPI_Win_get_name(w->win, name, &length));
    CHECK(strcmp(name, expected) == 0);
    CHECK_OK(MPI_Win_get_info(w->win, &info));
    CHECK_OK(MPI_Win_set_info(w->win, info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Win_get_group(w->win, &group));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Win_get_errhandler(w->win, &handler));
    CHECK_OK(MPI_Win_set_errhandler(w->win, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

static void shared_memory(struct window *w)
{
    MPI_Aint bytes = -1;
    int unit = -1;
    void *base = NULL;
    if (w->flavor != FLAVOR_SHARED)
        return;
    CHECK_OK(MPI_Win_shared_query(w->win, w->rank, &bytes, &unit, &base));
    CHECK(base == (void *)w->base);
}

/* More memory, for a put of one's own. */
static void attached_memory(struct window *w)
{
    int64_t const value = 31;
    int64_t *more;
    MPI_Aint at;
    if (w->flavor != FLAVOR_DYNAMIC)
        return;
    more = calloc(MORE, 1);
    MPI_Get_address(more, &at);
    CHECK_OK(MPI_Win_attach(w->win, more, MORE));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    CHECK_OK(MPI_Put(&value, ONE, w->rank, at, ONE, w->win));
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_EQ(more[0], 31);
    CHECK_OK(MPI_Win_detach(w->win, more));
    free(more);
}

/* --- A window of one's own -------------------------------------------------------------------- */

/* No barrier of the host's: threads that wait in one would keep the cores from others. */
static void fences(struct window *w, int64_t k)
{
    int64_t const value = 100 * k + w->rank;
    int64_t copy = -1;
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    CHECK_OK(MPI_Put(&value, ONE, AT(right(w), MINE), ONE, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPUT, w->win));
    CHECK_EQ(own(w, MINE), 100 * k + left(w));
    CHECK_OK(MPI_Get(&copy, ONE, AT(right(w), MINE), ONE, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, w->win));
    CHECK_EQ(copy, value);
}

static void groups(struct window *w, int64_t k)
{
    int const to = right(w), from = left(w);
    int64_t const value = 7 * k + w->rank;
    int done = 0;
    MPI_Group all, targets, origins;
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &to, &targets);
    MPI_Group_incl(all, 1, &from, &origins);
    CHECK_OK(MPI_Win_post(origins, 0, w->win));
    CHECK_OK(MPI_Win_start(targets, 0, w->win));
    CHECK_OK(MPI_Accumulate(&value, ONE, AT(to, LAST), ONE, MPI_REPLACE, w->win));
    CHECK_OK(MPI_Win_complete(w->win));
    if (k % 2 == 0)
        CHECK_OK(MPI_Win_wait(w->win));
    while (k % 2 != 0 && !done)
        CHECK_OK(MPI_Win_test(w->win, &done));
    CHECK_EQ(own(w, LAST), 7 * k + from);
    MPI_Group_free(&all);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
}

static void count_under_lock(struct window *w, int target)
{
    int64_t value = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
    CHECK_OK(MPI_Get(&value, ONE, AT(target, COPY), ONE, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    ++value;
    CHECK_OK(MPI_Put(&value, ONE, AT(target, COPY), ONE, w->win));
    CHECK_OK(MPI_Win_flush_local(target, w->win));
    CHECK_OK(MPI_Win_unlock(target, w->win));
}

static void swap_one_more(struct window *w, int target)
{
    int64_t expected = 0, found = -1;
    for (bool done = false; !done;) {
        int64_t const next = expected + 1;
        CHECK_OK(MPI_Compare_and_swap(&next, &expected, &found, MPI_INT64_T, AT(target, SWAPPED),
                                      w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        done = found == expected;
        expected = found;
    }
}

/* Each request form, each flush; what is put into a slot of one's own is read back. */
static void requests(struct window *w, int target, int slot, int64_t k)
{
    int64_t const value = 1000 * k + w->rank, one = 1;
    int64_t old[3] = {-1, -1, -1}, back = -1;
    MPI_Request r[3];
    CHECK_OK(MPI_Rput(&value, ONE, AT(target, slot), ONE, w->win, &r[0]));
    CHECK_OK(MPI_Raccumulate(&one, ONE, AT(target, SUM), ONE, MPI_SUM, w->win, &r[1]));
    CHECK_OK(
        MPI_Rget_accumulate(&one, ONE, &old[0], ONE, AT(target, SUM), ONE, MPI_SUM, w->win, &r[2]));
    CHECK_OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    CHECK_OK(k % 2 == 0 ? MPI_Win_flush(target, w->win) : MPI_Win_flush_all(w->win));
    CHECK_OK(MPI_Rget(&back, ONE, AT(target, slot), ONE, w->win, &r[0]));
    CHECK_OK(MPI_Fetch_and_op(&one, &old[1], MPI_INT64_T, AT(target, TICKET), MPI_SUM, w->win));
    CHECK_OK(MPI_Get_accumulate(&one, ONE, &old[2], ONE, AT(target, SUM), ONE, MPI_SUM, w->win));
    CHECK_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    CHECK_EQ(back, value);
    CHECK_OK(k % 2 == 0 ? MPI_Win_flush_local(target, w->win) : MPI_Win_flush_local_all(w->win));
    CHECK(old[0] >= 0 && old[1] >= 0 && old[2] > old[0]);
    CHECK_OK(MPI_Win_sync(w->win));
}

static void one_epoch(struct window *w, int64_t k)
{
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int target = 0; target < w->size; ++target) {
        requests(w, target, SLOT + w->rank, k);
        swap_one_more(w, target);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

/* All that a window is for, by one thread. Another flavour in each life and each thread. */
static void own_windows(struct worker *me)
{
    for (int life = 0; life < LIVES; ++life) {
        enum flavor const flavor = (enum flavor)((me->number + life) % FLAVORS);
        struct window made = window_open(flavor, me->comm, 8 * WORDS, 1), *const w = &made;
        attributes(me, w);
        shared_memory(w);
        for (int64_t k = 0; k < ROUNDS; ++k) {
            fences(w, k);
            groups(w, k);
            for (int target = 0; target < w->size; ++target)
                count_under_lock(w, target);
            meet_by_window(w);
            one_epoch(w, k);
            meet_by_window(w);
            attached_memory(w);
        }
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
        CHECK_EQ(own(w, COPY), ROUNDS * w->size);
        CHECK_EQ(own(w, SUM), 3 * ROUNDS * w->size);
        CHECK_EQ(own(w, TICKET), ROUNDS * w->size);
        CHECK_EQ(own(w, SWAPPED), ROUNDS * w->size);
        CHECK_OK(MPI_Win_unlock(w->rank, w->win));
        meet_by_window(w);
        window_close(w);
    }
}

/* --- One window ------------------------------------------------------------------------------- */

/* Threads with a target of their own lock it; the others have windows of their own meanwhile. */
static void locks_of_targets(struct worker *me)
{
    struct window *const w = me->w;
    for (int k = 0; me->number < w->size && k < SHARED_ROUNDS; ++k)
        count_under_lock(w, me->number);
    if (me->number >= w->size)
        own_windows(me);
}

/* All threads in one lock_all epoch. */
static void in_one_epoch(struct worker *me)
{
    struct window *const w = me->w;
    int const slot = SLOT + w->rank * MOST_THREADS + me->number;
    for (int64_t k = 0; k < SHARED_ROUNDS; ++k) {
        requests(w, (int)(me->number + k) % w->size, slot, k);
        swap_one_more(w, (int)k % w->size);
    }
}

static void shared_by_threads(enum flavor flavor, MPI_Comm *comms)
{
    int64_t sums[4] = {0};
    struct window w = window_open(flavor, MPI_COMM_WORLD, 8 * WORDS, 1);
    check_step("locks of different targets");
    in_threads(locks_of_targets, &w, 0, comms);
    MPI_Barrier(w.comm);
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    check_step("one epoch for all threads");
    in_threads(in_one_epoch, &w, 0, comms);
    window_meet(&w);
    CHECK_EQ(own(&w, COPY), (w.rank < threads_each()) * SHARED_ROUNDS * w.size);
    for (int i = 0; i < 4; ++i)
        sums[i] = own(&w, MINE + i);
    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_INT64_T, MPI_SUM, w.comm);
    CHECK_EQ(sums[SUM], (int64_t)3 * SHARED_ROUNDS * threads_each() * w.size);
    CHECK_EQ(sums[TICKET], (int64_t)SHARED_ROUNDS * threads_each() * w.size);
    CHECK_EQ(sums[SWAPPED], (int64_t)SHARED_ROUNDS * threads_each() * w.size);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    window_close(&w);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[MOST_THREADS];
    struct window none = {.win = MPI_WIN_NULL};
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    if (host_is_alone())
        return check_skip("the hosts do not come through");
    for (int i = 0; i < threads_each(); ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    check_step("windows of the threads' own");
    in_threads(own_windows, &none, 0, comms);
    for (int flavor = 0; flavor < FLAVORS; ++flavor)
        shared_by_threads((enum flavor)flavor, comms);
    for (int i = 0; i < threads_each(); ++i)
        MPI_Comm_free(&comms[i]);
    return check_end();
}
