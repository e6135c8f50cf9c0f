/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are complete when their call returns, of which the library keeps one that MPI_Wait
 * brings back: ended by every call that can, in turns, several at once, among the host's own
 * requests, which must not be taken for ours when they get the handle of one that is gone, and
 * by another thread than the one that started them. One is left to MPI_Finalize.
 *
 * complete_requests
 */
#include "nonblocking.h"
#include <pthread.h>
#include <sidelight.h>

enum { TURNS = 100, AT_ONCE = 5 };

/* Its value is not free before the next flush. */
static MPI_Request start(struct window *w, int index, int64_t value)
{
    static int64_t values[CELLS];
    MPI_Request r = MPI_REQUEST_NULL;
    values[index] = value;
    CHECK_OK(MPI_Rput(&values[index], 1, MPI_INT64_T, window_right_of(w),
                      window_at(w, window_right_of(w), 8 * (MPI_Aint)index), 1, MPI_INT64_T, w->win,
                      &r));
    CHECK(r != MPI_REQUEST_NULL);
    return r;
}

/* --- The calls that end a request ------------------------------------------------------------- */

static void by_wait(MPI_Request *r)
{
    MPI_Status status;
    CHECK_OK(MPI_Wait(r, &status));
    check_empty(&status);
}

static void by_wait_without_status(MPI_Request *r) { CHECK_OK(MPI_Wait(r, MPI_STATUS_IGNORE)); }

static void by_waitall(MPI_Request *r) { CHECK_OK(MPI_Waitall(1, r, MPI_STATUSES_IGNORE)); }

static void by_waitany(MPI_Request *r)
{
    int index = -1;
    CHECK_OK(MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE));
    CHECK_EQ(index, 0);
}

static void by_waitsome(MPI_Request *r)
{
    int count = -1, index = -1;
    CHECK_OK(MPI_Waitsome(1, r, &count, &index, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, 1);
}

static void by_test(MPI_Request *r)
{
    for (int flag = 0; !flag;)
        CHECK_OK(MPI_Test(r, &flag, MPI_STATUS_IGNORE));
}

static void by_testall(MPI_Request *r)
{
    for (int flag = 0; !flag;)
        CHECK_OK(MPI_Testall(1, r, &flag, MPI_STATUSES_IGNORE));
}

static void by_testany(MPI_Request *r)
{
    for (int flag = 0, index = -1; !flag;)
        CHECK_OK(MPI_Testany(1, r, &index, &flag, MPI_STATUS_IGNORE));
}

static void by_testsome(MPI_Request *r)
{
    for (int count = 0, index = -1; count == 0;)
        CHECK_OK(MPI_Testsome(1, r, &count, &index, MPI_STATUSES_IGNORE));
}

static void by_free(MPI_Request *r) { CHECK_OK(MPI_Request_free(r)); }

static void by_status_and_wait(MPI_Request *r)
{
    for (int flag = 0; !flag;)
        CHECK_OK(MPI_Request_get_status(*r, &flag, MPI_STATUS_IGNORE));
    CHECK(*r != MPI_REQUEST_NULL);
    by_wait(r);
}

static void by_cancel_and_wait(MPI_Request *r)
{
    CHECK_OK(MPI_Cancel(r));
    by_wait(r);
}

static void *wait_beside(void *r)
{
    by_wait_without_status(r);
    return NULL;
}

/* MPI_THREAD_SERIALIZED: one at a time. */
static void by_another_thread(MPI_Request *r)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, wait_beside, r), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

typedef void ending(MPI_Request *);

static ending *const endings[] = {
    by_wait,
    by_wait_without_status,
    by_waitall,
    by_waitany,
    by_waitsome,
    by_test,
    by_testall,
    by_testany,
    by_testsome,
    by_free,
    by_status_and_wait,
    by_cancel_and_wait,
    by_another_thread,
};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

/* --- What is tested --------------------------------------------------------------------------- */

static void begin(struct window *w, const char *what)
{
    check_step(what);
    memset(w->base, 0, (size_t)w->bytes);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
}

static void end(struct window *w, int cells, int64_t expected)
{
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Win_sync(w->win));
    for (int i = 0; i < cells; ++i)
        CHECK_EQ(window_cell(w, i), expected);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

/* A receive that waits for its message, whatever handle it has got, and of which no other call
 * says that it is over. */
static void expect_pending_receive(struct window *w, int turn, ending *ended)
{
    MPI_Request theirs;
    MPI_Status status;
    int const sent = turn;
    int got = -1, flag = -1;
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, w->rank, turn, w->comm, &theirs));
    MPI_Request ours = start(w, 1, turn);
    CHECK_OK(MPI_Test(&theirs, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    ended(&ours);
    CHECK(ours == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Send(&sent, 1, MPI_INT, w->rank, turn, w->comm));
    CHECK_OK(MPI_Wait(&theirs, &status));
    CHECK_EQ(got, turn);
    CHECK_EQ(status.MPI_TAG, turn);
    CHECK_EQ(status.MPI_SOURCE, w->rank);
}

/* Each call after itself and after each other one: so all of them meet the library's own request,
 * and the host's that are handed out after it is lost. */
static void each_ending(struct window *w)
{
    begin(w, "each call that ends a request");
    for (int turn = 0; turn < TURNS; ++turn)
        for (int which = 0; which < ENDINGS; ++which) {
            MPI_Request r = start(w, 0, turn + 1);
            endings[(which + turn * (which % 2)) % ENDINGS](&r);
            CHECK(r == MPI_REQUEST_NULL);
            if (turn % 8 == 0)
                expect_pending_receive(w, turn, endings[which]);
            CHECK_OK(MPI_Win_flush(window_right_of(w), w->win));
        }
    end(w, 1, TURNS);
}

/* Only one of them can be the library's own, and any may be. */
static void several_at_once(struct window *w)
{
    uint64_t random = 1 + (uint64_t)w->rank;
    begin(w, "several at once");
    for (int turn = 0; turn < TURNS; ++turn) {
        MPI_Request r[AT_ONCE];
        for (int i = 0; i < AT_ONCE; ++i)
            r[i] = start(w, i, turn + 1);
        if (turn % 7 == 0) {
            CHECK_OK(MPI_Waitall(AT_ONCE, r, MPI_STATUSES_IGNORE));
        } else {
            int const first = (int)(check_random(&random) % AT_ONCE);
            for (int i = 0; i < AT_ONCE; ++i)
                endings[check_random(&random) % ENDINGS](&r[(first + i) % AT_ONCE]);
        }
        for (int i = 0; i < AT_ONCE; ++i)
            CHECK(r[i] == MPI_REQUEST_NULL);
        CHECK_OK(MPI_Win_flush(window_right_of(w), w->win));
    }
    end(w, AT_ONCE, TURNS);
}

/* Neither call can know what the program does next with its request. */
static void of_nonblocking_calls(struct window *w)
{
    check_step("requests of nonblocking calls");
    for (int turn = 0; turn < TURNS; ++turn) {
        MPI_Request r[2];
        CHECK_OK(MPIX_Win_ilock_all(0, w->win, &r[0]));
        r[1] = start(w, 0, turn);
        endings[turn % ENDINGS](&r[1]);
        endings[(turn + 1) % ENDINGS](&r[0]);
        CHECK_OK(MPI_Win_unlock_all(w->win));
    }
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    int provided = -1;
    MPI_Request left = MPI_REQUEST_NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    check_begin_initialised();
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD, 8 * CELLS, 8);
        each_ending(&w);
        several_at_once(&w);
        of_nonblocking_calls(&w);
        if (flavor == FLAVORS - 1) {
            CHECK_OK(MPI_Win_lock_all(0, w.win));
            left = start(&w, 0, 1);
            CHECK_OK(MPI_Win_unlock_all(w.win));
        }
        window_close(&w);
    }
    CHECK(left != MPI_REQUEST_NULL);
    return check_end();
}
