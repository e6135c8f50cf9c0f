/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program's other threads do is not disturbed by windows that come and go: calls of the
 * kernel transfer all that they were asked for, and whoever sleeps at a word of a window's memory
 * is woken.
 */
#include "check.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

enum { WINDOWS = 200, BYTES = 1 << 20, MESSAGE = 1 << 20, PIECE = 8192, PAGE = 4096 };

static atomic_bool over;

/* --- Short calls ------------------------------------------------------------------------------ */

static int ends[2];                      /* of a socket pair: one writes much, the other is slow */
static atomic_int sent, received, slept; /* calls */

static void *sender(void *unused)
{
    static char message[MESSAGE];
    (void)unused;
    for (int k = 0; !over; ++k) {
        ssize_t const done =
            k % 2 ? send(ends[0], message, MESSAGE, 0) : write(ends[0], message, MESSAGE);
        CHECK_EQ(done, MESSAGE);
        ++sent;
    }
    shutdown(ends[0], SHUT_WR);
    return NULL;
}

static void *receiver(void *unused)
{
    static char message[MESSAGE];
    (void)unused;
    for (;;) {
        ssize_t const got = recv(ends[1], message, MESSAGE, MSG_WAITALL);
        if (got <= 0)
            break;
        CHECK_EQ(got, MESSAGE);
        ++received;
    }
    return NULL;
}

/* Nothing ever comes, and the time is up each time. */
static void *sleeper(void *descriptor)
{
    char byte;
    while (!over) {
        CHECK_EQ(read(*(int *)descriptor, &byte, 1), -1);
        CHECK_EQ(errno, EAGAIN);
        ++slept;
    }
    return NULL;
}

static void windows(void *memory, int count)
{
    for (int i = 0; i < count; ++i) {
        MPI_Win win;
        CHECK_OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        CHECK_OK(MPI_Win_free(&win));
    }
}

static void short_calls(void *memory)
{
    pthread_t threads[3];
    int silent[2];
    struct timeval const limit = {.tv_usec = 20000};
    check_step("calls of other threads");
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, silent), 0);
    CHECK_EQ(setsockopt(silent[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, receiver, NULL);
    pthread_create(&threads[2], NULL, sleeper, &silent[0]);
    windows(memory, WINDOWS);
    int more = slept < 3 || received < 3; /* and so on until all have come round */
    MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    while (more) {
        windows(memory, 10);
        more = slept < 3 || received < 3;
        MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    over = true;
    for (int i = 0; i < 3; ++i)
        pthread_join(threads[i], NULL);
    CHECK_EQ(sent, received);
}

/* --- A sleeper -------------------------------------------------------------------------------- */

struct word {
    atomic_int value;
    atomic_int asleep;
    double seconds;
};

static long futex(atomic_int *word, int operation, int value, const struct timespec *limit)
{
    return syscall(SYS_futex, word, operation, value, limit, NULL, 0);
}

static void *waiter(void *argument)
{
    struct word *const word = argument;
    struct timespec const limit = {.tv_sec = 200};
    double const begin = MPI_Wtime();
    while (word->value == 0) {
        word->asleep = 1;
        futex(&word->value, FUTEX_WAIT, 0, &limit); /* not private: known by what is behind it */
    }
    word->seconds = MPI_Wtime() - begin;
    return NULL;
}

static void woken(struct word *word)
{
    pthread_t thread;
    check_step("a thread that sleeps at a word of a window");
    memset(word, 0, sizeof *word);
    pthread_create(&thread, NULL, waiter, word);
    while (!word->asleep)
        continue;
    usleep(20000);
    windows(word, 3);
    word->value = 1;
    futex(&word->value, FUTEX_WAKE, 1, NULL);
    pthread_join(thread, NULL);
    CHECK(word->seconds < 150);
}

int main(int argc, char **argv)
{
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    check_begin_initialised();
    void *memory = NULL;
    CHECK_EQ(posix_memalign(&memory, PAGE, BYTES), 0);
    memset(memory, 0, BYTES);
    short_calls(memory);
    woken(memory);
    free(memory);
    return check_end();
}
