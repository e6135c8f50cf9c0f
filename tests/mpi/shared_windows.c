/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the node reached by loads and stores: where it lies, how large, and beside RMA calls.
 */
#include "host_defects.h"

enum { CELLS = 32, ROUNDS = 50 };

struct segment {
    unsigned char *base;
    MPI_Aint size;
    int unit;
};

static struct segment query(MPI_Win win, int rank)
{
    struct segment s = {NULL, -1, -1};
    CHECK_OK(MPI_Win_shared_query(win, rank, &s.size, &s.unit, &s.base));
    return s;
}

static volatile int64_t *cells_of(const struct window *w, int rank)
{
    struct segment const s = query(w->win, rank);
    CHECK_EQ(s.size, 8 * CELLS);
    CHECK_EQ(s.unit, w->unit);
    if (rank == w->rank)
        CHECK(s.base == w->base);
    return (volatile int64_t *)(void *)s.base;
}

static void meet(const struct window *w)
{
    CHECK_OK(MPI_Win_sync(w->win));
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_sync(w->win));
}

/* Everyone stores into everyone's memory; the owners, and RMA calls, find it there. */
static void stores(struct window *w)
{
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int target = 0; target < w->size; ++target)
        cells_of(w, target)[w->rank] = 100 * w->rank + target;
    meet(w);
    for (int other = 0; other < w->size; ++other) {
        int64_t got = -1;
        CHECK_EQ(cells_of(w, w->rank)[other], 100 * other + w->rank);
        CHECK_OK(MPI_Get(&got, 1, MPI_INT64_T, other, w->rank, 1, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_flush(other, w->win));
        CHECK_EQ(got, 100 * w->rank + other);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

/* Data by stores and the flag by an RMA call, or the other way round; the reader mixes as well. */
static void publish(struct window *w, volatile int64_t *there, int target, int64_t k)
{
    int64_t const data = 7 * k;
    if (k % 2 == 0) {
        there[1] = data;
        CHECK_OK(MPI_Win_sync(w->win));
        CHECK_OK(
            MPI_Accumulate(&k, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_REPLACE, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
    } else {
        CHECK_OK(MPI_Put(&data, 1, MPI_INT64_T, target, 1, 1, MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_OK(MPI_Win_sync(w->win));
        there[0] = k;
    }
}

static void await(struct window *w, volatile int64_t *here, int64_t k)
{
    for (int64_t seen = -1; seen != k;) {
        if (k % 3 == 0) {
            CHECK_OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, w->rank, 0, MPI_NO_OP, w->win));
            CHECK_OK(MPI_Win_flush(w->rank, w->win));
        } else {
            seen = here[0];
        }
        int flag; /* a host that needs calls to make progress gets them */
        MPI_Iprobe(MPI_ANY_SOURCE, 1, w->comm, &flag, MPI_STATUS_IGNORE);
    }
    CHECK_OK(MPI_Win_sync(w->win));
    CHECK_EQ(here[1], 7 * k);
}

/* Rounds around a ring, each begun by what the neighbour on the left has published. */
static void stores_and_calls(struct window *w)
{
    int const right = (w->rank + 1) % w->size;
    volatile int64_t *const here = cells_of(w, w->rank), *const there = cells_of(w, right);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    here[0] = here[1] = 0;
    meet(w);
    for (int64_t k = 1; k <= ROUNDS; ++k) {
        if (w->rank == 0)
            publish(w, there, right, k);
        await(w, here, k);
        if (w->rank != 0)
            publish(w, there, right, k);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
}

/* A counter raised by a load and a store: the exclusive lock alone makes it exact. */
static void under_locks(struct window *w)
{
    volatile int64_t *const counter = &cells_of(w, 0)[2];
    if (w->rank == 0)
        *counter = 0;
    MPI_Barrier(w->comm);
    for (int k = 0; k < ROUNDS; ++k) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        *counter = *counter + 1;
        CHECK_OK(MPI_Win_unlock(0, w->win));
    }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    CHECK_EQ(*counter, ROUNDS * w->size);
    CHECK_OK(MPI_Win_unlock(0, w->win));
    MPI_Barrier(w->comm);
}

/* What is stored before a fence can be loaded after it. */
static void between_fences(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    volatile int64_t *const here = cells_of(w, w->rank), *const there = cells_of(w, right);
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int64_t k = 0; k < ROUNDS; ++k) {
        there[3] = 10 * k + w->rank;
        CHECK_OK(MPI_Win_fence(0, w->win));
        CHECK_EQ(here[3], 10 * k + left);
        CHECK_OK(MPI_Win_fence(0, w->win));
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* Also by a fence that ends no operations; one rank after the other is late. */
static void before_first_fence(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    volatile int64_t *const here = cells_of(w, w->rank), *const there = cells_of(w, right);
    for (int64_t k = 0; k < 20; ++k) {
        MPI_Barrier(w->comm);
        if (w->rank == k % w->size)
            usleep(1000);
        there[5] = 10 * k + w->rank;
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win));
        CHECK_EQ(here[5], 10 * k + left);
    }
}

/* Stores between start and complete; a host may let them through before the target has posted. */
static void in_access_epochs(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    volatile int64_t *const here = cells_of(w, w->rank), *const there = cells_of(w, right);
    MPI_Group all, from, to;
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &left, &from);
    MPI_Group_incl(all, 1, &right, &to);
    for (int64_t k = 0; k < ROUNDS && !host_is_alone(); ++k) {
        here[4] = -1;
        CHECK_OK(MPI_Win_post(from, 0, w->win));
        CHECK_OK(MPI_Win_start(to, 0, w->win));
        there[4] = 10 * k + w->rank;
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK_OK(MPI_Win_wait(w->win));
        CHECK_EQ(here[4], 10 * k + left);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

/* Any window: what is answered for a rank is its memory, where loads and stores reach it, or of no
 * size and nowhere. */
static void asked(struct window *w)
{
    int64_t const mine = 1000 + w->rank;
    memcpy(w->base, &mine, sizeof mine);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    meet(w);
    for (int rank = 0; rank < w->size; ++rank) {
        struct segment const s = query(w->win, rank);
        int64_t seen = -1;
        if (rank == w->rank)
            CHECK(s.base == w->base);
        if (s.size == 0) {
            CHECK(s.base == NULL);
            continue;
        }
        CHECK_EQ(s.size, w->bytes);
        CHECK_EQ(s.unit, w->unit);
        memcpy(&seen, s.base, sizeof seen);
        CHECK_EQ(seen, 1000 + rank);
    }
    struct segment const any = query(w->win, MPI_PROC_NULL), first = query(w->win, 0);
    CHECK(any.base == first.base && any.size == first.size);
    meet(w);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

static bool only_ask;

/* Who asks inside an epoch for the first time may use what is answered at once, as inside those
 * that are opened later: it has the lock, and whoever is late has come. Rank 0 holds the others up.
 */
enum opening { BY_LOCK, BY_LOCK_ALL, BY_START, BY_FENCE, OPENINGS };

static void hold_up(struct window *w, enum opening opening, MPI_Group others)
{
    volatile int64_t *const cell = (volatile int64_t *)(void *)w->base;
    if (opening == BY_LOCK || opening == BY_LOCK_ALL)
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    MPI_Barrier(w->comm);
    int64_t const before = *cell;
    usleep(20000);
    *cell = before + 1;
    if (opening == BY_LOCK || opening == BY_LOCK_ALL) {
        CHECK_OK(MPI_Win_unlock(0, w->win));
    } else if (opening == BY_START) {
        CHECK_OK(MPI_Win_post(others, 0, w->win));
        CHECK_OK(MPI_Win_wait(w->win));
    } else {
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    }
}

static void ask_inside(struct window *w, enum opening opening, MPI_Group first)
{
    MPI_Barrier(w->comm);
    if (opening == BY_LOCK)
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    else if (opening == BY_LOCK_ALL)
        CHECK_OK(MPI_Win_lock_all(0, w->win));
    else if (opening == BY_START)
        CHECK_OK(MPI_Win_start(first, 0, w->win));
    else
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    struct segment const s = query(w->win, 0);
    volatile int64_t *const cell = (volatile int64_t *)(void *)s.base;
    CHECK(cell == NULL || *cell != 0);
    if (opening == BY_LOCK && cell != NULL)
        *cell = *cell + 1;
    if (opening == BY_LOCK)
        CHECK_OK(MPI_Win_unlock(0, w->win));
    else if (opening == BY_LOCK_ALL)
        CHECK_OK(MPI_Win_unlock_all(w->win));
    else if (opening == BY_START)
        CHECK_OK(MPI_Win_complete(w->win));
    else
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    MPI_Barrier(w->comm);
}

static void asked_inside(enum opening opening)
{
    int const zero = 0;
    MPI_Group all, first, others;
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8, 8);
    MPI_Win_get_group(w.win, &all);
    MPI_Group_incl(all, 1, &zero, &first);
    MPI_Group_excl(all, 1, &zero, &others);
    memset(w.base, 0, 8);
    if (w.rank == 0) {
        hold_up(&w, opening, others);
        MPI_Barrier(w.comm);
        int64_t const count = *(volatile int64_t *)(void *)w.base;
        CHECK(count == (opening == BY_LOCK ? w.size : 1) || only_ask);
    } else {
        ask_inside(&w, opening, first);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&first);
    MPI_Group_free(&others);
    window_close(&w);
}

/* A dynamic window has no memory to ask for. */
static void refused(struct window *w)
{
    struct segment s = {NULL, 0, 0};
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    CHECK_ERROR(MPI_Win_shared_query(w->win, w->rank, &s.size, &s.unit, &s.base),
                MPI_ERR_RMA_FLAVOR);
}

static void on_window(struct window *w)
{
    bool const shared = w->flavor == FLAVOR_SHARED;
    if (!shared && host_is_alone())
        return; /* MPI-4.1 allows to ask for the memory of these; the hosts do not */
    if (w->flavor == FLAVOR_DYNAMIC) {
        refused(w);
        return;
    }
    asked(w);
    if (only_ask || w->flavor == FLAVOR_CREATE)
        return; /* this memory may not be shared */
    stores(w);
    stores_and_calls(w);
    under_locks(w);
    between_fences(w);
    if (!host_is_alone())
        before_first_fence(w);
    in_access_epochs(w);
}

/* --- Where the memory lies -------------------------------------------------------------------- */

static MPI_Aint size_equal(int rank, int ranks) { return (void)rank, (void)ranks, 4096; }
static MPI_Aint size_rising(int rank, int ranks) { return (void)ranks, 24 * rank; }
static MPI_Aint size_last(int rank, int ranks) { return rank == ranks - 1 ? 40 : 0; }
static MPI_Aint size_none(int rank, int ranks) { return (void)rank, (void)ranks, 0; }
static MPI_Aint size_large(int rank, int ranks) { return (void)ranks, (rank + 1) * 1000008; }

typedef MPI_Aint size_function(int rank, int ranks);

/* Open MPI alone answers with whole pages where segments are not contiguous. */
static bool size_fits(MPI_Aint actual, MPI_Aint asked)
{
    return actual == asked || (host_is_alone() && asked > 0 && actual >= asked);
}

/* MPI_PROC_NULL asks for the first rank that has any memory. */
static void check_first(MPI_Win win, int ranks, size_function *size)
{
    struct segment const asked = query(win, MPI_PROC_NULL);
    int first = 0;
    while (first < ranks - 1 && size(first, ranks) == 0)
        ++first;
    CHECK(size_fits(asked.size, size(first, ranks)));
    if (asked.size > 0) {
        CHECK(asked.base == query(win, first).base);
        CHECK_EQ(asked.unit, first % 2 == 0 ? 8 : 1);
    }
}

static void check_segments(MPI_Win win, int ranks, bool contiguous, size_function *size)
{
    unsigned char *expected = NULL;
    for (int r = 0; r < ranks; ++r) {
        struct segment const s = query(win, r);
        CHECK(size_fits(s.size, size(r, ranks)));
        if (s.size == 0) {
            CHECK(s.base == NULL || host_is_alone());
            continue;
        }
        CHECK_EQ(s.unit, r % 2 == 0 ? 8 : 1);
        if (contiguous && expected != NULL)
            CHECK(s.base == expected);
        expected = s.base + s.size;
    }
}

/* Each writes the whole of the next one's memory: segments do not overlap, whatever their place. */
static void fill_and_compare(MPI_Win win, MPI_Comm comm, int rank, int ranks)
{
    struct segment const there = query(win, (rank + 1) % ranks), here = query(win, rank);
    int const left = (rank + ranks - 1) % ranks;
    bool same = true;
    CHECK_OK(MPI_Win_fence(0, win));
    if (there.size != 0)
        memset(there.base, 'A' + rank, (size_t)there.size);
    CHECK_OK(MPI_Win_fence(0, win));
    for (MPI_Aint i = 0; i < here.size; ++i)
        same = same && here.base[i] == 'A' + left;
    CHECK(same);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    MPI_Barrier(comm);
}

/* Whether its key asks for memory that is not contiguous: by nobody, all, or some alone, which is
 * as if nobody did. */
enum asked_by { NOBODY, ALL, SOME, ASKED_BY };

static void check_key(MPI_Win win, bool contiguous)
{
    char value[8] = "";
    int found = 0;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, "alloc_shared_noncontig", sizeof value - 1, value, &found));
    CHECK(found && strcmp(value, contiguous ? "false" : "true") == 0);
    MPI_Info_free(&info);
}

static void place(MPI_Comm comm, enum asked_by asked_by, size_function *size)
{
    int rank, ranks;
    MPI_Info info;
    MPI_Win win;
    void *base = NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Info_create(&info);
    bool const contiguous = asked_by == NOBODY || (asked_by == SOME && ranks > 1);
    bool const asks = asked_by == ALL || (asked_by == SOME && rank == 0);
    MPI_Info_set(info, "alloc_shared_noncontig", asks ? "true" : "false");
    CHECK_OK(
        MPI_Win_allocate_shared(size(rank, ranks), rank % 2 == 0 ? 8 : 1, info, comm, &base, &win));
    check_segments(win, ranks, contiguous, size);
    if (!host_is_alone())
        check_key(win, contiguous);
    check_first(win, ranks, size);
    fill_and_compare(win, comm, rank, ranks);
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_free(&win));
}

static void places(MPI_Comm comm)
{
    size_function *const sizes[] = {size_equal, size_rising, size_last, size_none, size_large};
    static const char *const steps[] = {"equal sizes", "rising sizes", "the last alone",
                                        "no memory at all", "large odd sizes"};
    for (int s = 0; s < 5; ++s) {
        check_step(steps[s]);
        for (int by = 0; by < (host_is_alone() ? SOME : ASKED_BY); ++by)
            place(comm, (enum asked_by)by, sizes[s]);
    }
}

/* On a communicator whose members have met for windows of another route than this one, which needs
 * messages as well: a split that is kept is that of the other. */
static void behind_others(void)
{
    MPI_Comm comm;
    MPI_Info info;
    check_step("behind windows of another route");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "sidelight_am_at_target", "true");
    for (int round = 0; round < 3; ++round) {
        MPI_Win win;
        void *base = NULL;
        struct window other = window_open(FLAVOR_DYNAMIC, comm, 8 * CELLS, 8);
        window_close(&other);
        CHECK_OK(MPI_Win_allocate_shared(8 * CELLS, 8, info, comm, &base, &win));
        fill_and_compare(win, comm, check_rank, check_size);
        CHECK_OK(MPI_Win_free(&win));
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

/* With "ask" whatever each process is told it may reach: for runs where that is not all. */
int main(int argc, char **argv)
{
    MPI_Comm reversed;
    check_begin(&argc, &argv);
    only_ask = argc > 1 && strcmp(argv[1], "ask") == 0;
    run_everywhere("shared_windows", on_window, 8 * CELLS, 8);
    if (window_is_on_one_node(MPI_COMM_WORLD))
        behind_others();
    check_step("asked for inside an epoch");
    for (int opening = 0; opening < OPENINGS && !host_is_alone(); ++opening)
        asked_inside((enum opening)opening);
    if (only_ask)
        return check_end();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    places(reversed);
    MPI_Comm_free(&reversed);
    places(MPI_COMM_SELF);
    return check_end();
}
