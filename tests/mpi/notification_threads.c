/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications with MPI_THREAD_MULTIPLE: threads of a process that notify the same counters, and
 * one that waits while another one of its process notifies it.
 */
#include <pthread.h>
#include <time.h>

#include "windows.h"
#include <sidelight.h>

enum { THREADS = 4, EACH = 1000, COUNTERS = 2, WORDS = 64 };

static struct window w;

struct worker {
    pthread_t thread;
    int number;
};

static MPI_Count value_of(int counter)
{
    MPI_Count value = -1;
    CHECK_OK(MPI_Win_get_notify_value(w.win, counter, &value));
    return value;
}

static void await(int counter, MPI_Count expected)
{
    MPI_Request request;
    CHECK_OK(MPIX_Win_notify_ithreshold(w.win, counter, expected, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(value_of(counter) >= expected);
}

/* Each to the next rank, by all forms, into a word of its own. */
static void *notify_next(void *argument)
{
    const struct worker *const worker = argument;
    int const to = (w.rank + 1) % w.size;
    MPI_Aint const place = window_at(&w, to, 8L * worker->number);
    int64_t const one = 1;
    for (int i = 0; i < EACH; ++i) {
        MPI_Request request;
        if (i % 3 == 0)
            CHECK_OK(MPI_Put_notify(&one, 1, MPI_INT64_T, to, place, 1, MPI_INT64_T, 0, w.win));
        else if (i % 3 == 1)
            CHECK_OK(MPI_Accumulate_notify(&one, 1, MPI_INT64_T, to,
                                           window_at(&w, to, 8L * THREADS), 1, MPI_INT64_T, MPI_SUM,
                                           0, w.win));
        else {
            CHECK_OK(MPI_Rput_notify(&one, 1, MPI_INT64_T, to, place, 1, MPI_INT64_T, 0, w.win,
                                     &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    return NULL;
}

static void all_at_once(void)
{
    struct worker workers[THREADS];
    check_step("threads that notify");
    for (int i = 0; i < THREADS; ++i) {
        workers[i].number = i;
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, notify_next, &workers[i]), 0);
    }
    await(0, THREADS * EACH);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(workers[i].thread, NULL);
    CHECK_OK(MPI_Win_flush_all(w.win));
    MPI_Barrier(w.comm);
    CHECK_EQ(value_of(0), THREADS * EACH);
    MPI_Barrier(w.comm);
}

static void *wait_for_own(void *argument)
{
    (void)argument;
    for (int round = 1; round <= 20; ++round)
        await(1, round);
    return NULL;
}

/* It sleeps, and nobody but its own process can wake it. */
static void own_process(void)
{
    static const struct timespec nap = {0, 5000000};
    pthread_t waiting;
    int64_t const one = 1;
    check_step("a thread that waits for another one");
    CHECK_EQ(pthread_create(&waiting, NULL, wait_for_own, NULL), 0);
    for (int round = 1; round <= 20; ++round) {
        nanosleep(&nap, NULL);
        CHECK_OK(MPI_Put_notify(&one, 1, MPI_INT64_T, w.rank, window_at(&w, w.rank, 0), 1,
                                MPI_INT64_T, 1, w.win));
    }
    pthread_join(waiting, NULL);
    MPI_Barrier(w.comm);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        w = window_open(flavor, MPI_COMM_WORLD, 8 * WORDS, 1);
        CHECK_OK(MPI_Win_set_num_notify(w.win, MPI_INFO_NULL, COUNTERS));
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        all_at_once();
        own_process();
        CHECK_OK(MPI_Win_unlock_all(w.win));
        window_close(&w);
    }
    return check_end();
}
