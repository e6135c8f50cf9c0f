/* SPDX-License-Identifier: BSD-3-Clause */
/* Post, start, complete, wait and test. */
#include "host_defects.h"

static MPI_Group group_of(const struct window *w, int count, const int *ranks)
{
    MPI_Group all, group;
    CHECK_OK(MPI_Win_get_group(w->win, &all));
    MPI_Group_incl(all, count, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

/* The value lives until the epoch is closed, as it may not be sent before. */
static void put(struct window *w, int target, int index, int64_t value)
{
    static int64_t sent[WINDOW_MOST_RANKS];
    sent[target] = value;
    CHECK_OK(MPI_Accumulate(&sent[target], 1, MPI_INT64_T, target, window_at(w, target, 8 * index),
                            1, MPI_INT64_T, MPI_REPLACE, w->win));
}

/* Access and exposure at once, around a ring; the target's store and the origin's put alternate. */
static void ring(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    MPI_Group from = group_of(w, 1, &left), to = group_of(w, 1, &right);
    for (int64_t k = 0; k < 200; ++k) {
        int64_t const zero = 0;
        memcpy(w->base, &zero, sizeof zero);
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        put(w, right, 0, 10 * k + w->rank);
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK_OK(MPI_Win_wait(w->win));
        CHECK_EQ(window_cell(w, 0), 10 * k + left);
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

/* One origin, all others are targets; then all others are origins of one target. */
static void one_and_many(struct window *w)
{
    int others[WINDOW_MOST_RANKS], zero = 0;
    for (int i = 1; i < w->size; ++i)
        others[i - 1] = w->size - i; /* not in order */
    MPI_Group rest = group_of(w, w->size - 1, others), root = group_of(w, 1, &zero);
    for (int64_t k = 0; k < 50; ++k) {
        if (w->rank == 0) {
            CHECK_OK(MPI_Win_start(rest, 0, w->win));
            for (int i = 1; i < w->size; ++i)
                put(w, i, 1, k + i);
            CHECK_OK(MPI_Win_complete(w->win));
            CHECK_OK(MPI_Win_post(rest, 0, w->win));
            CHECK_OK(MPI_Win_wait(w->win));
            for (int i = 1; i < w->size; ++i)
                CHECK_EQ(window_cell(w, 1 + i), 100 * k + i);
        } else {
            CHECK_OK(MPI_Win_post(root, 0, w->win));
            CHECK_OK(MPI_Win_wait(w->win));
            CHECK_EQ(window_cell(w, 1), k + w->rank);
            CHECK_OK(MPI_Win_start(root, 0, w->win));
            put(w, 0, 1 + w->rank, 100 * k + w->rank);
            CHECK_OK(MPI_Win_complete(w->win));
        }
    }
    MPI_Group_free(&rest);
    MPI_Group_free(&root);
}

static void empty_groups(struct window *w)
{
    int flag = 0;
    CHECK_OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, w->win));
    CHECK_OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, w->win));
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    CHECK_OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, w->win));
    while (!flag)
        CHECK_OK(MPI_Win_test(w->win, &flag));
}

/*
 * MPI_Win_test is true behind a barrier that the origin has reached after its MPI_Win_complete. On
 * one node, where nothing is overtaken on its way.
 */
static void tested_behind_a_barrier(struct window *w)
{
    int const origin = 0;
    MPI_Group all = MPI_GROUP_NULL, from = group_of(w, 1, &origin), to;
    MPI_Comm_group(w->comm, &all);
    MPI_Group_difference(all, from, &to);
    for (int64_t k = 0; k < 20; ++k) {
        int flag = 0;
        if (w->rank == origin)
            CHECK_OK(MPI_Win_start(to, 0, w->win));
        else
            CHECK_OK(MPI_Win_post(from, 0, w->win));
        if (w->rank == origin)
            CHECK_OK(MPI_Win_complete(w->win));
        MPI_Barrier(w->comm);
        if (w->rank != origin) {
            CHECK_OK(MPI_Win_test(w->win, &flag));
            CHECK_EQ(flag, 1);
        }
        MPI_Barrier(w->comm);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

/* Oneself as the only target and the only origin. */
static void self(struct window *w)
{
    MPI_Group me = group_of(w, 1, &w->rank);
    for (int64_t k = 0; k < 20; ++k) {
        CHECK_OK(MPI_Win_post(me, 0, w->win));
        CHECK_OK(MPI_Win_start(me, 0, w->win));
        put(w, w->rank, 0, 3 * k);
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK_OK(MPI_Win_wait(w->win));
        CHECK_EQ(window_cell(w, 0), 3 * k);
    }
    MPI_Group_free(&me);
}

/* MPI_Win_test is false until the origin has completed, which it does on our word. */
static void test(struct window *w)
{
    int const origin = 0, target = w->size - 1;
    MPI_Group from = group_of(w, 1, &origin), to = group_of(w, 1, &target);
    if (w->size > 1 && w->rank == target) {
        int flag = 0;
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        for (int i = 0; i < 50; ++i)
            CHECK_OK(MPI_Win_test(w->win, &flag));
        CHECK_EQ(flag, 0);
        MPI_Send(NULL, 0, MPI_BYTE, origin, 5, w->comm);
        while (!flag)
            CHECK_OK(MPI_Win_test(w->win, &flag));
        CHECK_EQ(window_cell(w, 0), 77);
    } else if (w->size > 1 && w->rank == origin) {
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        MPI_Recv(NULL, 0, MPI_BYTE, target, 5, w->comm, MPI_STATUS_IGNORE);
        put(w, target, 0, 77);
        CHECK_OK(MPI_Win_complete(w->win));
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

/* MPI_MODE_NOCHECK: a barrier stands for the matching of post and start. */
static void no_check(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    MPI_Group from = group_of(w, 1, &left), to = group_of(w, 1, &right);
    for (int64_t k = 0; k < 50; ++k) {
        CHECK_OK(MPI_Win_post(from, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE, w->win));
        MPI_Barrier(w->comm);
        CHECK_OK(MPI_Win_start(to, MPI_MODE_NOCHECK, w->win));
        put(w, right, 0, 11 * k + w->rank);
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK_OK(MPI_Win_wait(w->win));
        CHECK_EQ(window_cell(w, 0), 11 * k + left);
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

/* Exposed without any put: the epochs of a pair still match one by one. */
static void without_operations(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    MPI_Group from = group_of(w, 1, &left), to = group_of(w, 1, &right);
    for (int k = 0; k < 100; ++k) {
        CHECK_OK(MPI_Win_post(from, MPI_MODE_NOPUT, w->win));
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK_OK(MPI_Win_wait(w->win));
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

static void everything(struct window *w)
{
    ring(w);
    MPI_Barrier(w->comm);
    one_and_many(w);
    empty_groups(w);
    MPI_Barrier(w->comm);
    self(w);
    MPI_Barrier(w->comm);
    test(w);
    MPI_Barrier(w->comm);
    if (window_is_on_one_node(w->comm))
        tested_behind_a_barrier(w);
    MPI_Barrier(w->comm);
    no_check(w);
    without_operations(w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run_everywhere("gats", everything, 8 * (MPI_Aint)(check_size + 1), 1);
    return check_end();
}
