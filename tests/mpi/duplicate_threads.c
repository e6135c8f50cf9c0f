/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: threads that make, use and free handles of one window at the same time, and
 * that free them while another thread frees the window.
 */
#include "duplicates.h"
#include "workers.h"
#include <sidelight.h>

enum { ROUNDS = 40, ADDED = 5, FREED_ROUNDS = 20, EACH = 4 };

static void set_ordering(MPI_Win win, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", value);
    CHECK_OK(MPI_Win_set_info(win, info));
    MPI_Info_free(&info);
}

static bool has_ordering(MPI_Win win, const char *expected)
{
    char text[32] = "";
    int found = 0;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, "accumulate_ordering", sizeof text - 1, text, &found));
    MPI_Info_free(&info);
    return found && strcmp(text, expected) == 0;
}

/* Each thread through handles of its own, in the one epoch that all have open. */
static void add_through_own(struct worker *me)
{
    const char *const mine = me->number % 2 == 0 ? "none" : "raw";
    int64_t const one = 1;
    for (int k = 0; k < ROUNDS; ++k) {
        int const target = (me->number + k) % me->w->size;
        MPI_Win first = duplicate(me->w->win, MPI_INFO_NULL);
        set_ordering(first, mine);
        MPI_Win second = duplicate(first, MPI_INFO_NULL);
        for (int n = 0; n < ADDED; ++n)
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, window_at(me->w, target, 0), 1,
                                    MPI_INT64_T, MPI_SUM, n % 2 == 0 ? first : second));
        CHECK_OK(MPI_Win_flush(target, first));
        CHECK(has_ordering(second, mine));
        free_handle(&first);
        CHECK(has_ordering(second, mine));
        free_handle(&second);
    }
}

/* The same handle again and again in all threads, while each of them also has its own. */
static void handles_of_all(MPI_Comm *comms)
{
    check_step("handles in all threads");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    int64_t sum = 0, all = 0;
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    in_threads(add_through_own, &w, 0, comms);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    MPI_Barrier(w.comm);
    memcpy(&sum, w.base, sizeof sum);
    MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, w.comm);
    CHECK_EQ(all, w.size * threads_each() * ROUNDS * ADDED);
    window_close(&w);
}

static MPI_Win left[MOST_THREADS][EACH]; /* of the last window, each thread's to free */

/* The first thread frees the window, the others its duplicates, before, meanwhile and after. */
static void free_or_be_orphaned(struct worker *me)
{
    if (me->number == 0) {
        CHECK_OK(MPI_Win_free(&me->w->win));
        return;
    }
    for (int k = 0; k < EACH; ++k) {
        free_handle(&left[me->number][k]);
        usleep((useconds_t)(37 * me->number) % 100);
    }
}

static void freed_together(MPI_Comm *comms)
{
    check_step("handles that are freed beside their window");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    for (int round = 0; round < FREED_ROUNDS; ++round) {
        int64_t value = 0;
        for (int i = 1; i < threads_each(); ++i)
            for (int k = 0; k < EACH; ++k)
                left[i][k] = duplicate(w.win, MPI_INFO_NULL);
        struct window next = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
        in_threads(free_or_be_orphaned, &w, 0, comms);
        CHECK(w.win == MPI_WIN_NULL);
        /* What comes after it may have its storage and its handles. */
        w = next;
        MPI_Win handle = duplicate(w.win, MPI_INFO_NULL);
        int64_t const mine = round;
        CHECK_OK(MPI_Win_fence(0, handle));
        CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, (w.rank + 1) % w.size, 0, 1, MPI_INT64_T, w.win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, handle));
        memcpy(&value, w.base, sizeof value);
        CHECK_EQ(value, round);
        free_handle(&handle);
    }
    window_close(&w);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[MOST_THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    for (int i = 0; i < threads_each(); ++i)
        comms[i] = MPI_COMM_NULL;
    handles_of_all(comms);
    freed_together(comms);
    return check_end();
}
