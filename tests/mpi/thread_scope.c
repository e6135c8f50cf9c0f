/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows with mpi_win_scope=thread: a flush completes what its own thread has issued, and waits
 * for nobody else's.
 *
 * thread_scope [messages]
 *
 * `messages`: operations go by messages, so that fewer of them are enough.
 */
#include "nonblocking.h"
#include "workers.h"
#include <sidelight.h>
#include <unistd.h>

enum {
    TURNS = 2000,
    MANY = 80, /* more threads than have numbers of their own */
    GENERATIONS = 20,
    SLOTS = MANY * WINDOW_MOST_RANKS + 2,
    ASLEEP_MICROSECONDS = 300 * 1000,
};

static bool by_messages;
static MPI_Win of_process; /* a duplicate of the window that is tested */

static struct window open_with_scope(enum flavor flavor, const char *scope)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_win_scope", scope));
    int const unit = flavor == FLAVOR_DYNAMIC ? 1 : 8;
    struct window const w = window_open_with(info, flavor, MPI_COMM_WORLD, 8 * SLOTS, unit);
    CHECK_OK(MPI_Info_free(&info));
    return w;
}

static void expect_scope(MPI_Win win, const char *expected)
{
    char found[32] = "";
    int flag = 0;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, "mpi_win_scope", (int)sizeof found - 1, found, &flag));
    CHECK(flag);
    CHECK(strcmp(found, expected) == 0);
    CHECK_OK(MPI_Info_free(&info));
}

static void set_scope(MPI_Win win, const char *scope)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_win_scope", scope));
    CHECK_OK(MPI_Win_set_info(win, info));
    CHECK_OK(MPI_Info_free(&info));
}

static MPI_Win duplicate_with_scope(MPI_Win win, const char *scope)
{
    MPI_Win made;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_win_scope", scope));
    CHECK_OK(MPIX_Win_dup_with_info(win, info, &made));
    CHECK_OK(MPI_Info_free(&info));
    return made;
}

static void asked_and_told(void)
{
    check_step("the scope is asked for and told");
    struct window plain = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8, 8);
    struct window nonsense = open_with_scope(FLAVOR_ALLOCATE, "galaxy");
    struct window thread = open_with_scope(FLAVOR_ALLOCATE, "thread");
    expect_scope(plain.win, "process");
    expect_scope(nonsense.win, "process");
    expect_scope(thread.win, "thread");
    set_scope(plain.win, "thread");
    expect_scope(plain.win, "thread");
    set_scope(plain.win, "galaxy");
    expect_scope(plain.win, "thread");
    set_scope(plain.win, "process");
    expect_scope(plain.win, "process");
    window_close(&plain);
    window_close(&nonsense);
    window_close(&thread);
}

/* --- Nobody else's ---------------------------------------------------------------------------- */

/* A place that no thread has for itself. */
static MPI_Aint of_nobody(const struct window *w, int target)
{
    return window_at(w, target, 8 * (MPI_Aint)(SLOTS - 2));
}

static void *put_one(void *argument)
{
    struct window *const w = argument;
    static int64_t const value = 77;
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, 1, of_nobody(w, 1), 1, MPI_INT64_T, w->win));
    return NULL;
}

/* The target is asleep, so that the other thread's put stays under way if it is a message. */
static void waits_for_nobody_else(struct window *w)
{
    check_step("waits for nobody else");
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    memset(w->base, 0, (size_t)w->bytes);
    CHECK_OK(MPI_Win_flush_all(w->win)); /* it is granted */
    MPI_Barrier(w->comm);
    if (w->rank == 1)
        usleep(ASLEEP_MICROSECONDS);
    if (w->rank == 0) {
        pthread_t other;
        MPI_Request mine[2], for_all;
        usleep(ASLEEP_MICROSECONDS / 3);
        CHECK_EQ(pthread_create(&other, NULL, put_one, w), 0);
        pthread_join(other, NULL);
        CHECK_OK(MPIX_Win_iflush(1, w->win, &mine[0]));
        CHECK_OK(MPIX_Win_iflush_all(w->win, &mine[1]));
        for (int i = 0; i < 2; ++i) {
            int complete = 0;
            CHECK_OK(MPI_Test(&mine[i], &complete, MPI_STATUS_IGNORE));
            CHECK(complete);
        }
        set_scope(w->win, "process");
        CHECK_OK(MPIX_Win_iflush(1, w->win, &for_all));
        wait_for(&for_all);
        int64_t found = -1;
        CHECK_OK(MPI_Get(&found, 1, MPI_INT64_T, 1, of_nobody(w, 1), 1, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_flush(1, w->win));
        CHECK_EQ(found, 77);
        set_scope(w->win, "thread");
    }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

/* --- All of its own --------------------------------------------------------------------------- */

static MPI_Aint slot(const struct worker *me, int target)
{
    return window_at(me->w, target, 8 * (me->w->rank * (MPI_Aint)MANY + me->number));
}

/* Some threads use another handle of the same window, with the other scope. */
static MPI_Win handle_of(const struct worker *me)
{
    return me->number % 3 == 2 ? of_process : me->w->win;
}

static void flush_somehow(const struct worker *me, int target, int how)
{
    MPI_Win const win = handle_of(me);
    MPI_Request r;
    switch (how % 4) {
    case 0:
        CHECK_OK(MPI_Win_flush(target, win));
        break;
    case 1:
        CHECK_OK(MPI_Win_flush_all(win));
        break;
    case 2:
        CHECK_OK(MPIX_Win_iflush(target, win, &r));
        wait_for(&r);
        break;
    default:
        CHECK_OK(MPIX_Win_iflush_all(win, &r));
        wait_for(&r);
    }
}

/* A put, a flush, and what is got back; the buffer of a put is used again after a local flush. */
static void put_flush_get(struct worker *me, int rounds)
{
    for (int k = 0; k < rounds; ++k) {
        int const target = (me->number + k) % me->w->size;
        int64_t value = 1000 * (int64_t)k + me->number, found = -1;
        CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, target, slot(me, target), 1, MPI_INT64_T,
                         handle_of(me)));
        if (k % 2 == 0) {
            CHECK_OK(MPI_Win_flush_local(target, handle_of(me)));
            value = -2;
        }
        flush_somehow(me, target, k + me->number);
        CHECK_OK(MPI_Get(&found, 1, MPI_INT64_T, target, slot(me, target), 1, MPI_INT64_T,
                         handle_of(me)));
        if (k % 3 == 0)
            CHECK_OK(MPI_Win_flush_local_all(handle_of(me)));
        else
            CHECK_OK(MPI_Win_flush(target, handle_of(me)));
        CHECK_EQ(found, 1000 * (int64_t)k + me->number);
    }
}

static void many_rounds(struct worker *me) { put_flush_get(me, by_messages ? 300 : TURNS); }

/* Counted up by all; what one thread sees of it after its flush has its own additions in it. */
static void same_counter(struct worker *me)
{
    int64_t const one = 1;
    int64_t seen = -1;
    MPI_Aint const counter = window_at(me->w, 0, 8 * (MPI_Aint)(SLOTS - 1));
    for (int k = 0; k < 200; ++k) {
        int64_t found = -1;
        CHECK_OK(
            MPI_Accumulate(&one, 1, MPI_INT64_T, 0, counter, 1, MPI_INT64_T, MPI_SUM, me->w->win));
        CHECK_OK(MPI_Win_flush(0, me->w->win));
        CHECK_OK(MPI_Fetch_and_op(NULL, &found, MPI_INT64_T, 0, counter, MPI_NO_OP, me->w->win));
        CHECK_OK(MPI_Win_flush(0, me->w->win));
        CHECK(found > seen);
        CHECK(found >= k + 1);
        seen = found;
    }
}

static void in_one_epoch(struct window *w, void (*body)(struct worker *), const char *what)
{
    MPI_Comm comms[MOST_THREADS];
    for (int i = 0; i < threads_each(); ++i)
        comms[i] = MPI_COMM_NULL;
    check_step(what);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    memset(w->base, 0, (size_t)w->bytes);
    CHECK_OK(MPI_Win_sync(w->win));
    MPI_Barrier(w->comm);
    in_threads(body, w, 0, comms);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

static pthread_barrier_t all_there;

static void *with_many_others(void *argument)
{
    struct worker *const me = argument;
    put_flush_get(me, 2);
    pthread_barrier_wait(&all_there); /* so that all have a number, or none was left */
    put_flush_get(me, 2);
    return NULL;
}

/* More threads than numbers, and more than ever in the course of time. */
static void many_threads(struct window *w)
{
    static struct worker workers[MANY];
    check_step("many threads");
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_EQ(pthread_barrier_init(&all_there, NULL, MANY), 0);
    for (int i = 0; i < MANY; ++i) {
        workers[i] = (struct worker){.number = i, .w = w};
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, with_many_others, &workers[i]), 0);
    }
    for (int i = 0; i < MANY; ++i)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&all_there);
    for (int k = 0; k < GENERATIONS; ++k) {
        pthread_t next;
        CHECK_EQ(pthread_create(&next, NULL, put_one, w), 0);
        pthread_join(next, NULL); /* it leaves its put to others */
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    by_messages = argc > 1 && strcmp(argv[1], "messages") == 0;
    asked_and_told();
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        struct window w = open_with_scope((enum flavor)flavor, "thread");
        of_process = duplicate_with_scope(w.win, "process");
        expect_scope(of_process, "process");
        expect_scope(w.win, "thread");
        waits_for_nobody_else(&w);
        in_one_epoch(&w, many_rounds, "all of its own");
        in_one_epoch(&w, same_counter, "a counter of all");
        many_threads(&w);
        CHECK_OK(MPI_Win_free(&of_process));
        window_close(&w);
    }
    return check_end();
}
