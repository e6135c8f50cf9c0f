/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: the delete callback of a window's attribute waits for another thread, which
 * makes and frees windows of its own meanwhile. So does one of a duplicate.
 */
#include "windows.h"

#include <pthread.h>
#include <sidelight.h>

static pthread_barrier_t inside, made;

static int wait_for_the_other(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)value, (void)extra;
    pthread_barrier_wait(&inside);
    pthread_barrier_wait(&made);
    return MPI_SUCCESS;
}

static void *make_windows(void *rounds)
{
    for (int round = 0; round < *(int *)rounds; ++round) {
        pthread_barrier_wait(&inside);
        struct window mine = window_open(FLAVOR_ALLOCATE, MPI_COMM_SELF, 64, 1);
        window_close(&mine);
        pthread_barrier_wait(&made);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, key, rounds = 2;
    pthread_t thread;
    MPI_Win duplicate;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    pthread_barrier_init(&inside, NULL, 2);
    pthread_barrier_init(&made, NULL, 2);
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, wait_for_the_other, &key, NULL));
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 1);
    CHECK_OK(MPIX_Win_dup_with_info(w.win, MPI_INFO_NULL, &duplicate));
    CHECK_OK(MPI_Win_set_attr(w.win, key, NULL));
    CHECK_OK(MPI_Win_set_attr(duplicate, key, NULL));
    CHECK_EQ(pthread_create(&thread, NULL, make_windows, &rounds), 0);
    CHECK_OK(MPI_Win_free(&duplicate));
    window_close(&w);
    pthread_join(thread, NULL);
    CHECK_OK(MPI_Win_free_keyval(&key));
    return check_end();
}
