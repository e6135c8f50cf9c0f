/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows that are used in every way, for ever, until somebody kills one of the ranks, at whatever
 * moment. Each of the others ends then: with the error that tells of the loss, from whichever call.
 * Then it frees its windows, in time, and says that it has survived.
 */
#include "survivors.h"
#include <sidelight.h>
#include <stddef.h>

enum { CELLS = 256, WINDOWS = 3, LARGE = 5000 };

static struct window w[WINDOWS];
static uint64_t state;
static int64_t values[CELLS], results[CELLS], large[LARGE];
static int64_t room[WINDOWS][LARGE + 64];
static MPI_Op op;

/* The first error of this rank. After it no more operations are called and no more epochs are
 * opened; those that are open are closed, or their windows could not be freed. */
static int failure = MPI_SUCCESS;
#define TRY(call) (failure = failure == MPI_SUCCESS ? (call) : failure)

static void close_epoch(int code) { failure = failure == MPI_SUCCESS ? code : failure; }

static int anybody(void) { return (int)(check_random(&state) % (unsigned)check_size); }

static int amount(void) { return 1 + (int)(check_random(&state) % (CELLS - 1)); }

static void write_and_read(struct window *on, int target)
{
    int const n = amount();
    MPI_Aint const at = window_at(on, target, 0);
    MPI_Win const win = on->win;
    TRY(MPI_Put(values, n, MPI_INT64_T, target, at, n, MPI_INT64_T, win));
    TRY(MPI_Accumulate(values, n, MPI_INT64_T, target, at, n, MPI_INT64_T, MPI_SUM, win));
    TRY(MPI_Get(results, n, MPI_INT64_T, target, at, n, MPI_INT64_T, win));
}

static void fences(struct window *on)
{
    if (TRY(MPI_Win_fence(MPI_MODE_NOPRECEDE, on->win)))
        return;
    write_and_read(on, anybody());
    close_epoch(MPI_Win_fence(0, on->win));
    write_and_read(on, anybody());
    close_epoch(MPI_Win_fence(MPI_MODE_NOSUCCEED, on->win));
}

static void locks(struct window *on)
{
    for (int i = 0; i < 4; ++i) {
        int const target = anybody();
        if (TRY(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, on->win)))
            return;
        write_and_read(on, target);
        close_epoch(MPI_Win_unlock(target, on->win));
    }
}

static void everybody_locked(struct window *on)
{
    int64_t const one = 1;
    if (TRY(MPI_Win_lock_all(0, on->win)))
        return;
    for (int i = 0; i < 4; ++i) {
        int const target = anybody();
        TRY(MPI_Fetch_and_op(&one, results, MPI_INT64_T, target, window_at(on, target, 0), MPI_SUM,
                             on->win));
        TRY(MPI_Win_flush(target, on->win));
        write_and_read(on, anybody());
        TRY(MPI_Win_flush_all(on->win));
    }
    close_epoch(MPI_Win_unlock_all(on->win));
}

/* To the next, from the one before. */
static void ring(struct window *on)
{
    int const to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    MPI_Group origins = check_group(1, &from), targets = check_group(1, &to);
    bool const posted = TRY(MPI_Win_post(origins, 0, on->win)) == MPI_SUCCESS;
    bool const started = TRY(MPI_Win_start(targets, 0, on->win)) == MPI_SUCCESS;
    write_and_read(on, to);
    if (started)
        close_epoch(MPI_Win_complete(on->win));
    if (posted)
        close_epoch(MPI_Win_wait(on->win));
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

/* To the next, which waits for it. */
static void notify(struct window *on)
{
    int const to = (check_rank + 1) % check_size;
    MPI_Request arrived;
    if (TRY(MPI_Win_set_num_notify(on->win, MPI_INFO_NULL, 2)) || TRY(MPI_Win_lock_all(0, on->win)))
        return;
    int const n = amount();
    TRY(MPI_Put_notify(values, n, MPI_INT64_T, to, window_at(on, to, 0), n, MPI_INT64_T, 0,
                       on->win));
    if (TRY(MPIX_Win_notify_ithreshold(on->win, 0, 1, &arrived)) == MPI_SUCCESS)
        close_epoch(MPI_Wait(&arrived, MPI_STATUS_IGNORE));
    close_epoch(MPI_Win_unlock_all(on->win));
}

static void add(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                int offset)
{
    (void)in_type, (void)count, (void)type, (void)out_type, (void)offset;
    for (int i = 0; i < segments; ++i) {
        *(int64_t *)memory += ((int64_t *)in)[(ptrdiff_t)i * in_count];
        ((int64_t *)out)[(ptrdiff_t)i * out_count] = *(int64_t *)memory;
    }
}

/* Some with a segment for each element, some with one that only the attached buffer holds. */
static void active(struct window *on)
{
    if (TRY(MPI_Win_lock_all(amount() % 2 ? MPIX_MODE_CONCURRENT_AM : 0, on->win)))
        return;
    for (int i = 0; i < 4; ++i) {
        int const target = anybody(), n = amount(), segments = i % 2 ? n : 1;
        TRY(MPIX_Am(i % 2 ? values : large, i % 2 ? 1 : LARGE, MPI_INT64_T, results, 1, MPI_INT64_T,
                    segments, target, MPI_INT64_T, window_at(on, target, 0), 1, MPI_INT64_T,
                    MPI_INT64_T, op, on->win));
    }
    TRY(MPI_Win_flush_all(on->win));
    close_epoch(MPI_Win_unlock_all(on->win));
}

int main(int argc, char **argv)
{
    static void (*const ways[])(struct window *) = {fences, locks,  everybody_locked,
                                                    ring,   notify, active};
    enum { WAYS = sizeof ways / sizeof *ways };
    static const enum flavor flavors[WINDOWS] = {FLAVOR_ALLOCATE, FLAVOR_CREATE, FLAVOR_DYNAMIC};
    check_begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of requests */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    state = check_argument(argc, argv, 1, 1) + (uint64_t)check_rank;
    CHECK_OK(MPIX_Am_op_create(add, &op));
    for (int i = 0; i < WINDOWS; ++i) {
        w[i] = window_open(flavors[i], MPI_COMM_WORLD, sizeof values, 8);
        MPI_Win_set_errhandler(w[i].win, MPI_ERRORS_RETURN);
        CHECK_OK(MPIX_Am_win_op_register(op, w[i].win));
        CHECK_OK(MPIX_Am_win_buffer_attach(room[i], sizeof room[i], w[i].win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("running: rank=%d\n", check_rank);
    fflush(stdout);
    for (unsigned round = 0; failure == MPI_SUCCESS; ++round) {
        check_step("the mixed part");
        ways[round % WAYS](&w[round / WAYS % WINDOWS]);
    }
    CHECK_ERROR(failure, LOSS);
    check_step("freeing windows");
    double const begin = check_seconds();
    for (int i = 0; i < WINDOWS; ++i) {
        MPI_Win_free(&w[i].win);
        CHECK(w[i].win == MPI_WIN_NULL);
    }
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
    sit_down();
}
