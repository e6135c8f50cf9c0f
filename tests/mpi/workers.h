/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a rank that are in the library at the same time. */
#ifndef SIDELIGHT_TESTS_WORKERS_H
#define SIDELIGHT_TESTS_WORKERS_H

#include "host_defects.h"
#include <pthread.h>

enum { MOST_THREADS = 8 };

/* How many each rank has: fewer where there are many ranks, since those that wait in a host keep
 * the cores from the others, ten times as long with twice as many. */
static inline int threads_each(void) { return check_size > 2 ? MOST_THREADS / 2 : MOST_THREADS; }

struct worker {
    pthread_t thread;
    int number;
    void (*body)(struct worker *);
    struct window *w; /* shared by all threads, or this thread's own */
    MPI_Comm comm;    /* this thread's own */
};

static inline void *worker_start(void *argument)
{
    struct worker *const worker = argument;
    worker->body(worker);
    return NULL;
}

/* Runs body in all threads; each has the window that lies `stride` further than the last one's. */
static inline void in_threads(void (*body)(struct worker *), struct window *w, int stride,
                              MPI_Comm *comms)
{
    struct worker workers[MOST_THREADS];
    int const threads = threads_each();
    for (int i = 0; i < threads; ++i) {
        workers[i] = (struct worker){.number = i, .body = body, .w = w + i * stride};
        workers[i].comm = comms[i];
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, worker_start, &workers[i]), 0);
    }
    for (int i = 0; i < threads; ++i)
        pthread_join(workers[i].thread, NULL);
}

/* A barrier by the window: threads that wait in one of the host would keep the cores from others.
 */
static inline void meet_by_window(const struct window *w)
{
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

#endif /* SIDELIGHT_TESTS_WORKERS_H */
