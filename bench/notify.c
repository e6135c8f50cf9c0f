/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How soon a target knows that data are there: by a put, a flush and a message; by a notified put
 * (MPI-5.1, 12.6) and a loop that asks for the counter, or a wait for it; and by a bare flag,
 * stores and loads in shared memory, where the ranks share some. A host that does not have notified
 * puts measures the other lines.
 *
 *     notify [--quick] [LINE...]
 *
 * A line is PATTERN_HOW_BYTES, such as ring_polled_8.
 * ring: the data go once around, from rank 0 to rank 0; with two ranks that is to the consumer and
 * back. many: all others put to rank 0, which has all before it lets them go on, by the same means
 * without data.
 */
#define _GNU_SOURCE
#include "agree.h"
#include "measure.h"

#include <getopt.h>
#include <mpi.h>
#include <sched.h>
#include <sidelight_notify.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST = 64 << 10, MOST_RANKS = 16 };

enum How { MESSAGE, POLLED, WAITED, FLAG, HOWS };

static const char *const names[HOWS] = {"message", "polled", "waited", "flag"};
static const int sizes[] = {8, 1 << 10, 64 << 10};

/* A place for data from one rank, and behind it the flag of them. */
struct Place {
    char data[LARGEST];
    _Alignas(64) _Atomic int64_t flag;
    char rest[64 - sizeof(int64_t)];
};

static struct {
    int (*put)(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, int, MPI_Win);
    int (*value)(MPI_Win, int, MPI_Count *);
    int (*threshold)(MPI_Win, int, MPI_Count, MPI_Request *);
    int (*number)(MPI_Win, MPI_Info, int);
    bool is_there; /* all of it */
} notified;

struct Bench {
    MPI_Win win;
    int rank, ranks, bytes;
    int crowded; /* more ranks than cores */
    enum How how;
    struct Place *own;
    struct Place *shared[MOST_RANKS]; /* NULL: not in shared memory */
    int64_t sent[MOST_RANKS];         /* flags raised, by rank */
    int64_t received[MOST_RANKS];     /* waited for, by rank */
    MPI_Count counted;                /* notifications waited for */
    char *data, *result;
};

static void hand_on(struct Bench *bench, int to, int bytes)
{
    const MPI_Aint place = (MPI_Aint)sizeof(struct Place) * bench->rank;
    switch (bench->how) {
    case MESSAGE:
        MPI_Put(bench->data, bytes, MPI_BYTE, to, place, bytes, MPI_BYTE, bench->win);
        MPI_Win_flush(to, bench->win);
        MPI_Send(NULL, 0, MPI_BYTE, to, 1, MPI_COMM_WORLD);
        break;
    case FLAG: {
        struct Place *at = &bench->shared[to][bench->rank];
        memcpy(at->data, bench->data, (size_t)bytes);
        atomic_store_explicit(&at->flag, ++bench->sent[to], memory_order_release);
        break;
    }
    default:
        notified.put(bench->data, bytes, MPI_BYTE, to, place, bytes, MPI_BYTE, 0, bench->win);
    }
}

static void breathe(const struct Bench *bench)
{
    if (bench->crowded)
        sched_yield();
}

/* Until so many more have handed something on. `from`: the only one that may have. */
static void await(struct Bench *bench, int from, int more)
{
    MPI_Count value = 0;
    MPI_Request request;
    switch (bench->how) {
    case MESSAGE:
        for (; more != 0; --more)
            MPI_Recv(NULL, 0, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case FLAG:
        for (int rank = 0; rank < bench->ranks; ++rank) {
            if (rank == bench->rank || (from != MPI_ANY_SOURCE && from != rank))
                continue;
            ++bench->received[rank];
            while (atomic_load_explicit(&bench->shared[bench->rank][rank].flag,
                                        memory_order_acquire) < bench->received[rank])
                breathe(bench);
        }
        break;
    case POLLED:
        bench->counted += more;
        while (notified.value(bench->win, 0, &value), value < bench->counted)
            breathe(bench);
        break;
    default:
        bench->counted += more;
        notified.threshold(bench->win, 0, bench->counted, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* What has come is read, as a program would. */
static void use(struct Bench *bench, int from)
{
    const struct Place *places = bench->how == FLAG ? bench->shared[bench->rank] : bench->own;
    memcpy(bench->result, places[from].data, (size_t)bench->bytes);
}

static void ring(void *context, long repetitions)
{
    struct Bench *bench = context;
    const int to = (bench->rank + 1) % bench->ranks;
    const int from = (bench->rank + bench->ranks - 1) % bench->ranks;
    for (long i = 0; i < repetitions; ++i) {
        if (bench->rank == 0)
            hand_on(bench, to, bench->bytes);
        await(bench, from, 1);
        use(bench, from);
        if (bench->rank != 0)
            hand_on(bench, to, bench->bytes);
    }
}

static void many(void *context, long repetitions)
{
    struct Bench *bench = context;
    for (long i = 0; i < repetitions; ++i) {
        if (bench->rank != 0) {
            hand_on(bench, 0, bench->bytes);
            await(bench, 0, 1);
            continue;
        }
        await(bench, MPI_ANY_SOURCE, bench->ranks - 1);
        for (int rank = 1; rank < bench->ranks; ++rank)
            use(bench, rank);
        for (int rank = 1; rank < bench->ranks; ++rank)
            hand_on(bench, rank, 0);
    }
}

static int can_measure(const struct Bench *bench, enum How how)
{
    int can = 1;
    if (how == POLLED || how == WAITED)
        return notified.is_there;
    for (int rank = 0; how == FLAG && rank < bench->ranks; ++rank)
        can = can && bench->shared[rank] != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return can;
}

static void measure_all(struct Bench *bench, const struct Plan *plan, char *const *chosen_names,
                        int count)
{
    static const struct {
        const char *name;
        Action *action;
    } patterns[] = {{"ring", ring}, {"many", many}};
    for (int k = 0; k < 2 * HOWS * (int)(sizeof sizes / sizeof *sizes); ++k) {
        char name[48];
        const int pattern = k / HOWS % 2;
        bench->how = (enum How)(k % HOWS);
        bench->bytes = sizes[k / HOWS / 2];
        snprintf(name, sizeof name, "%s_%s_%d", patterns[pattern].name, names[bench->how],
                 bench->bytes);
        if (chosen(name, chosen_names, count) && can_measure(bench, bench->how)) {
            const struct Team team = {bench->rank, NULL, agree_by_mpi};
            const struct Line line = {name, patterns[pattern].action, patterns[pattern].action};
            measure(&team, &line, bench, plan);
        }
    }
}

static bool notifications_are_there(void)
{
    return look_up("MPI_Put_notify", &notified.put) &&
           look_up("MPI_Win_get_notify_value", &notified.value) &&
           look_up("MPIX_Win_notify_ithreshold", &notified.threshold) &&
           look_up("MPI_Win_set_num_notify", &notified.number);
}

/* Shared memory is asked of a window of its own: where the one that is measured is reached by
 * messages there may still be some. */
static MPI_Win make_flags(struct Bench *bench)
{
    MPI_Comm node;
    MPI_Win win = MPI_WIN_NULL;
    int on_node = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    if (on_node == bench->ranks) {
        MPI_Aint size = (MPI_Aint)sizeof(struct Place) * bench->ranks;
        void *base;
        int unit;
        MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, node, &base, &win);
        memset(base, 0, (size_t)size);
        for (int rank = 0; rank < bench->ranks; ++rank) {
            MPI_Win_shared_query(win, rank, &size, &unit, &base);
            bench->shared[rank] = base;
        }
    }
    MPI_Comm_free(&node);
    return win;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'}, {NULL, 0, NULL, 0}};
    struct Bench bench = {.win = MPI_WIN_NULL};
    int option = 0, quick = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
    while ((option = getopt_long(argc, argv, "", options, NULL)) == 'q')
        quick = 1;
    bench.data = make_data(LARGEST);
    bench.result = calloc(1, LARGEST);
    if (option != -1 || bench.ranks < 2 || bench.ranks > MOST_RANKS || bench.result == NULL ||
        !bind_to_core(bench.rank, bench.ranks)) {
        fprintf(stderr, "usage: notify [--quick] [LINE...], on 2 to %d ranks\n", MOST_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bench.crowded = bench.ranks > 2;
    notified.is_there = notifications_are_there();
    const MPI_Aint size = (MPI_Aint)sizeof(struct Place) * bench.ranks;
    MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bench.own, &bench.win);
    memset(bench.own, 0, (size_t)size);
    MPI_Win flags = make_flags(&bench);
    if (notified.is_there)
        notified.number(bench.win, MPI_INFO_NULL, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, bench.win);
    const struct Plan *const alone = quick ? &quick_plan : &full_plan;
    const struct Plan *const crowded = quick ? &quick_crowded_plan : &crowded_plan;
    measure_all(&bench, bench.crowded ? crowded : alone, argv + optind, argc - optind);
    MPI_Win_unlock_all(bench.win);
    if (flags != MPI_WIN_NULL)
        MPI_Win_free(&flags);
    MPI_Win_free(&bench.win);
    free(bench.data);
    free(bench.result);
    MPI_Finalize();
    return 0;
}
