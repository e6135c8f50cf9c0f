/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notified operations, their counters, and requests that wait for a counter (MPI-5.1, 12.6; P2,
 * section IV), by the names that the standard gives them, and once by all others. Each rank
 * notifies the one on its right, which then finds the data in its own memory, told by nothing else.
 */
#include <fcntl.h>
#include <sched.h>

#include "nonblocking.h"
#include <sidelight.h>

enum {
    COUNTERS = 4,
    LONG = 40000,
    MANY = 3000,
    THRESHOLDS = 2000,
    MANY_COUNTERS = 5000,
    MANY_THRESHOLDS = 100000,
    REQUESTS = 10000
};

static MPI_Aint at(const struct window *w, int target, int index)
{
    return window_at(w, target, 8 * (MPI_Aint)index);
}

static MPI_Count value_of(const struct window *w, int counter)
{
    MPI_Count value = -1;
    CHECK_OK(MPI_Win_get_notify_value(w->win, counter, &value));
    return value;
}

static void await(const struct window *w, int counter, MPI_Count expected)
{
    MPI_Request r;
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, counter, expected, &r));
    wait_for(&r);
    CHECK(value_of(w, counter) >= expected);
}

static void begin(struct window *w, const char *what)
{
    check_step(what);
    memset(w->base, 0, (size_t)w->bytes);
    CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, COUNTERS));
    CHECK_OK(MPI_Win_lock_all(0, w->win));
}

static void end(struct window *w)
{
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

static void each_operation(struct window *w)
{
    int const to = window_right_of(w), from = window_left_of(w);
    int64_t const value = 100 + w->rank, one = 1;
    int64_t got = -1, old = -1;
    MPI_Count count = -1;
    begin(w, "each operation");
    CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 0, w->win));
    await(w, 0, 1);
    CHECK_EQ(window_cell(w, 1), 100 + from);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Accumulate_notify(&one, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, MPI_SUM,
                                   1, w->win));
    await(w, 1, 1);
    CHECK_EQ(window_cell(w, 1), 101 + from);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Get_accumulate_notify(&one, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, to, at(w, to, 1),
                                       1, MPI_INT64_T, MPI_SUM, 2, w->win));
    await(w, 2, 1);
    CHECK_EQ(window_cell(w, 1), 102 + from);
    CHECK_OK(MPI_Win_flush(to, w->win));
    CHECK_EQ(old, 101 + w->rank);
    CHECK_OK(MPI_Get_notify(&got, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 3, w->win));
    await(w, 3, 1); /* what was read may be overwritten now */
    memset(w->base, 0xff, 64);
    CHECK_OK(MPI_Win_flush(to, w->win));
    CHECK_EQ(got, 102 + w->rank);
    for (int counter = 0; counter < COUNTERS; ++counter)
        CHECK_EQ(value_of(w, counter), 1);
    CHECK_OK(MPI_Win_reset_notify_value(w->win, 2, &count));
    CHECK_EQ(count, 1);
    CHECK_EQ(value_of(w, 2), 0);
    end(w);
}

static void other_forms(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 7 + w->rank;
    int64_t got[3] = {-1, -1, -1}, old[2] = {-1, -1};
    MPI_Request r[6];
    begin(w, "requests and large counts");
    CHECK_OK(MPI_Rput_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 0, w->win,
                             &r[0]));
    CHECK_OK(MPIX_Rput_notify_c(&value, 1, MPI_INT64_T, to, at(w, to, 2), 1, MPI_INT64_T, 0, w->win,
                                &r[1]));
    CHECK_OK(MPI_Raccumulate_notify(&value, 1, MPI_INT64_T, to, at(w, to, 3), 1, MPI_INT64_T,
                                    MPI_SUM, 0, w->win, &r[2]));
    CHECK_OK(MPI_Rget_accumulate_notify(&value, 1, MPI_INT64_T, &old[0], 1, MPI_INT64_T, to,
                                        at(w, to, 4), 1, MPI_INT64_T, MPI_SUM, 0, w->win, &r[3]));
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, 0, 4, &r[4]));
    CHECK_OK(MPI_Waitall(5, r, MPI_STATUSES_IGNORE));
    for (int place = 1; place <= 4; ++place)
        CHECK_EQ(window_cell(w, place), 7 + window_left_of(w));
    CHECK_EQ(old[0], 0);
    CHECK_OK(MPI_Put_notify_c(&value, 1, MPI_INT64_T, to, at(w, to, 5), 1, MPI_INT64_T, 1, w->win));
    CHECK_OK(MPI_Accumulate_notify_c(&value, 1, MPI_INT64_T, to, at(w, to, 6), 1, MPI_INT64_T,
                                     MPI_SUM, 1, w->win));
    CHECK_OK(MPI_Get_accumulate_notify_c(&value, 1, MPI_INT64_T, &old[1], 1, MPI_INT64_T, to,
                                         at(w, to, 7), 1, MPI_INT64_T, MPI_SUM, 1, w->win));
    CHECK_OK(
        MPI_Get_notify_c(&got[0], 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 1, w->win));
    CHECK_OK(MPI_Rget_notify(&got[1], 1, MPI_INT64_T, to, at(w, to, 2), 1, MPI_INT64_T, 1, w->win,
                             &r[5]));
    wait_for(&r[5]);
    CHECK_EQ(got[1], value);
    CHECK_OK(MPI_Rget_notify_c(&got[2], 1, MPI_INT64_T, to, at(w, to, 3), 1, MPI_INT64_T, 1, w->win,
                               &r[0]));
    CHECK_OK(MPI_Raccumulate_notify_c(&value, 1, MPI_INT64_T, to, at(w, to, 8), 1, MPI_INT64_T,
                                      MPI_SUM, 1, w->win, &r[1]));
    CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK_EQ(got[2], value);
    await(w, 1, 7);
    for (int place = 5; place <= 8; ++place)
        CHECK_EQ(window_cell(w, place), 7 + window_left_of(w));
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_EQ(got[0], value);
    CHECK_EQ(old[1], 0);
    end(w);
}

/* All calls by the names that a tool uses. */
static const struct call_names {
    const char *prefix;
    __typeof__(&MPI_Win_set_num_notify) set_num;
    __typeof__(&MPI_Win_get_num_notify) get_num;
    __typeof__(&MPI_Win_get_notify_value) get_value;
    __typeof__(&MPI_Win_reset_notify_value) reset_value;
    __typeof__(&MPI_Put_notify) put;
    __typeof__(&MPI_Put_notify_c) put_c;
    __typeof__(&MPI_Get_notify) get;
    __typeof__(&MPI_Get_notify_c) get_c;
    __typeof__(&MPI_Accumulate_notify) add;
    __typeof__(&MPI_Accumulate_notify_c) add_c;
    __typeof__(&MPI_Get_accumulate_notify) fetch;
    __typeof__(&MPI_Get_accumulate_notify_c) fetch_c;
    __typeof__(&MPI_Rput_notify) rput;
    __typeof__(&MPI_Rput_notify_c) rput_c;
    __typeof__(&MPI_Rget_notify) rget;
    __typeof__(&MPI_Rget_notify_c) rget_c;
    __typeof__(&MPI_Raccumulate_notify) radd;
    __typeof__(&MPI_Raccumulate_notify_c) radd_c;
    __typeof__(&MPI_Rget_accumulate_notify) rfetch;
    __typeof__(&MPI_Rget_accumulate_notify_c) rfetch_c;
} call_names[] = {
#define CALL_NAMES(prefix)                                                                         \
    {                                                                                              \
#prefix, prefix##Win_set_num_notify, prefix##Win_get_num_notify,                           \
            prefix##Win_get_notify_value, prefix##Win_reset_notify_value, prefix##Put_notify,      \
            prefix##Put_notify_c, prefix##Get_notify, prefix##Get_notify_c,                        \
            prefix##Accumulate_notify, prefix##Accumulate_notify_c, prefix##Get_accumulate_notify, \
            prefix##Get_accumulate_notify_c, prefix##Rput_notify, prefix##Rput_notify_c,           \
            prefix##Rget_notify, prefix##Rget_notify_c, prefix##Raccumulate_notify,                \
            prefix##Raccumulate_notify_c, prefix##Rget_accumulate_notify,                          \
            prefix##Rget_accumulate_notify_c                                                       \
    }
    CALL_NAMES(PMPI_), CALL_NAMES(MPIX_), CALL_NAMES(PMPIX_)};

/* In twelve cells and with counter 0 of the one on the right. */
static void write_by(const struct call_names *by, struct window *w, const int64_t *value,
                     int64_t *old)
{
    int const to = window_right_of(w);
    MPI_Request r[6];
#define ORIGIN value, 1, MPI_INT64_T
#define RESULT(index) &old[index], 1, MPI_INT64_T
#define TARGET(index) to, at(w, to, index), 1, MPI_INT64_T
    CHECK_OK(by->put(ORIGIN, TARGET(0), 0, w->win));
    CHECK_OK(by->put_c(ORIGIN, TARGET(1), 0, w->win));
    CHECK_OK(by->add(ORIGIN, TARGET(2), MPI_SUM, 0, w->win));
    CHECK_OK(by->add_c(ORIGIN, TARGET(3), MPI_SUM, 0, w->win));
    CHECK_OK(by->fetch(ORIGIN, RESULT(0), TARGET(4), MPI_SUM, 0, w->win));
    CHECK_OK(by->fetch_c(ORIGIN, RESULT(1), TARGET(5), MPI_SUM, 0, w->win));
    CHECK_OK(by->rput(ORIGIN, TARGET(6), 0, w->win, &r[0]));
    CHECK_OK(by->rput_c(ORIGIN, TARGET(7), 0, w->win, &r[1]));
    CHECK_OK(by->radd(ORIGIN, TARGET(8), MPI_SUM, 0, w->win, &r[2]));
    CHECK_OK(by->radd_c(ORIGIN, TARGET(9), MPI_SUM, 0, w->win, &r[3]));
    CHECK_OK(by->rfetch(ORIGIN, RESULT(2), TARGET(10), MPI_SUM, 0, w->win, &r[4]));
    CHECK_OK(by->rfetch_c(ORIGIN, RESULT(3), TARGET(11), MPI_SUM, 0, w->win, &r[5]));
    CHECK_OK(MPI_Waitall(6, r, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_flush(to, w->win));
}

static void read_by(const struct call_names *by, struct window *w, int64_t *got)
{
    int const to = window_right_of(w);
    MPI_Request r[2];
    CHECK_OK(by->get(&got[0], 1, MPI_INT64_T, TARGET(0), 0, w->win));
    CHECK_OK(by->get_c(&got[1], 1, MPI_INT64_T, TARGET(1), 0, w->win));
    CHECK_OK(by->rget(&got[2], 1, MPI_INT64_T, TARGET(2), 0, w->win, &r[0]));
    CHECK_OK(by->rget_c(&got[3], 1, MPI_INT64_T, TARGET(3), 0, w->win, &r[1]));
    CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_flush(to, w->win));
}

static void every_name(struct window *w)
{
    for (size_t i = 0; i < sizeof call_names / sizeof *call_names; ++i) {
        const struct call_names *const by = &call_names[i];
        int64_t const value = 3 + w->rank;
        int64_t old[4] = {-1, -1, -1, -1}, got[4] = {-1, -1, -1, -1};
        MPI_Count count = -1;
        int number = -1;
        begin(w, by->prefix);
        CHECK_OK(MPI_Win_unlock_all(w->win));
        CHECK_OK(by->set_num(w->win, MPI_INFO_NULL, 2));
        CHECK_OK(MPI_Win_lock_all(0, w->win));
        CHECK_OK(by->get_num(w->win, window_right_of(w), &number));
        CHECK_EQ(number, 2);
        write_by(by, w, &value, old);
        await(w, 0, 12);
        for (int place = 0; place < 12; ++place)
            CHECK_EQ(window_cell(w, place), 3 + window_left_of(w));
        read_by(by, w, got);
        for (int k = 0; k < 4; ++k) {
            CHECK_EQ(old[k], 0);
            CHECK_EQ(got[k], value);
        }
        await(w, 0, 16);
        CHECK_OK(by->reset_value(w->win, 0, &count));
        CHECK_EQ(count, 16);
        CHECK_OK(by->get_value(w->win, 0, &count));
        CHECK_EQ(count, 0);
        end(w);
    }
}

/* Long ones overtake one another, and the notification must not overtake its own. */
static void long_operations(struct window *w)
{
    int const to = window_right_of(w), from = window_left_of(w);
    static int64_t data[LONG], got[LONG];
    begin(w, "long operations");
    for (int round = 1; round <= 8; ++round) {
        for (int i = 0; i < LONG; ++i)
            data[i] = 1000000 * (int64_t)round + w->rank * 100 + i;
        CHECK_OK(MPI_Put_notify(data, LONG, MPI_INT64_T, to, at(w, to, 0), LONG, MPI_INT64_T, 0,
                                w->win));
        await(w, 0, round);
        int wrong = 0;
        for (int i = 0; i < LONG; ++i)
            wrong += window_cell(w, i) != 1000000 * (int64_t)round + from * 100 + i;
        CHECK_EQ(wrong, 0);
        CHECK_OK(MPI_Win_flush_all(w->win));
        CHECK_OK(
            MPI_Get_notify(got, LONG, MPI_INT64_T, to, at(w, to, 0), LONG, MPI_INT64_T, 1, w->win));
        await(w, 1, round);
        memset(w->base, 0, (size_t)w->bytes);
        CHECK_OK(MPI_Win_flush_all(w->win));
        wrong = 0;
        for (int i = 0; i < LONG; ++i)
            wrong += got[i] != 1000000 * (int64_t)round + w->rank * 100 + i;
        CHECK_EQ(wrong, 0);
        MPI_Barrier(w->comm);
    }
    end(w);
}

/* All notify rank 0, which sees each value no sooner than its data. */
static void many_to_one(struct window *w)
{
    static int64_t values[MANY];
    begin(w, "many to one");
    int const each = MANY / w->size, first = w->rank * each;
    for (int i = first; i < first + each; ++i) {
        values[i] = i + 1;
        CHECK_OK(
            MPI_Put_notify(&values[i], 1, MPI_INT64_T, 0, at(w, 0, i), 1, MPI_INT64_T, 3, w->win));
    }
    if (w->rank == 0) {
        for (MPI_Count seen = 0; seen < (MPI_Count)each * w->size;) {
            await(w, 3, seen + 1);
            seen = value_of(w, 3);
            MPI_Count there = 0;
            for (int i = 0; i < each * w->size; ++i)
                there += window_cell(w, i) == i + 1;
            CHECK(there >= seen);
        }
        CHECK_EQ(value_of(w, 3), (MPI_Count)each * w->size);
    }
    CHECK_OK(MPI_Win_flush_all(w->win));
    end(w);
}

/* A flush is over when the target's counter shows it. */
static void flushes(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 5;
    begin(w, "flushes");
    for (int round = 1; round <= ROUNDS; ++round) {
        CHECK_OK(
            MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 0, w->win));
        CHECK_OK(MPI_Win_flush(to, w->win));
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, 7, NULL, 0, MPI_BYTE, window_left_of(w), 7, w->comm,
                     MPI_STATUS_IGNORE);
        CHECK_EQ(value_of(w, 0), round);
        MPI_Barrier(w->comm);
    }
    end(w);
}

/* Polling needs no other call. */
static void polling(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 6;
    begin(w, "polling");
    CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 0, w->win));
    while (value_of(w, 0) == 0)
        sched_yield();
    CHECK_EQ(window_cell(w, 1), 6);
    end(w);
}

/* Whoever notifies needs a long message of the one that waits, first. */
static void moves_all_else(struct window *w)
{
    int const to = window_right_of(w), from = window_left_of(w);
    static char out[1 << 20], in[1 << 20];
    int64_t const value = 3;
    MPI_Request r[2];
    begin(w, "waiting moves all else");
    memset(out, 'a' + w->rank % 26, sizeof out);
    CHECK_OK(MPI_Isend(out, sizeof out, MPI_CHAR, to, 9, w->comm, &r[0]));
    if (w->rank != 0)
        MPI_Recv(in, sizeof in, MPI_CHAR, from, 9, w->comm, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 0, w->win));
    CHECK_OK(MPI_Win_flush(to, w->win));
    await(w, 0, 1);
    CHECK_EQ(window_cell(w, 1), 3);
    if (w->rank == 0)
        MPI_Recv(in, sizeof in, MPI_CHAR, from, 9, w->comm, MPI_STATUS_IGNORE);
    CHECK_EQ(in[sizeof in - 1], 'a' + from % 26);
    wait_for(&r[0]);
    end(w);
}

/* The same where the one that waits asks for the counter, and calls nothing else. */
static void polling_moves_all_else(struct window *w)
{
    static char out[1 << 20], in[1 << 20];
    int64_t const value = 3;
    MPI_Request sent;
    begin(w, "polling moves all else");
    if (w->rank == 0) {
        CHECK_OK(MPI_Isend(out, sizeof out, MPI_CHAR, 1, 9, w->comm, &sent));
        while (value_of(w, 0) == 0)
            sched_yield();
        wait_for(&sent);
        CHECK_EQ(window_cell(w, 1), 3);
    } else if (w->rank == 1) {
        MPI_Recv(in, sizeof in, MPI_CHAR, 0, 9, w->comm, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, 0, at(w, 0, 1), 1, MPI_INT64_T, 0, w->win));
    }
    end(w);
}

/* One who notifies late: the other one waits in MPI_Wait. */
static void late(struct window *w)
{
    int64_t const value = 3;
    begin(w, "late");
    if (w->rank == 0) {
        usleep(300000);
        CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, 1, at(w, 1, 1), 1, MPI_INT64_T, 0, w->win));
    } else if (w->rank == 1) {
        await(w, 0, 1);
    }
    end(w);
}

/* Requests of several kinds together, whichever is complete first. */
static void any_of(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 4;
    int heard = -1, index = -1;
    MPI_Request r[3];
    begin(w, "waiting for any");
    CHECK_OK(MPI_Irecv(&heard, 1, MPI_INT, window_left_of(w), 11, w->comm, &r[0]));
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, 1, 1, &r[1]));
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, 2, 1, &r[2]));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 2, w->win));
    CHECK_OK(MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE));
    CHECK_EQ(index, 2);
    MPI_Barrier(w->comm);
    MPI_Send(&w->rank, 1, MPI_INT, to, 11, w->comm);
    CHECK_OK(MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE));
    CHECK_EQ(index, 0);
    CHECK_EQ(heard, window_left_of(w));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 1, w->win));
    CHECK_OK(MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE));
    CHECK_EQ(index, 1);
    end(w);
}

/* In any order, and what a reset has found is told, too. */
static void thresholds(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 2;
    static MPI_Request r[THRESHOLDS];
    MPI_Request pending;
    MPI_Count found = -1;
    begin(w, "many thresholds");
    for (int i = 0; i < THRESHOLDS; ++i)
        CHECK_OK(MPIX_Win_notify_ithreshold(w->win, i % 2, 1 + (i * 7) % 20, &r[i]));
    for (int i = 0; i < 20; ++i) {
        CHECK_OK(
            MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 0, w->win));
        CHECK_OK(
            MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 1, w->win));
    }
    CHECK_OK(MPI_Waitall(THRESHOLDS, r, MPI_STATUSES_IGNORE));
    CHECK_EQ(value_of(w, 0), 20);
    CHECK_EQ(value_of(w, 1), 20);
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, 0, 0, &pending)); /* has been reached */
    wait_for(&pending);
    CHECK_OK(MPI_Win_flush_all(w->win));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_reset_notify_value(w->win, 0, &found));
    CHECK_EQ(found, 20);
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, 0, 1, &pending));
    CHECK(check_pending(&pending));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, 0, w->win));
    wait_for(&pending);
    end(w);
}

/* So many that nothing may look at each of them again and again. */
static void a_multitude(struct window *w)
{
    static MPI_Request r[MANY_THRESHOLDS];
    int const to = window_right_of(w);
    check_step("a hundred thousand thresholds");
    CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, MANY_COUNTERS));
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < MANY_THRESHOLDS; ++i)
        CHECK_OK(
            MPIX_Win_notify_ithreshold(w->win, i % MANY_COUNTERS, 1 + i / MANY_COUNTERS, &r[i]));
    for (int i = 0; i < MANY_THRESHOLDS; ++i)
        CHECK_OK(MPI_Put_notify(NULL, 0, MPI_BYTE, to, at(w, to, 0), 0, MPI_BYTE,
                                MANY_COUNTERS - 1 - i % MANY_COUNTERS, w->win));
    CHECK_OK(MPI_Waitall(MANY_THRESHOLDS, r, MPI_STATUSES_IGNORE));
    for (int counter = 0; counter < MANY_COUNTERS; ++counter)
        CHECK_EQ(value_of(w, counter), MANY_THRESHOLDS / MANY_COUNTERS);
    end(w);
}

static void many_requests(struct window *w)
{
    static MPI_Request r[REQUESTS];
    static int64_t got[REQUESTS];
    int const to = window_right_of(w);
    int64_t const one = 1;
    begin(w, "many requests of notified operations");
    for (int i = 0; i < REQUESTS; i += 4) {
        MPI_Aint const place = at(w, to, 1 + i % CELLS);
        CHECK_OK(
            MPI_Rput_notify(&one, 1, MPI_INT64_T, to, place, 1, MPI_INT64_T, 0, w->win, &r[i]));
        CHECK_OK(MPI_Raccumulate_notify(&one, 1, MPI_INT64_T, to, at(w, to, CELLS + 1), 1,
                                        MPI_INT64_T, MPI_SUM, 1, w->win, &r[i + 1]));
        CHECK_OK(MPI_Rget_accumulate_notify(&one, 1, MPI_INT64_T, &got[i + 2], 1, MPI_INT64_T, to,
                                            at(w, to, CELLS + 2), 1, MPI_INT64_T, MPI_SUM, 2,
                                            w->win, &r[i + 2]));
        CHECK_OK(MPI_Rget_notify(&got[i + 3], 1, MPI_INT64_T, to, at(w, to, CELLS + 3), 1,
                                 MPI_INT64_T, 3, w->win, &r[i + 3]));
    }
    CHECK_OK(MPI_Waitall(REQUESTS, r, MPI_STATUSES_IGNORE));
    for (int counter = 0; counter < COUNTERS; ++counter)
        await(w, counter, REQUESTS / 4);
    CHECK_EQ(window_cell(w, CELLS + 1), REQUESTS / 4);
    CHECK_EQ(window_cell(w, CELLS + 2), REQUESTS / 4);
    CHECK_EQ(got[REQUESTS - 2], REQUESTS / 4 - 1);
    end(w);
}

/* Without data, and to nobody. */
static void empty_operations(struct window *w)
{
    int const to = window_right_of(w);
    MPI_Request r[2];
    begin(w, "empty operations");
    CHECK_OK(MPI_Put_notify(NULL, 0, MPI_INT64_T, to, at(w, to, 0), 0, MPI_INT64_T, 0, w->win));
    CHECK_OK(MPI_Get_notify(NULL, 0, MPI_INT64_T, to, at(w, to, 0), 0, MPI_INT64_T, 1, w->win));
    CHECK_OK(
        MPI_Rput_notify(NULL, 0, MPI_INT64_T, to, at(w, to, 0), 0, MPI_INT64_T, 2, w->win, &r[0]));
    CHECK_OK(
        MPI_Rget_notify(NULL, 0, MPI_INT64_T, MPI_PROC_NULL, 0, 0, MPI_INT64_T, 3, w->win, &r[1]));
    CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int counter = 0; counter < 3; ++counter)
        await(w, counter, 1);
    CHECK_OK(MPI_Win_flush_all(w->win));
    MPI_Barrier(w->comm);
    CHECK_EQ(value_of(w, 3), 0);
    end(w);
}

/* What an ordered handle has put before is there with what it notifies of, long or short, and all
 * handles of a window have the same counters. */
static void handles(struct window *w)
{
    int const to = window_right_of(w), from = window_left_of(w);
    static int64_t data[LONG];
    MPI_Info info;
    MPI_Win ordered;
    begin(w, "ordered and duplicated windows");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_order", "true");
    CHECK_OK(MPIX_Win_dup_with_info(w->win, info, &ordered));
    MPI_Info_free(&info);
    for (int round = 1; round <= ROUNDS; ++round) {
        int const length = round % 2 != 0 ? LONG : 1 + round % 7;
        int wrong = 0;
        MPI_Count value = -1;
        for (int i = 0; i < length; ++i)
            data[i] = round * 1000 + w->rank;
        CHECK_OK(
            MPI_Put(data, length, MPI_INT64_T, to, at(w, to, 1), length, MPI_INT64_T, ordered));
        CHECK_OK(
            MPI_Put_notify(data, 1, MPI_INT64_T, to, at(w, to, 0), 1, MPI_INT64_T, 0, ordered));
        await(w, 0, round);
        CHECK_OK(MPI_Win_get_notify_value(ordered, 0, &value));
        CHECK_EQ(value, round);
        for (int i = 0; i <= length; ++i)
            wrong += window_cell(w, i) != round * 1000 + from;
        CHECK_EQ(wrong, 0);
        CHECK_OK(MPI_Win_flush(to, round % 3 != 0 ? ordered : w->win));
        MPI_Barrier(w->comm);
    }
    end(w);
    CHECK_OK(MPI_Win_set_num_notify(ordered, MPI_INFO_NULL, 1));
    CHECK_EQ(value_of(w, 0), 0);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_free(&ordered));
}

static int open_files(void)
{
    int files = 0;
    for (int descriptor = 0; descriptor < 1024; ++descriptor)
        files += fcntl(descriptor, F_GETFD) != -1;
    return files;
}

/* Counters that were set anew leave nothing behind. */
static void again_and_again(struct window *w)
{
    int const to = window_right_of(w);
    int files = 0;
    check_step("counters again and again");
    for (int round = 0; round < 200; ++round) {
        CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, 1 + round % 40 * 50));
        CHECK_OK(MPI_Win_lock_all(0, w->win));
        CHECK_OK(MPI_Put_notify(NULL, 0, MPI_BYTE, to, at(w, to, 0), 0, MPI_BYTE, 0, w->win));
        await(w, 0, 1);
        CHECK_OK(MPI_Win_unlock_all(w->win));
        if (round == 20)
            files = open_files();
    }
    CHECK(open_files() < files + 50); /* of the host: connections */
    MPI_Barrier(w->comm);
}

/* A waiting lock: the operation is recorded first. */
static void behind_a_lock(struct window *w)
{
    int64_t const value = 9;
    MPI_Request opened, closed;
    begin(w, "behind a lock");
    end(w);
    if (w->rank == 1)
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win));
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win, &opened));
        wait_for(&opened);
        CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, 1, at(w, 1, 1), 1, MPI_INT64_T, 1, w->win));
        CHECK_OK(MPIX_Win_iunlock(1, w->win, &closed));
    }
    MPI_Barrier(w->comm);
    if (w->rank == 1) {
        CHECK_EQ(value_of(w, 1), 0);
        CHECK_OK(MPI_Win_unlock(1, w->win));
        await(w, 1, 1);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win));
        CHECK_EQ(window_cell(w, 1), 9);
        CHECK_OK(MPI_Win_unlock(1, w->win));
    } else if (w->rank == 0) {
        wait_for(&closed);
    }
    MPI_Barrier(w->comm);
}

/* As many as each wants, more or fewer than before, zero again. */
static void numbers(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 8;
    int number = -1, flag = 0;
    int *bound;
    MPI_Count *highest;
    check_step("numbers of counters");
    for (int round = 0; round < 4; ++round) {
        int const most = 1 + 600 * (round % 2);
        CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, most + w->rank));
        for (int rank = 0; rank < w->size; ++rank) {
            CHECK_OK(MPI_Win_get_num_notify(w->win, rank, &number));
            CHECK_EQ(number, most + rank);
        }
        CHECK_EQ(value_of(w, most + w->rank - 1), 0);
        MPI_Barrier(w->comm);
        CHECK_OK(MPI_Win_lock_all(0, w->win));
        CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T,
                                most + to - 1, w->win));
        await(w, most + w->rank - 1, 1);
        CHECK_OK(MPI_Win_unlock_all(w->win));
    }
    CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_NOTIFICATION_NUM_UB, &bound, &flag));
    CHECK(flag && *bound >= 601);
    CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_NOTIFICATION_NUM_SB, &bound, &flag));
    CHECK(flag && *bound >= 1);
    CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_NOTIFICATION_VALUE_UB, &highest, &flag));
    CHECK(flag && *highest >= INT32_MAX);
    MPI_Barrier(w->comm);
}

static void same_number(struct window *w)
{
    int number = -1, flag = 0;
    char text[8] = "";
    MPI_Info info;
    check_step("the same number everywhere");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_same_num_notifications", "true");
    CHECK_OK(MPI_Win_set_num_notify(w->win, info, 3));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_get_num_notify(w->win, window_right_of(w), &number));
    CHECK_EQ(number, 3);
    CHECK_OK(MPI_Win_get_info(w->win, &info));
    MPI_Info_get(info, "mpi_assert_same_num_notifications", 7, text, &flag);
    CHECK(flag && strcmp(text, "true") == 0);
    /* What is no answer is as if it had not been given. */
    MPI_Info_set(info, "mpi_assert_same_num_notifications", "perhaps");
    CHECK_OK(MPI_Win_set_num_notify(w->win, info, 3));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_get_info(w->win, &info));
    MPI_Info_get(info, "mpi_assert_same_num_notifications", 7, text, &flag);
    CHECK(flag && strcmp(text, "false") == 0);
    MPI_Info_free(&info);
    MPI_Barrier(w->comm);
}

static void wrong_calls(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 1;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Count count = 77;
    int number = 77, class = 0;
    begin(w, "wrong calls");
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    CHECK_ERROR(
        MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 0), 1, MPI_INT64_T, -1, w->win),
        MPI_ERR_RMA_NOTIFICATION);
    CHECK_ERROR(MPI_Win_get_notify_value(w->win, COUNTERS, &count), MPI_ERR_RMA_NOTIFICATION);
    CHECK_ERROR(MPI_Win_reset_notify_value(w->win, -1, &count), MPI_ERR_RMA_NOTIFICATION);
    CHECK_ERROR(MPIX_Win_notify_ithreshold(w->win, COUNTERS, 1, &r), MPI_ERR_RMA_NOTIFICATION);
    CHECK_ERROR(MPIX_Win_notify_ithreshold(w->win, 0, 1, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Win_get_num_notify(w->win, w->size, &number), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Win_get_notify_value(w->win, 0, NULL), MPI_ERR_ARG);
    CHECK_ERROR(
        MPI_Rput_notify(&value, 1, MPI_INT64_T, to, at(w, to, 0), 1, MPI_INT64_T, 0, w->win, NULL),
        MPI_ERR_ARG);
    CHECK(r == MPI_REQUEST_NULL);
    CHECK_EQ(count, 77);
    CHECK_EQ(number, 77);
    /* The target's counters: the call knows them, or the flush hears of it. */
    int code =
        MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 0), 1, MPI_INT64_T, COUNTERS, w->win);
    if (code == MPI_SUCCESS)
        code = MPI_Win_flush(to, w->win);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, MPI_ERR_RMA_NOTIFICATION);
    CHECK_OK(MPI_Put_notify(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, 0, w->win));
    CHECK_ERROR(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, 2), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    CHECK_ERROR(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 0), 1, MPI_INT64_T, 0, w->win),
                MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_ERROR(MPI_Put_notify(&value, 1, MPI_INT64_T, to, at(w, to, 0), 1, MPI_INT64_T, 0, w->win),
                MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    /* One who asks for what cannot be does not keep the others from it. */
    int const wrong_number = w->rank == 0 ? -1 : 2;
    MPI_Info same;
    MPI_Info_create(&same);
    MPI_Info_set(same, "mpi_assert_same_num_notifications", "true");
    CHECK_OK(MPI_Win_set_num_notify(w->win, same, COUNTERS));
    MPI_Info_free(&same);
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, to, at(w, to, 0), 1, MPI_INT64_T, w->win),
                MPI_ERR_RMA_SYNC); /* it has opened no epoch */
    code = MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, wrong_number);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, w->rank == 0 ? MPI_ERR_ARG : MPI_SUCCESS);
    CHECK_OK(MPI_Win_get_num_notify(w->win, w->rank, &number));
    CHECK_EQ(number, w->rank == 0 ? COUNTERS : 2);
    for (int rank = 0; rank < w->size; ++rank) {
        CHECK_OK(MPI_Win_get_num_notify(w->win, rank, &number));
        CHECK_EQ(number, rank == 0 ? COUNTERS : 2);
    }
    int *bound, flag = 0;
    CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_NOTIFICATION_NUM_UB, &bound, &flag));
    CHECK_ERROR(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, *bound + 1), MPI_ERR_ARG);
    CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, COUNTERS));
    /* What waits for a counter that goes away. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, 0, 1000, &r));
    CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, 0));
    CHECK_ERROR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_RMA_NOTIFICATION);
    CHECK_ERROR(MPI_Win_get_notify_value(w->win, 0, &count), MPI_ERR_RMA_NOTIFICATION);
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        int const unit = flavor == FLAVOR_DYNAMIC ? 1 : 8;
        struct window w =
            window_open((enum flavor)flavor, MPI_COMM_WORLD, 8 * (LONG + 2 * CELLS), unit);
        each_operation(&w);
        other_forms(&w);
        every_name(&w);
        long_operations(&w);
        many_to_one(&w);
        flushes(&w);
        polling(&w);
        moves_all_else(&w);
        polling_moves_all_else(&w);
        late(&w);
        any_of(&w);
        thresholds(&w);
        many_requests(&w);
        empty_operations(&w);
        handles(&w);
        again_and_again(&w);
        if (flavor == FLAVOR_ALLOCATE && w.size == 2)
            a_multitude(&w);
        behind_a_lock(&w);
        numbers(&w);
        same_number(&w);
        wrong_calls(&w);
        window_close(&w);
    }
    return check_end();
}
