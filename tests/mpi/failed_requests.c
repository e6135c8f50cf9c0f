/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes wrong after the call: the request tells it when it completes, first to the window's
 * error handler, whichever call completes it. A failure is told once.
 *
 * failed_requests
 */
#include "neighbours.h"
#include "noted_errors.h"
#include <sidelight.h>

/* A window with a word of each rank, and the displacement of the word on the right. */
static MPI_Win open_window(int64_t *word, MPI_Aint *at)
{
    MPI_Win win;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    note_errors(win);
    CHECK_OK(MPI_Win_attach(win, word, sizeof *word));
    *at = exchange_address(word);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

/* Serves what others have on their way, as a barrier of the host's without a hook does not. */
static void close_window(MPI_Win win) { CHECK_OK(MPI_Win_free(&win)); }

static int put(MPI_Win win, MPI_Aint at)
{
    static int64_t const value = 7;
    return MPI_Put(&value, 1, MPI_INT64_T, right(), at, 1, MPI_INT64_T, win);
}

/* The call that completes the request fails, and the handler has heard of it. */
static void told(MPI_Win win, int code)
{
    CHECK_ERROR(code, MPI_ERR_RMA_RANGE);
    CHECK_EQ(handled, 1);
    CHECK_EQ(handled_class, MPI_ERR_RMA_RANGE);
    CHECK(handled_window == win);
    handled = 0;
}

static int complete_by_wait(MPI_Request *request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }

static int complete_by_test(MPI_Request *request)
{
    int code = MPI_SUCCESS;
    for (int flag = 0; !flag && code == MPI_SUCCESS;)
        code = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    return code;
}

static int complete_by_waitany(MPI_Request *request)
{
    int index = -1;
    return MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
}

/* Among others that succeed. */
static int complete_by_waitall(MPI_Request *request)
{
    char byte;
    MPI_Request all[2] = {MPI_REQUEST_NULL, *request};
    MPI_Status statuses[2];
    CHECK_OK(MPI_Irecv(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &all[0]));
    CHECK_ERROR(MPI_Waitall(2, all, statuses), MPI_ERR_IN_STATUS);
    return MPI_ERR_RMA_RANGE;
}

/* What a status says of a failure is MPI_ERR_OTHER on some of MPICH's versions, with the class in
 * words; so it is only held against success. */

/* Of two, the first of which is there already. */
static void start_beside(MPI_Request all[2], MPI_Request *request)
{
    static char byte;
    CHECK_OK(MPI_Irecv(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &all[0]));
    all[1] = *request;
}

static int complete_by_testall(MPI_Request *request)
{
    MPI_Request all[2];
    MPI_Status statuses[2];
    int code = MPI_SUCCESS;
    start_beside(all, request);
    for (int flag = 0; !flag && code == MPI_SUCCESS;)
        code = MPI_Testall(2, all, &flag, statuses);
    CHECK_ERROR(code, MPI_ERR_IN_STATUS);
    CHECK(statuses[1].MPI_ERROR != MPI_SUCCESS);
    return MPI_ERR_RMA_RANGE;
}

/* Each status says how its request has ended. */
static int complete_by_some(MPI_Request *request,
                            int call(int, MPI_Request *, int *, int *, MPI_Status *))
{
    MPI_Request all[2];
    MPI_Status statuses[2];
    int indices[2];
    bool told = false;
    start_beside(all, request);
    for (int left = 2; left != 0;) {
        int count = 0;
        int const code = call(2, all, &count, indices, statuses);
        bool const fails = code != MPI_SUCCESS;
        if (fails)
            CHECK_ERROR(code, MPI_ERR_IN_STATUS);
        for (int i = 0; i < count; ++i) {
            if (indices[i] == 1)
                told = statuses[i].MPI_ERROR != MPI_SUCCESS;
            else if (fails)
                CHECK_EQ(statuses[i].MPI_ERROR, MPI_SUCCESS);
        }
        left -= count;
    }
    return told ? MPI_ERR_RMA_RANGE : MPI_SUCCESS;
}

static int complete_by_waitsome(MPI_Request *request)
{
    return complete_by_some(request, MPI_Waitsome);
}

static int complete_by_testsome(MPI_Request *request)
{
    return complete_by_some(request, MPI_Testsome);
}

/* To ask is to hear; the call that completes it fails, too, and the handler hears no more. */
static int complete_after_status(MPI_Request *request)
{
    MPI_Status status;
    for (int flag = 0; !flag;)
        MPI_Request_get_status(*request, &flag, &status);
    return MPI_Wait(request, &status);
}

typedef int complete_request(MPI_Request *request);
static complete_request *const completions[] = {
    complete_by_wait,    complete_by_test,     complete_by_waitany,  complete_by_waitall,
    complete_by_testall, complete_by_waitsome, complete_by_testsome, complete_after_status};

/* An access that is found to be wrong when the lock comes, after the calls. */
static void deferred_epoch(complete_request *complete)
{
    int64_t word = 3;
    MPI_Aint at;
    MPI_Request opened, closed;
    MPI_Win win = open_window(&word, &at);
    check_step("an epoch that waits for its lock");
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, right(), 0, win, &opened));
    CHECK_OK(MPI_Wait(&opened, MPI_STATUS_IGNORE));
    CHECK_OK(put(win, MPI_Aint_add(at, 8)));
    CHECK_OK(MPIX_Win_iunlock(right(), win, &closed));
    CHECK_EQ(handled, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    told(win, complete(&closed));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win));
    CHECK_OK(put(win, at));
    CHECK_OK(MPI_Win_unlock(right(), win));
    close_window(win);
    CHECK_EQ(word, 7);
}

/* A local flush that has told it leaves nothing to tell. */
static void flushed_locally(bool fetches)
{
    int64_t word = 3, found = 0;
    MPI_Aint at;
    MPI_Request opened, flush;
    MPI_Win win = open_window(&word, &at);
    MPI_Aint const beside = MPI_Aint_add(at, 8);
    check_step("a local flush behind a refused access");
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, right(), 0, win, &opened));
    CHECK_OK(fetches ? MPI_Get(&found, 1, MPI_INT64_T, right(), beside, 1, MPI_INT64_T, win)
                     : put(win, beside));
    CHECK_OK(MPIX_Win_iflush_local(right(), win, &flush));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Wait(&opened, MPI_STATUS_IGNORE));
    int const code = MPI_Wait(&flush, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        told(win, code);
        CHECK_OK(MPI_Win_flush(right(), win));
        CHECK_OK(MPI_Win_unlock(right(), win));
    } else { /* it was free to be used again, and refused later */
        CHECK(!fetches);
        told(win, MPI_Win_unlock(right(), win));
    }
    close_window(win);
}

/* One that is found to be wrong at the call, or at the target. */
static void flushed(complete_request *complete)
{
    int64_t word = 3;
    MPI_Aint at;
    MPI_Request flush;
    MPI_Win win = open_window(&word, &at);
    check_step("a flush behind a refused access");
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(put(win, at));
    int const code = put(win, MPI_Aint_add(at, 8));
    CHECK_OK(MPIX_Win_iflush(right(), win, &flush));
    if (code != MPI_SUCCESS) {
        told(win, code);
        CHECK_OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
    } else {
        told(win, complete(&flush));
    }
    CHECK_OK(MPI_Win_flush_all(win));
    CHECK_OK(MPI_Win_unlock_all(win));
    close_window(win);
    CHECK_EQ(word, 7);
}

/* The host is asked about what is no request, also when some have been pending. */
static void no_request(void)
{
    check_step("no request");
    CHECK(MPI_Wait(NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS);
}

/* An operation's own request tells, and no other call does. */
static void operation_request(complete_request *complete)
{
    int64_t word = 3, found = -1;
    MPI_Aint at;
    MPI_Request request;
    MPI_Win win = open_window(&word, &at);
    check_step("an operation with a request");
    CHECK_OK(MPI_Win_lock_all(0, win));
    int const code = MPI_Rget(&found, 1, MPI_INT64_T, right(), MPI_Aint_add(at, 4), 1, MPI_INT64_T,
                              win, &request);
    told(win, code != MPI_SUCCESS ? code : complete(&request));
    CHECK_EQ(found, -1);
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK_OK(MPI_Win_unlock_all(win));
    close_window(win);
    CHECK_EQ(word, 3);
}

/* A request that waits for the target always tells, and a flush that waits for the operation does
 * not. */
static void remote_request(complete_request *complete)
{
    static int64_t const value = 7;
    int64_t word = 3;
    MPI_Aint at;
    MPI_Request request;
    MPI_Win win = open_window(&word, &at);
    check_step("an operation with a request that waits for the target");
    CHECK_OK(MPI_Win_lock_all(0, win));
    int const code = MPIX_Rrput(&value, 1, MPI_INT64_T, right(), MPI_Aint_add(at, 8), 1,
                                MPI_INT64_T, win, &request);
    CHECK_OK(MPI_Win_flush(right(), win));
    told(win, code != MPI_SUCCESS ? code : complete(&request));
    CHECK_OK(MPI_Win_unlock_all(win));
    close_window(win);
    CHECK_EQ(word, 3);
}

/* One that is found to be wrong while a later blocking call waits for the lock before its own: that
 * call succeeds, and the end of the wrong access's epoch tells. */
static void behind_another_lock(void)
{
    int64_t word = 3, other = 4;
    MPI_Aint at, other_at;
    MPI_Win win = open_window(&word, &at), other_win = open_window(&other, &other_at);
    check_step("a lock that waits for the one before");
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, win));
    CHECK_OK(put(win, MPI_Aint_add(at, 8)));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, other_win));
    CHECK_OK(MPI_Win_unlock(right(), other_win));
    told(win, MPI_Win_unlock(right(), win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win));
    CHECK_OK(MPI_Win_unlock(right(), win));
    close_window(other_win);
    close_window(win);
    CHECK_EQ(word, 3);
}

/* What the first of two barriers of a call has to tell keeps nobody waiting at the second. (By its
 * contract no fence epoch should be in use there; an epoch that has returned early may be.) */
static void before_counters(void)
{
    int64_t word = 3;
    int number = 0;
    MPI_Aint at;
    MPI_Win win = open_window(&word, &at);
    check_step("MPI_Win_set_num_notify behind a refused access");
    CHECK_OK(MPI_Win_fence(0, win));
    int const code = check_rank == 0 ? put(win, MPI_Aint_add(at, 8)) : MPI_SUCCESS;
    int const set = MPI_Win_set_num_notify(win, MPI_INFO_NULL, 2);
    if (check_rank == 0)
        told(win, code != MPI_SUCCESS ? code : set);
    else
        CHECK_OK(set);
    CHECK_OK(MPI_Win_get_num_notify(win, right(), &number));
    CHECK_EQ(number, 2);
    close_window(win);
}

/* The window alone has an error handler, and MPI_Wait calls no other one. */
static void beside_fatal_errors(void)
{
    check_step("MPI_Wait where errors of communicators end the program");
    deferred_epoch(complete_by_wait);
    flushed(complete_by_wait);
    operation_request(complete_by_wait);
    remote_request(complete_by_wait);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    beside_fatal_errors();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof completions / sizeof *completions; ++i) {
        deferred_epoch(completions[i]);
        flushed(completions[i]);
        operation_request(completions[i]);
        remote_request(completions[i]);
    }
    flushed_locally(false);
    flushed_locally(true);
    behind_another_lock();
    before_counters();
    no_request();
    return check_end();
}
