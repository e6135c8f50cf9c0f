/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A completed operation is visible: two ranks each write, complete, and read what the other writes.
 * In no round may both see the old value. Every way to write with every call that completes.
 *
 * litmus [rounds for each pair]
 *
 * Both ranks begin each round together: they count rounds in plain shared memory beside the window,
 * with loads and stores alone, so that nothing but the calls under test orders memory. One line
 * says how often the same happens with no completing call, and so how sharp the test was.
 */
#include "host_defects.h"
#include <sched.h>

enum { BYTES = 1024, SPINS = 300, LINGER = 1024 };

typedef int64_t number;

struct game {
    struct window w;
    int write_rank, read_rank; /* whose memory holds the number that this rank writes, reads */
    MPI_Aint write_at, read_at;
    number round;
    number seen;
    number *store_at, *load_from; /* the same two, by loads and stores; null: not by these */
    MPI_Datatype strided;         /* two numbers, the first of which counts */
};

/* --- Writing ---------------------------------------------------------------------------------- */

struct step {
    const char *name;
    void (*call)(struct game *g);
};

static const number one = 1;
static number scratch[4];

static void put(struct game *g)
{
    MPI_Put(&g->round, 1, MPI_INT64_T, g->write_rank, g->write_at, 1, MPI_INT64_T, g->w.win);
}

static void put_strided(struct game *g)
{
    number const both[2] = {g->round, g->round};
    MPI_Put(both, 2, MPI_INT64_T, g->write_rank, g->write_at, 1, g->strided, g->w.win);
    MPI_Win_flush_local(g->write_rank, g->w.win);
}

static void rput(struct game *g)
{
    MPI_Request r;
    MPI_Rput(&g->round, 1, MPI_INT64_T, g->write_rank, g->write_at, 1, MPI_INT64_T, g->w.win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* By the program, in a shared window (MPI-4.1, 12.2.3). */
static void store(struct game *g) { __atomic_store_n(g->store_at, g->round, __ATOMIC_RELAXED); }

static void accumulate(struct game *g)
{
    MPI_Accumulate(&one, 1, MPI_INT64_T, g->write_rank, g->write_at, 1, MPI_INT64_T, MPI_SUM,
                   g->w.win);
}

static void replace(struct game *g)
{
    MPI_Accumulate(&g->round, 1, MPI_INT64_T, g->write_rank, g->write_at, 1, MPI_INT64_T,
                   MPI_REPLACE, g->w.win);
}

static void raccumulate(struct game *g)
{
    MPI_Request r;
    MPI_Raccumulate(&one, 1, MPI_INT64_T, g->write_rank, g->write_at, 1, MPI_INT64_T, MPI_SUM,
                    g->w.win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void get_accumulate(struct game *g)
{
    MPI_Get_accumulate(&g->round, 1, MPI_INT64_T, scratch, 1, MPI_INT64_T, g->write_rank,
                       g->write_at, 1, MPI_INT64_T, MPI_REPLACE, g->w.win);
}

static void rget_accumulate(struct game *g)
{
    MPI_Request r;
    MPI_Rget_accumulate(&one, 1, MPI_INT64_T, scratch, 1, MPI_INT64_T, g->write_rank, g->write_at,
                        1, MPI_INT64_T, MPI_SUM, g->w.win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void fetch_and_op(struct game *g)
{
    MPI_Fetch_and_op(&one, scratch, MPI_INT64_T, g->write_rank, g->write_at, MPI_SUM, g->w.win);
}

static void fetch_and_replace(struct game *g)
{
    MPI_Fetch_and_op(&g->round, scratch, MPI_INT64_T, g->write_rank, g->write_at, MPI_REPLACE,
                     g->w.win);
}

static void compare_and_swap(struct game *g)
{
    scratch[1] = g->round - 1;
    MPI_Compare_and_swap(&g->round, &scratch[1], scratch, MPI_INT64_T, g->write_rank, g->write_at,
                         g->w.win);
}

static const struct step writes[] = {{"put", put},
                                     {"strided put", put_strided},
                                     {"rput", rput},
                                     {"accumulate sum", accumulate},
                                     {"accumulate replace", replace},
                                     {"raccumulate", raccumulate},
                                     {"get_accumulate", get_accumulate},
                                     {"rget_accumulate", rget_accumulate},
                                     {"fetch_and_op", fetch_and_op},
                                     {"fetch_and_op replace", fetch_and_replace},
                                     {"compare_and_swap", compare_and_swap}};

static const struct step own_store = {"store", store};

/* Operations whose request waits for the target need no completing call. Found at run time: this
 * program knows nothing of Sidelight, and runs without it. */
typedef int rrput_call(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win,
                       MPI_Request *);
typedef int rraccumulate_call(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype,
                              MPI_Op, MPI_Win, MPI_Request *);
static rrput_call *find_rrput;
static rraccumulate_call *find_rraccumulate;

static void rrput(struct game *g)
{
    MPI_Request r;
    find_rrput(&g->round, 1, MPI_INT64_T, g->write_rank, g->write_at, 1, MPI_INT64_T, g->w.win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void rrput_strided(struct game *g)
{
    number const both[2] = {g->round, g->round};
    MPI_Request r;
    find_rrput(both, 2, MPI_INT64_T, g->write_rank, g->write_at, 1, g->strided, g->w.win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void rraccumulate(struct game *g)
{
    MPI_Request r;
    find_rraccumulate(&one, 1, MPI_INT64_T, g->write_rank, g->write_at, 1, MPI_INT64_T, MPI_SUM,
                      g->w.win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct step remote_writes[] = {
    {"rrput", rrput}, {"strided rrput", rrput_strided}, {"rraccumulate", rraccumulate}};

static bool find_remote_writes(void)
{
    *(void **)&find_rrput = dlsym(RTLD_DEFAULT, "MPIX_Rrput");
    *(void **)&find_rraccumulate = dlsym(RTLD_DEFAULT, "MPIX_Rraccumulate");
    return find_rrput != NULL && find_rraccumulate != NULL;
}

/* --- Completing ------------------------------------------------------------------------------- */

static void flush(struct game *g) { MPI_Win_flush(g->write_rank, g->w.win); }

static void flush_all(struct game *g) { MPI_Win_flush_all(g->w.win); }

static void flush_local_first(struct game *g)
{
    MPI_Win_flush_local(g->write_rank, g->w.win);
    MPI_Win_flush(g->write_rank, g->w.win);
}

/* Found at run time: this program knows nothing of Sidelight. */
static void iflush(struct game *g)
{
    static int (*call)(int, MPI_Win, MPI_Request *);
    MPI_Request r;
    if (call == NULL)
        *(void **)&call = dlsym(RTLD_DEFAULT, "MPIX_Win_iflush");
    if (call == NULL) {
        flush(g);
        return;
    }
    call(g->write_rank, g->w.win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void unlock(struct game *g) { MPI_Win_unlock(g->write_rank, g->w.win); }

static void unlock_all(struct game *g)
{
    MPI_Win_unlock_all(g->w.win);
    MPI_Win_lock_all(0, g->w.win);
}

static void nothing(struct game *g) { (void)g; }

static const struct step no_completion = {"nothing", nothing};

static const struct step completions[] = {{"flush", flush},
                                          {"flush_all", flush_all},
                                          {"flush_local and flush", flush_local_first},
                                          {"iflush and wait", iflush},
                                          {"unlock", unlock},
                                          {"unlock_all and lock_all", unlock_all}};

/* --- Rounds ----------------------------------------------------------------------------------- */

/* One line of memory for each rank, written by it and read by the other. */
struct line {
    number round;   /* the round that it has begun */
    number seen[2]; /* what it saw in the last even and the last odd round */
    number padding[13];
};

static struct line *lines[2];
static MPI_Win lines_window;

static void wait_for(number round)
{
    for (int spins = 0; __atomic_load_n(&lines[1]->round, __ATOMIC_ACQUIRE) < round; ++spins)
        if (spins % SPINS == SPINS - 1) {
            int flag; /* a host alone makes no progress without calls */
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            sched_yield();
        }
}

static void begin_round(number round)
{
    __atomic_store_n(&lines[0]->round, round, __ATOMIC_RELEASE);
    wait_for(round);
}

static void read_other(struct game *g)
{
    if (g->load_from != NULL) {
        g->seen = __atomic_load_n(g->load_from, __ATOMIC_RELAXED);
        return;
    }
    MPI_Get(&g->seen, 1, MPI_INT64_T, g->read_rank, g->read_at, 1, MPI_INT64_T, g->w.win);
    MPI_Win_flush_local(g->read_rank, g->w.win);
}

/* The one that comes last would always be ahead by the time that its flag takes: up to as much. */
static void linger(uint64_t *seed)
{
    for (uint64_t left = check_random(seed) % LINGER; left > 0; --left)
        __asm__ volatile("");
}

struct tally {
    number both_old, one_old;
};

/* Results of the round before: the other's cannot change until this rank begins another one. */
static void judge(number round, struct tally *tally)
{
    number const mine = lines[0]->seen[round % 2], other = lines[1]->seen[round % 2];
    CHECK(mine == round || mine == round - 1);
    tally->both_old += mine == round - 1 && other == round - 1;
    tally->one_old += (mine == round - 1) != (other == round - 1);
}

static struct tally play(struct game *g, const struct step *write, const struct step *complete,
                         number rounds)
{
    struct tally tally = {0, 0};
    number const first = lines[0]->round + 1;
    bool const locks = complete->call == unlock;
    uint64_t seed = (uint64_t)check_rank;
    for (number k = first; k < first + rounds; ++k) {
        g->round = k - first + 1;
        if (locks)
            MPI_Win_lock(MPI_LOCK_SHARED, g->write_rank, 0, g->w.win);
        begin_round(k);
        linger(&seed);
        write->call(g);
        complete->call(g);
        read_other(g);
        lines[0]->seen[g->round % 2] = g->seen;
        if (k > first)
            judge(g->round - 1, &tally);
    }
    begin_round(first + rounds);
    judge(g->round, &tally);
    return tally;
}

/* Where the two numbers lie: at each other, at oneself, both at rank 0. */
static void place(struct game *g, int placement)
{
    int const mine = check_rank, other = 1 - check_rank;
    g->write_rank = placement == 0 ? other : placement == 1 ? mine : 0;
    g->read_rank = placement == 0 ? mine : placement == 1 ? other : 0;
    g->write_at = 32 * mine;
    g->read_at = 32 * other;
}

static number *address(struct game *g, int rank, MPI_Aint at)
{
    MPI_Aint size;
    int unit;
    char *base;
    MPI_Win_shared_query(g->w.win, rank, &size, &unit, &base);
    return (number *)(base + at);
}

static struct tally play_placed(struct game *g, const struct step *write,
                                const struct step *complete, number rounds)
{
    bool const locks = complete->call == unlock;
    memset(g->w.base, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (locks)
        MPI_Win_lock(MPI_LOCK_SHARED, g->read_rank, 0, g->w.win);
    else
        MPI_Win_lock_all(0, g->w.win);
    struct tally const tally = play(g, write, complete, rounds);
    if (locks)
        MPI_Win_unlock(g->read_rank, g->w.win);
    else
        MPI_Win_unlock_all(g->w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    return tally;
}

static void pair(struct game *g, const struct step *write, const struct step *complete,
                 number rounds)
{
    static char step[128];
    snprintf(step, sizeof step, "%s, %s", write->name, complete->name);
    check_step(step);
    /* A lock of the rank that is read is held all the time: the two must not be the same. */
    int const placements = complete->call == unlock ? 2 : 3;
    for (int p = 0; p < placements; ++p) {
        place(g, p);
        if (write->call == store) {
            g->store_at = address(g, g->write_rank, g->write_at);
            g->load_from = address(g, g->read_rank, g->read_at);
        }
        struct tally const t = play_placed(g, write, complete, rounds / placements + 1);
        g->load_from = NULL;
        CHECK_EQ(t.both_old, 0);
    }
}

static void control(struct game *g, number rounds)
{
    check_step("control");
    place(g, 0);
    struct tally const t = play_placed(g, &writes[0], &no_completion, rounds);
    if (check_rank == 0)
        printf("without completion, %lld of %lld rounds saw both old values, %lld one\n",
               (long long)t.both_old, (long long)rounds, (long long)t.one_old);
}

static void open_lines(void)
{
    MPI_Aint size;
    int unit;
    void *base;
    MPI_Win_allocate_shared(sizeof(struct line), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            &lines_window);
    MPI_Win_shared_query(lines_window, check_rank, &size, &unit, &lines[0]);
    MPI_Win_shared_query(lines_window, 1 - check_rank, &size, &unit, &lines[1]);
    memset(lines[0], 0, sizeof(struct line));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_pairs(enum flavor flavor, number rounds)
{
    struct game g = {.w = window_open(flavor, MPI_COMM_WORLD, BYTES, 1)};
    size_t const ways = sizeof writes / sizeof *writes;
    MPI_Type_vector(2, 1, 2, MPI_INT64_T, &g.strided);
    MPI_Type_commit(&g.strided);
    for (size_t i = 0; i < ways; ++i)
        for (size_t c = 0; c < sizeof completions / sizeof *completions; ++c)
            if (!host_cannot(writes[i].name, flavor, 2))
                pair(&g, &writes[i], &completions[c], rounds);
    for (size_t i = 0; i < sizeof remote_writes / sizeof *remote_writes; ++i)
        if (find_remote_writes())
            pair(&g, &remote_writes[i], &no_completion, rounds);
    if (!host_is_alone()) {
        for (size_t c = 0; c < sizeof completions / sizeof *completions; ++c)
            pair(&g, &own_store, &completions[c], rounds);
        control(&g, rounds);
    }
    MPI_Type_free(&g.strided);
    window_close(&g.w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    number const rounds = (number)check_argument(argc, argv, 1, 20000);
    if (check_size != 2)
        return check_skip("for two ranks");
    open_lines();
    all_pairs(FLAVOR_ALLOCATE, rounds / 2);
    all_pairs(FLAVOR_SHARED, rounds / 2);
    MPI_Win_free(&lines_window);
    return check_end();
}
