/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host moves on in whatever calls of the chapter a program makes again and again: rank 0 has
 * begun something of the host's that takes several steps, and asks by one-sided calls alone whether
 * rank 1 has set a flag, which it does when that something is over.
 */
#include "windows.h"

enum { ROUNDS = 5, LONG = 1 << 18, TAG = 7 };

static struct window w;
static MPI_Aint place;

/* --- The calls that are made again and again -------------------------------------------------- */

static int64_t by_flush(void)
{
    int64_t value = 0;
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    do {
        CHECK_OK(MPI_Fetch_and_op(NULL, &value, MPI_INT64_T, 1, place, MPI_NO_OP, w.win));
        CHECK_OK(MPI_Win_flush(1, w.win));
    } while (value == 0);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    return value;
}

static int64_t by_lock(void)
{
    int64_t value = 0;
    do {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win));
        CHECK_OK(MPI_Fetch_and_op(NULL, &value, MPI_INT64_T, 1, place, MPI_NO_OP, w.win));
        CHECK_OK(MPI_Win_unlock(1, w.win));
    } while (value == 0);
    return value;
}

static int64_t by_request(void)
{
    int64_t value = 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win));
    do {
        MPI_Request request;
        CHECK_OK(MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &value, 1, MPI_INT64_T, 1, place, 1,
                                     MPI_INT64_T, MPI_NO_OP, w.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } while (value == 0);
    CHECK_OK(MPI_Win_unlock(1, w.win));
    return value;
}

static int64_t (*const askings[])(void) = {by_flush, by_lock, by_request};

/* --- What the host has to move on ------------------------------------------------------------- */

static void barrier(MPI_Request *request) { CHECK_OK(MPI_Ibarrier(w.comm, request)); }

static void long_message(MPI_Request *request)
{
    static int64_t sent[LONG], received[LONG];
    *request = MPI_REQUEST_NULL;
    if (w.rank == 0)
        CHECK_OK(MPI_Isend(sent, LONG, MPI_INT64_T, 1, TAG, w.comm, request));
    else if (w.rank == 1)
        CHECK_OK(MPI_Irecv(received, LONG, MPI_INT64_T, 0, TAG, w.comm, request));
}

static void (*const beginnings[])(MPI_Request *) = {barrier, long_message};

static void set_flag(int64_t value)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT64_T, 1, place, 1, MPI_INT64_T, MPI_REPLACE, w.win));
    CHECK_OK(MPI_Win_unlock(1, w.win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8, 1);
    place = window_at(&w, 1, 0);
    for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; ++b)
        for (size_t a = 0; a < sizeof askings / sizeof *askings; ++a) {
            check_step(a == 0 ? "flush" : a == 1 ? "lock" : "request");
            for (int round = 1; round <= ROUNDS; ++round) {
                MPI_Request request;
                if (w.rank == 1)
                    set_flag(0);
                MPI_Barrier(w.comm);
                beginnings[b](&request);
                if (w.rank == 0)
                    CHECK_EQ(askings[a](), round);
                CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                if (w.rank == 1)
                    set_flag(round);
                MPI_Barrier(w.comm);
            }
        }
    window_close(&w);
    return check_end();
}
