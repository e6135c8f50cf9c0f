/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations whose request waits for the target: MPIX_Rrput, MPIX_Rraccumulate and
 * MPIX_Rrget_accumulate. Each rank writes to the one on its right, waits for the request alone, and
 * says so in a message; the other then finds the data in its own memory.
 *
 * remote_requests
 */
#include "nonblocking.h"
#include <sidelight.h>

enum { MANY = 10000, LONG = 40000 };

/* Everybody's operations are complete at their targets: the requests have said so, nobody flushes.
 * What a process has is told by a message, which orders nothing but itself. */
static void tell_right(const struct window *w)
{
    MPI_Sendrecv(NULL, 0, MPI_BYTE, window_right_of(w), 7, NULL, 0, MPI_BYTE, window_left_of(w), 7,
                 w->comm, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Win_sync(w->win));
}

static MPI_Aint at(const struct window *w, int target, int index)
{
    return window_at(w, target, 8 * (MPI_Aint)index);
}

static void expect_cell(const struct window *w, int index, int64_t expected)
{
    CHECK_EQ(window_cell(w, index), expected);
}

static void begin(struct window *w, const char *what)
{
    check_step(what);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    memset(w->base, 0, (size_t)w->bytes);
    CHECK_OK(MPI_Win_sync(w->win));
    MPI_Barrier(w->comm);
}

static void end(struct window *w)
{
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

static void each_operation(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 100 + w->rank, one = 1;
    int64_t old = -1;
    MPI_Request r[3];
    begin(w, "each operation");
    CHECK_OK(MPIX_Rrput(&value, 1, MPI_INT64_T, to, at(w, to, 1), 1, MPI_INT64_T, w->win, &r[0]));
    CHECK_OK(MPIX_Rraccumulate(&one, 1, MPI_INT64_T, to, at(w, to, 2), 1, MPI_INT64_T, MPI_SUM,
                               w->win, &r[1]));
    CHECK_OK(MPIX_Rrget_accumulate(&value, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, to, at(w, to, 3),
                                   1, MPI_INT64_T, MPI_REPLACE, w->win, &r[2]));
    CHECK_OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    tell_right(w);
    CHECK_EQ(old, 0);
    expect_cell(w, 1, 100 + window_left_of(w));
    expect_cell(w, 2, 1);
    expect_cell(w, 3, 100 + window_left_of(w));
    end(w);
}

static void large_counts(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const values[2] = {7, w->rank};
    int64_t old[2] = {-1, -1};
    MPI_Request r[3];
    begin(w, "large counts");
    CHECK_OK(MPIX_Rrput_c(values, 2, MPI_INT64_T, to, at(w, to, 1), 2, MPI_INT64_T, w->win, &r[0]));
    CHECK_OK(MPIX_Rraccumulate_c(values, 2, MPI_INT64_T, to, at(w, to, 3), 2, MPI_INT64_T, MPI_SUM,
                                 w->win, &r[1]));
    CHECK_OK(MPIX_Rrget_accumulate_c(values, 2, MPI_INT64_T, old, 2, MPI_INT64_T, to, at(w, to, 5),
                                     2, MPI_INT64_T, MPI_SUM, w->win, &r[2]));
    CHECK_OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    tell_right(w);
    for (int i = 1; i < 7; i += 2) {
        expect_cell(w, i, 7);
        expect_cell(w, i + 1, window_left_of(w));
    }
    CHECK_EQ(old[0] + old[1], 0);
    end(w);
}

/* Long enough for messages without copies, and in many pieces. */
static void long_and_strided(struct window *w)
{
    int const to = window_right_of(w);
    int64_t *values = malloc(LONG * sizeof *values);
    MPI_Datatype every_other;
    MPI_Request r[2];
    for (int i = 0; i < LONG; ++i)
        values[i] = 1000 * (int64_t)w->rank + i;
    CHECK_OK(MPI_Type_vector(CELLS, 1, 2, MPI_INT64_T, &every_other));
    CHECK_OK(MPI_Type_commit(&every_other));
    begin(w, "long and strided");
    CHECK_OK(
        MPIX_Rrput(values, LONG, MPI_INT64_T, to, at(w, to, 0), LONG, MPI_INT64_T, w->win, &r[0]));
    CHECK_OK(
        MPIX_Rrput(values, CELLS, MPI_INT64_T, to, at(w, to, LONG), 1, every_other, w->win, &r[1]));
    CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    memset(values, 0xff, LONG * sizeof *values); /* the buffer is free, too */
    tell_right(w);
    for (int i = 0; i < LONG; ++i)
        if (window_cell(w, i) != 1000 * (int64_t)window_left_of(w) + i) {
            expect_cell(w, i, 1000 * (int64_t)window_left_of(w) + i);
            break;
        }
    for (int i = 0; i < CELLS; ++i)
        expect_cell(w, LONG + 2 * i, 1000 * (int64_t)window_left_of(w) + i);
    end(w);
    CHECK_OK(MPI_Type_free(&every_other));
    free(values);
}

/* The last message of it is answered by itself, and the one before it is not. */
static void short_and_long_piece(struct window *w)
{
    enum { SHORT = 8, GAP = 5, REST = LONG / 2 };
    int const to = window_right_of(w), lengths[] = {SHORT, REST}, places[] = {0, SHORT + GAP};
    int64_t *values = malloc((SHORT + REST) * sizeof *values);
    MPI_Datatype two_pieces;
    MPI_Request r;
    for (int i = 0; i < SHORT + REST; ++i)
        values[i] = 1000 * (int64_t)w->rank + i;
    CHECK_OK(MPI_Type_indexed(2, lengths, places, MPI_INT64_T, &two_pieces));
    CHECK_OK(MPI_Type_commit(&two_pieces));
    begin(w, "a short piece and a long one");
    CHECK_OK(
        MPIX_Rrput(values, SHORT + REST, MPI_INT64_T, to, at(w, to, 0), 1, two_pieces, w->win, &r));
    CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    tell_right(w);
    expect_cell(w, SHORT - 1, 1000 * (int64_t)window_left_of(w) + SHORT - 1);
    expect_cell(w, SHORT + GAP + REST - 1, 1000 * (int64_t)window_left_of(w) + SHORT + REST - 1);
    end(w);
    CHECK_OK(MPI_Type_free(&two_pieces));
    free(values);
}

/* The exposure is opened late, and the request waits for the operation, not for the epoch's end. */
static void access_epoch(struct window *w)
{
    int const to = window_right_of(w);
    int64_t const value = 31 + w->rank;
    MPI_Request opened, r;
    MPI_Group origin = only(w, window_left_of(w)), target = only(w, to);
    check_step("an access epoch");
    memset(w->base, 0, (size_t)w->bytes);
    MPI_Barrier(w->comm);
    CHECK_OK(MPIX_Win_istart(target, 0, w->win, &opened));
    wait_for(&opened);
    CHECK_OK(MPIX_Rrput(&value, 1, MPI_INT64_T, to, at(w, to, 4), 1, MPI_INT64_T, w->win, &r));
    CHECK(check_pending(&r));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_post(origin, 0, w->win));
    wait_for(&r);
    tell_right(w);
    expect_cell(w, 4, 31 + window_left_of(w));
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
}

/* One that cannot begin, for a lock that another holds, keeps none up that can. */
static void unrelated_operation(struct window *w)
{
    int64_t const value = 17;
    MPI_Request opened, held, r;
    check_step("an unrelated operation that waits");
    MPI_Barrier(w->comm);
    if (w->rank == 1)
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win));
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_SHARED, 1, 0, w->win, &opened));
        wait_for(&opened);
        CHECK_OK(MPIX_Rrput(&value, 1, MPI_INT64_T, 1, at(w, 1, 9), 1, MPI_INT64_T, w->win, &held));
        CHECK_OK(MPIX_Rrput(&value, 1, MPI_INT64_T, 0, at(w, 0, 9), 1, MPI_INT64_T, w->win, &r));
        wait_for(&r);
        expect_cell(w, 9, 17);
        CHECK(check_pending(&held));
    }
    MPI_Barrier(w->comm);
    if (w->rank == 1)
        CHECK_OK(MPI_Win_unlock(1, w->win));
    if (w->rank == 0) {
        wait_for(&held);
        CHECK_OK(MPI_Win_unlock(1, w->win));
        CHECK_OK(MPI_Win_unlock(0, w->win));
    }
    MPI_Barrier(w->comm);
}

/* --- More at once than any host has numbers for, of each kind --------------------------------- */

/* The i-th, to the rank on the right. */
typedef int starting(const struct window *w, int i, MPI_Request *r);

static int64_t values[MANY], got[MANY];

#define FROM(i) &values[i], 1, MPI_INT64_T
#define INTO(i) &got[i], 1, MPI_INT64_T
#define PLACE(i) window_right_of(w), at(w, window_right_of(w), i), 1, MPI_INT64_T

static int rput(const struct window *w, int i, MPI_Request *r)
{
    return MPI_Rput(FROM(i), PLACE(i), w->win, r);
}
static int rget(const struct window *w, int i, MPI_Request *r)
{
    return MPI_Rget(INTO(i), PLACE(i), w->win, r);
}
static int raccumulate(const struct window *w, int i, MPI_Request *r)
{
    return MPI_Raccumulate(FROM(i), PLACE(i), MPI_REPLACE, w->win, r);
}
static int rget_accumulate(const struct window *w, int i, MPI_Request *r)
{
    return MPI_Rget_accumulate(FROM(i), INTO(i), PLACE(i), MPI_REPLACE, w->win, r);
}
static int rrput(const struct window *w, int i, MPI_Request *r)
{
    return MPIX_Rrput(FROM(i), PLACE(i), w->win, r);
}
static int rraccumulate(const struct window *w, int i, MPI_Request *r)
{
    return MPIX_Rraccumulate(FROM(i), PLACE(i), MPI_REPLACE, w->win, r);
}
static int rrget_accumulate(const struct window *w, int i, MPI_Request *r)
{
    return MPIX_Rrget_accumulate(FROM(i), INTO(i), PLACE(i), MPI_REPLACE, w->win, r);
}

static const struct {
    starting *start;
    bool writes, fetches;
    bool waits; /* for its target: nobody flushes */
} kinds[] = {
    {rput, true, false, false},           {rget, false, true, true},
    {raccumulate, true, false, false},    {rget_accumulate, true, true, true},
    {rrput, true, false, true},           {rraccumulate, true, false, true},
    {rrget_accumulate, true, true, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Each kind finds what the last that wrote has left. */
static void many_at_once(struct window *w)
{
    static MPI_Request r[MANY];
    int64_t before = 0; /* what cells have, but for their numbers; 0: nothing */
    begin(w, "many requests");
    for (int kind = 0; kind < KINDS; ++kind) {
        int64_t const after = kinds[kind].writes ? (kind + 1) * (int64_t)MANY : before;
        int wrong = 0;
        for (int i = 0; i < MANY; ++i) {
            values[i] = after + i;
            got[i] = -1;
            CHECK_OK(kinds[kind].start(w, i, &r[i]));
        }
        CHECK_OK(MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE));
        if (!kinds[kind].waits)
            CHECK_OK(MPI_Win_flush(window_right_of(w), w->win));
        tell_right(w);
        for (int i = 0; i < MANY; ++i) {
            wrong += window_cell(w, i) != after + i;
            wrong += got[i] != (kinds[kind].fetches ? before + i : -1);
        }
        CHECK_EQ(wrong, 0);
        MPI_Barrier(w->comm);
        before = after;
    }
    end(w);
}

static void wrong_calls(struct window *w)
{
    int64_t const value = 1;
    MPI_Request r = MPI_REQUEST_NULL;
    check_step("wrong calls");
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPIX_Rrput(&value, 1, MPI_INT64_T, 0, at(w, 0, 0), 1, MPI_INT64_T, w->win, &r),
                MPI_ERR_RMA_SYNC);
    CHECK(r == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_ERROR(MPIX_Rrput(&value, 1, MPI_INT64_T, 0, at(w, 0, 0), 1, MPI_INT64_T, w->win, NULL),
                MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Rrput(&value, 1, MPI_INT64_T, w->size, 0, 1, MPI_INT64_T, w->win, &r),
                MPI_ERR_RANK);
    CHECK_ERROR(MPIX_Rraccumulate(&value, 1, MPI_INT64_T, 0, at(w, 0, 0), 1, MPI_INT64_T,
                                  MPI_OP_NULL, w->win, &r),
                MPI_ERR_OP);
    CHECK(r == MPI_REQUEST_NULL);
    CHECK_OK(MPIX_Rrput(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, w->win, &r));
    wait_for(&r);
    CHECK_OK(MPI_Win_unlock_all(w->win));
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
        large_counts(&w);
        long_and_strided(&w);
        short_and_long_piece(&w);
        access_epoch(&w);
        unrelated_operation(&w);
        many_at_once(&w);
        wrong_calls(&w);
        window_close(&w);
    }
    return check_end();
}
