/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast paths allocate nothing, take no mutex and make no system call.
 *
 * Two ranks. Each path runs in batches. Of three batches without a wait one must count nothing: in
 * 1024 calls one lets the host progress, so two of them may have such a call. Where ranks wait for
 * each other, the host is allowed to progress meanwhile, and that may cost; so of many batches one
 * must count nothing. How many depends on what else runs here: they are taken for some time.
 * Argument: "multiple" for MPI_THREAD_MULTIPLE.
 */
#include "../windows.h"
#include "counters.h"
#include <pthread.h>

enum { WARM_UP = 50, ROUNDS = 200, ROUNDS_WITH_WAIT = 10, MOST_SECONDS = 60, WORDS = 16 };

static int64_t value = 7, other = 3, result[WORDS];

static struct window w;
static int target;
static MPI_Group peer;

static void put(void) { MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, w.win); }

static void put_flush(void)
{
    put();
    MPI_Win_flush(target, w.win);
}

static void put_flush_local(void)
{
    put();
    MPI_Win_flush_local(target, w.win);
}

static void put_flush_all(void)
{
    put();
    MPI_Win_flush_all(w.win);
}

static void get_flush(void)
{
    MPI_Get(result, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, w.win);
    MPI_Win_flush(target, w.win);
}

static void fetch_and_op(void)
{
    MPI_Fetch_and_op(&value, result, MPI_INT64_T, target, 1, MPI_SUM, w.win);
    MPI_Win_flush(target, w.win);
}

static void compare_and_swap(void)
{
    MPI_Compare_and_swap(&value, &other, result, MPI_INT64_T, target, 1, w.win);
    MPI_Win_flush(target, w.win);
}

static void accumulate(void)
{
    MPI_Accumulate(&value, 1, MPI_INT64_T, target, 1, 1, MPI_INT64_T, MPI_SUM, w.win);
    MPI_Win_flush(target, w.win);
}

static void accumulate_many(void)
{
    MPI_Accumulate(result, WORDS, MPI_INT64_T, target, 0, WORDS, MPI_INT64_T, MPI_MAX, w.win);
    MPI_Win_flush(target, w.win);
}

static void get_accumulate(void)
{
    MPI_Get_accumulate(&value, 1, MPI_INT64_T, result, 1, MPI_INT64_T, target, 1, 1, MPI_INT64_T,
                       MPI_SUM, w.win);
    MPI_Win_flush(target, w.win);
}

static void lock_put_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win);
    put();
    MPI_Win_unlock(target, w.win);
}

static void shared_lock_put_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win);
    put();
    MPI_Win_unlock(target, w.win);
}

static void lock_all_put_unlock_all(void)
{
    MPI_Win_lock_all(0, w.win);
    put();
    MPI_Win_unlock_all(w.win);
}

static void fence(void)
{
    put();
    MPI_Win_fence(0, w.win);
}

static void access_then_exposure(void)
{
    MPI_Win_start(peer, 0, w.win);
    put();
    MPI_Win_complete(w.win);
    MPI_Win_post(peer, 0, w.win);
    MPI_Win_wait(w.win);
}

static void exposure_then_access(void)
{
    MPI_Win_post(peer, 0, w.win);
    MPI_Win_wait(w.win);
    MPI_Win_start(peer, 0, w.win);
    put();
    MPI_Win_complete(w.win);
}

static struct counters batch(void (*path)(void), int rounds)
{
    counters_start();
    for (int k = 0; k < rounds; ++k)
        path();
    return counters_stop();
}

static int sum_of(struct counters c) { return c.allocations + c.mutexes + c.system_calls; }

static void report(const char *name, struct counters c, int rounds)
{
    char text[160];
    snprintf(text, sizeof text, "%s: %d allocations, %d mutexes, %d system calls (last: %d) in %d",
             name, c.allocations, c.mutexes, c.system_calls, c.last_call, rounds);
    if (check_rank == 0)
        printf("%s %s\n", flavor_names[w.flavor], text);
    check_that(sum_of(c) == 0, text, __FILE__, __LINE__);
}

/* A path that waits for nobody. */
static void alone(const char *name, void (*path)(void))
{
    if (check_rank != 0)
        return;
    for (int k = 0; k < WARM_UP; ++k)
        path();
    struct counters counted = batch(path, ROUNDS);
    for (int more = 0; more < 2 && sum_of(counted) != 0; ++more)
        counted = batch(path, ROUNDS);
    report(name, counted, ROUNDS);
}

/* A path in which the two ranks meet: each rank has its half of it. */
static void together(const char *name, void (*first)(void), void (*second)(void))
{
    void (*const path)(void) = check_rank == 0 ? first : second;
    struct counters least = {0};
    enum { COST, OVER };
    int mine[2] = {0}, worst[2] = {1, 0};
    double const begin = MPI_Wtime();
    for (int k = 0; k < WARM_UP; ++k)
        path();
    for (int k = 0; worst[COST] > 0 && !worst[OVER]; ++k) {
        struct counters const counted = batch(path, ROUNDS_WITH_WAIT);
        mine[COST] = sum_of(counted);
        mine[OVER] = MPI_Wtime() - begin > MOST_SECONDS;
        if (k == 0 || mine[COST] < sum_of(least))
            least = counted;
        MPI_Allreduce(mine, worst, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    report(name, least, ROUNDS_WITH_WAIT);
    CHECK_EQ(worst[COST], 0);
}

static void in_one_epoch(void)
{
    MPI_Win_lock_all(0, w.win);
    alone("put, flush", put_flush);
    alone("put, flush_local", put_flush_local);
    alone("put, flush_all", put_flush_all);
    alone("get, flush", get_flush);
    alone("fetch_and_op, flush", fetch_and_op);
    alone("compare_and_swap, flush", compare_and_swap);
    alone("accumulate, flush", accumulate);
    alone("accumulate of 16, flush", accumulate_many);
    alone("get_accumulate, flush", get_accumulate);
    MPI_Win_unlock_all(w.win);
}

static void paths_to(int rank)
{
    target = rank;
    in_one_epoch();
    alone("exclusive lock, put, unlock", lock_put_unlock);
    alone("shared lock, put, unlock", shared_lock_put_unlock);
    alone("lock_all, put, unlock_all", lock_all_put_unlock_all);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void paths_with(int rank)
{
    target = rank;
    peer = check_group(1, &rank);
    MPI_Win_fence(0, w.win);
    together("put, fence", fence, fence);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    together("start, put, complete; post, wait", access_then_exposure, exposure_then_access);
    MPI_Group_free(&peer);
}

/* The counters must see what they are there for. */
static void counters_count(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    void *volatile memory;
    counters_start();
    memory = malloc(1);
    free(memory);
    pthread_mutex_lock(&mutex);
    struct counters const counted = counters_stop();
    CHECK_EQ(counted.allocations, 2);
    CHECK_EQ(counted.mutexes, 1);
    if (!counters_see_system_calls() && check_rank == 0)
        printf("left out: this kernel cannot count system calls\n");
}

int main(int argc, char **argv)
{
    bool const multiple = argc > 1 && strcmp(argv[1], "multiple") == 0;
    int provided;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    check_begin_initialised();
    if (check_size != 2 || (multiple && provided < MPI_THREAD_MULTIPLE))
        return check_skip("needs two ranks, and the thread level");
    counters_count();
    for (int flavor = FLAVOR_ALLOCATE; flavor <= FLAVOR_SHARED; ++flavor) {
        w = window_open((enum flavor)flavor, MPI_COMM_WORLD, 8 * WORDS, 8);
        paths_to(1 - check_rank);
        paths_to(check_rank);
        paths_with(1 - check_rank);
        window_close(&w);
    }
    return check_end();
}
