/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations by eight threads of each rank, through handles of one window that have process
 * scope, thread scope, and thread scope with order, against a model. Each thread has a zone of its
 * own at every target and knows what must be there; all of them add to common sums.
 *
 * thread_model [operations of a rank] [seed]
 */
#include "nonblocking.h"
#include "workers.h"
#include <sidelight.h>

enum { ZONE = 512, SUMS = 4, HANDLES = 3, LONGEST = 200, PENDING = 6, DEFAULT_OPERATIONS = 20000 };
enum handle { OF_PROCESS, OF_THREAD, ORDERED };

static MPI_Win handles[HANDLES];
static long operations;
static uint64_t first_seed;
static int64_t added[MOST_THREADS][WINDOW_MOST_RANKS][SUMS];

/* A thread's view of its zone at one target. Between two flushes no cell is touched twice. */
struct zone {
    int64_t model[ZONE];
    bool touched[ZONE];
};

/* Something that was started and is not complete: what it read must be what the model had. */
struct started {
    int64_t *buffer;
    int64_t result[LONGEST], expected[LONGEST];
    int count;
    bool fetches;
};

struct thread {
    struct window *w;
    int number, target;
    uint64_t seed;
    struct zone *zones; /* by target */
    struct started *started;
    int pending; /* of `started`, all to the same target */
};

static int below(struct thread *t, int bound)
{
    return (int)(check_random(&t->seed) % (unsigned)bound);
}

static MPI_Win any_handle(struct thread *t) { return handles[below(t, HANDLES)]; }

static MPI_Aint place(const struct thread *t, int cell)
{
    return window_at(t->w, t->target,
                     8 * (SUMS + (MPI_Aint)ZONE * (t->w->rank * MOST_THREADS + t->number) + cell));
}

/* By any handle and call: whatever its scope, it waits for what this thread has issued. */
static void flush(struct thread *t)
{
    MPI_Request request;
    switch (below(t, 3)) {
    case 0:
        CHECK_OK(MPI_Win_flush(t->target, any_handle(t)));
        break;
    case 1:
        CHECK_OK(MPI_Win_flush_all(any_handle(t)));
        break;
    default:
        CHECK_OK(MPIX_Win_iflush(t->target, any_handle(t), &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < t->pending; ++i) {
        const struct started *const s = &t->started[i];
        if (s->fetches && memcmp(s->result, s->expected, 8 * (size_t)s->count) != 0)
            for (int k = 0; k < s->count; ++k)
                CHECK_EQ(s->result[k], s->expected[k]);
    }
    t->pending = 0;
    memset(t->zones[t->target].touched, 0, sizeof t->zones[t->target].touched);
}

static bool is_free(const struct thread *t, int first, int count)
{
    for (int k = first; k < first + count; ++k)
        if (t->zones[t->target].touched[k])
            return false;
    return true;
}

static struct started *start(struct thread *t, int first, int count)
{
    struct zone *const zone = &t->zones[t->target];
    struct started *const s = &t->started[t->pending++];
    s->count = count;
    s->fetches = false;
    for (int k = 0; k < count; ++k) {
        zone->touched[first + k] = true;
        s->buffer[k] = (int64_t)(check_random(&t->seed) >> 8);
        s->expected[k] = zone->model[first + k];
        s->result[k] = -1;
    }
    return s;
}

static void put_run(struct thread *t, int first, int count, MPI_Win win)
{
    struct started *const s = start(t, first, count);
    MPI_Request request;
    memcpy(&t->zones[t->target].model[first], s->buffer, 8 * (size_t)count);
    if (below(t, 3) != 0) {
        CHECK_OK(MPI_Put(s->buffer, count, MPI_INT64_T, t->target, place(t, first), count,
                         MPI_INT64_T, win));
        return;
    }
    CHECK_OK(MPI_Rput(s->buffer, count, MPI_INT64_T, t->target, place(t, first), count, MPI_INT64_T,
                      win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    memset(s->buffer, 0x55, 8 * (size_t)count); /* the buffer is free */
}

static void get_run(struct thread *t, int first, int count, MPI_Win win)
{
    struct started *const s = start(t, first, count);
    MPI_Request request;
    s->fetches = true;
    if (below(t, 3) != 0) {
        CHECK_OK(MPI_Get(s->result, count, MPI_INT64_T, t->target, place(t, first), count,
                         MPI_INT64_T, win));
        return;
    }
    CHECK_OK(MPI_Rget(s->result, count, MPI_INT64_T, t->target, place(t, first), count, MPI_INT64_T,
                      win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(memcmp(s->result, s->expected, 8 * (size_t)count) == 0);
}

static void add(struct thread *t, int first, int count, MPI_Win win, bool fetches)
{
    struct started *const s = start(t, first, count);
    for (int k = 0; k < count; ++k)
        t->zones[t->target].model[first + k] += s->buffer[k] >>= 16;
    s->fetches = fetches;
    if (fetches)
        CHECK_OK(MPI_Get_accumulate(s->buffer, count, MPI_INT64_T, s->result, count, MPI_INT64_T,
                                    t->target, place(t, first), count, MPI_INT64_T, MPI_SUM, win));
    else
        CHECK_OK(MPI_Accumulate(s->buffer, count, MPI_INT64_T, t->target, place(t, first), count,
                                MPI_INT64_T, MPI_SUM, win));
}

static void swap(struct thread *t, int first, MPI_Win win)
{
    struct started *const s = start(t, first, 1);
    bool const matches = below(t, 2) != 0;
    s->buffer[1] = s->expected[0] + !matches; /* what it is compared with */
    if (matches)
        t->zones[t->target].model[first] = s->buffer[0];
    s->fetches = true;
    CHECK_OK(MPI_Compare_and_swap(&s->buffer[0], &s->buffer[1], s->result, MPI_INT64_T, t->target,
                                  place(t, first), win));
}

static void add_to_sum(struct thread *t, MPI_Win win)
{
    static int64_t const one = 1;
    int const sum = below(t, SUMS);
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, t->target,
                            window_at(t->w, t->target, 8 * (MPI_Aint)sum), 1, MPI_INT64_T, MPI_SUM,
                            win));
    ++added[t->number][t->target][sum];
}

static void step(struct thread *t)
{
    int const count = 1 + (below(t, 4) == 0 ? below(t, LONGEST - 1) : below(t, 4));
    int const first = below(t, ZONE - count + 1);
    MPI_Win const win = any_handle(t);
    if (t->pending == PENDING || !is_free(t, first, count))
        flush(t);
    switch (below(t, 7)) {
    case 0:
    case 1:
        put_run(t, first, count, win);
        break;
    case 2:
        get_run(t, first, count, win);
        break;
    case 3:
        add(t, first, count, win, false);
        break;
    case 4:
        add(t, first, count, win, true);
        break;
    case 5:
        swap(t, first, win);
        break;
    default:
        add_to_sum(t, win);
    }
}

static void run(struct worker *me)
{
    struct thread t = {.w = me->w, .number = me->number};
    t.seed = first_seed + (uint64_t)(1000 * me->w->rank + me->number);
    t.zones = calloc((size_t)me->w->size, sizeof *t.zones);
    t.started = calloc(PENDING, sizeof *t.started);
    for (int i = 0; i < PENDING; ++i)
        t.started[i].buffer = calloc(LONGEST + 1, sizeof(int64_t));
    for (long done = 0; done < operations / threads_each(); ++done) {
        if (below(&t, 50) == 0) {
            flush(&t);
            t.target = below(&t, t.w->size);
        }
        step(&t);
    }
    flush(&t);
    for (t.target = 0; t.target < t.w->size; ++t.target) { /* all that is there in the end */
        static __thread int64_t found[ZONE];
        CHECK_OK(MPI_Get(found, ZONE, MPI_INT64_T, t.target, place(&t, 0), ZONE, MPI_INT64_T,
                         handles[OF_THREAD]));
        CHECK_OK(MPI_Win_flush(t.target, handles[OF_THREAD]));
        CHECK(memcmp(found, t.zones[t.target].model, sizeof found) == 0);
    }
    for (int i = 0; i < PENDING; ++i)
        free(t.started[i].buffer);
    free(t.started);
    free(t.zones);
}

static MPI_Win handle_with(MPI_Win win, const char *scope, const char *order)
{
    MPI_Win made;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_win_scope", scope));
    CHECK_OK(MPI_Info_set(info, "mpi_win_order", order));
    CHECK_OK(MPIX_Win_dup_with_info(win, info, &made));
    CHECK_OK(MPI_Info_free(&info));
    return made;
}

static void compare_sums(const struct window *w)
{
    int64_t all[WINDOW_MOST_RANKS][SUMS] = {{0}};
    for (int thread = 0; thread < threads_each(); ++thread)
        for (int target = 0; target < w->size; ++target)
            for (int k = 0; k < SUMS; ++k)
                all[target][k] += added[thread][target][k];
    MPI_Allreduce(MPI_IN_PLACE, all, WINDOW_MOST_RANKS * SUMS, MPI_INT64_T, MPI_SUM, w->comm);
    for (int k = 0; k < SUMS; ++k)
        CHECK_EQ(window_cell(w, k), all[w->rank][k]);
}

static void run_flavor(enum flavor flavor, MPI_Comm *comms)
{
    struct window w = window_open(flavor, MPI_COMM_WORLD,
                                  8 * (SUMS + ZONE * MOST_THREADS * (MPI_Aint)check_size), 8);
    memset(added, 0, sizeof added);
    handles[OF_PROCESS] = w.win;
    handles[OF_THREAD] = handle_with(w.win, "thread", "false");
    handles[ORDERED] = handle_with(w.win, "thread", "true");
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    in_threads(run, &w, 0, comms);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    MPI_Barrier(w.comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w.rank, 0, w.win));
    compare_sums(&w);
    CHECK_OK(MPI_Win_unlock(w.rank, w.win));
    CHECK_OK(MPI_Win_free(&handles[OF_THREAD]));
    CHECK_OK(MPI_Win_free(&handles[ORDERED]));
    window_close(&w);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[MOST_THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    if (provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    operations = (long)check_argument(argc, argv, 1, DEFAULT_OPERATIONS);
    first_seed = check_argument(argc, argv, 2, 1);
    for (int i = 0; i < threads_each(); ++i)
        comms[i] = MPI_COMM_NULL;
    check_step("an allocated window");
    run_flavor(FLAVOR_ALLOCATE, comms);
    check_step("a dynamic window");
    run_flavor(FLAVOR_DYNAMIC, comms);
    return check_end();
}
