/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank that wait for each other by locks of the program which lie on the same page as
 * memory of windows that come and go. The locks are those that the kernel tells apart by what is
 * behind their page: of several processes by their attributes, though only threads use them. So a
 * page of a program with threads stays the one that it is, also where windows may replace pages.
 */
#include "check.h"
#include <pthread.h>
#include <stddef.h>

enum { WINDOWS = 50, WORDS = 64, PAGE = 4096 };

/* One page. */
struct beside {
    pthread_mutex_t mutex;
    pthread_cond_t passed;
    int turn;
    bool end;
    int64_t data[WORDS];
};

struct player {
    pthread_t thread;
    struct beside *beside;
    int number;
    long turns;
};

static void *play(void *argument)
{
    struct player *const me = argument;
    struct beside *const beside = me->beside;
    pthread_mutex_lock(&beside->mutex);
    while (!beside->end) {
        if (beside->turn == me->number) {
            beside->turn = !me->number;
            ++me->turns;
            pthread_cond_broadcast(&beside->passed);
        } else {
            pthread_cond_wait(&beside->passed, &beside->mutex);
        }
    }
    pthread_mutex_unlock(&beside->mutex);
    return NULL;
}

static long turns_of(struct beside *beside, const struct player *players)
{
    pthread_mutex_lock(&beside->mutex);
    long const turns = players[0].turns + players[1].turns;
    pthread_mutex_unlock(&beside->mutex);
    return turns;
}

static struct beside *make_beside(void)
{
    void *page = NULL;
    CHECK_EQ(posix_memalign(&page, PAGE, PAGE), 0);
    struct beside *const beside = page;
    memset(page, 0, PAGE);
    pthread_mutexattr_t mutex;
    pthread_condattr_t passed;
    pthread_mutexattr_init(&mutex);
    pthread_condattr_init(&passed);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setpshared(&passed, PTHREAD_PROCESS_SHARED);
    CHECK_EQ(pthread_mutex_init(&beside->mutex, &mutex), 0);
    CHECK_EQ(pthread_cond_init(&beside->passed, &passed), 0);
    return beside;
}

/* Whether the page is mapped for other processes, as /proc/self/maps says. */
static bool is_shared(const void *page)
{
    char line[512];
    bool found = false, shared = false;
    FILE *const maps = fopen("/proc/self/maps", "re");
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        unsigned long first = 0, last = 0;
        char rights[5] = "";
        if (sscanf(line, "%lx-%lx %4s", &first, &last, rights) == 3 && first <= (uintptr_t)page &&
            (uintptr_t)page < last) {
            found = true;
            shared = rights[3] == 's';
        }
    }
    fclose(maps);
    return shared;
}

/* Each rank gets a number from the one before it, in a window of the whole page, whose bounds are
 * no reason to leave it as it is, or of the data alone. */
static void use_window(struct beside *beside, int64_t number)
{
    bool const whole = number % 2 == 0;
    MPI_Aint const first = whole ? (MPI_Aint)offsetof(struct beside, data) : 0;
    int const next = (check_rank + 1) % check_size;
    int const before = (check_rank + check_size - 1) % check_size;
    int64_t const value = number * check_size + check_rank;
    MPI_Win win;
    CHECK_OK(MPI_Win_create(whole ? (void *)beside : beside->data,
                            whole ? PAGE : (MPI_Aint)sizeof beside->data, 1, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &win));
    CHECK(!is_shared(beside));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(
        MPI_Put(&value, 1, MPI_INT64_T, next, first + 8 * (number % WORDS), 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(beside->data[number % WORDS], number * check_size + before);
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    check_begin_initialised();
    struct beside *const beside = make_beside();
    struct player players[2];
    for (int k = 0; k < 2; ++k) {
        players[k] = (struct player){.beside = beside, .number = k};
        CHECK_EQ(pthread_create(&players[k].thread, NULL, play, &players[k]), 0);
    }
    while (turns_of(beside, players) == 0)
        sched_yield();
    long const before = turns_of(beside, players);
    check_step("windows");
    for (int64_t number = 0; number < WINDOWS; ++number)
        use_window(beside, number);
    check_step("threads that go on"); /* one whose lock lost its waiters never does */
    while (turns_of(beside, players) == before)
        sched_yield();
    check_step("the end of the threads");
    pthread_mutex_lock(&beside->mutex);
    beside->end = true;
    pthread_cond_broadcast(&beside->passed);
    pthread_mutex_unlock(&beside->mutex);
    for (int k = 0; k < 2; ++k)
        pthread_join(players[k].thread, NULL);
    long const apart = players[0].turns - players[1].turns;
    CHECK(apart >= -1 && apart <= 1);
    free(beside);
    return check_end();
}
