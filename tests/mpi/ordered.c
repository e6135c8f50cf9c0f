/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows with mpi_win_order: operations of one origin on one target complete there in the order of
 * issue, whatever they are and however long, with no flush between them.
 */
#include "windows.h"

enum {
    LONGEST = 100 << 10,
    AREA = 256 << 10, /* of each origin, at each target */
    FLAG = AREA - 64, /* in there */
    OPERATIONS = 400,
    FLAGS = 4,
};

static unsigned char data[LONGEST];

static bool is_ordered(MPI_Win win)
{
    MPI_Info info;
    char value[32] = "";
    int found = 0;
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, "mpi_win_order", sizeof value - 1, value, &found));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(found);
    return strcmp(value, "true") == 0;
}

static MPI_Info order_info(const char *value)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_win_order", value));
    return info;
}

static void set_order(MPI_Win win, const char *value)
{
    MPI_Info info = order_info(value);
    CHECK_OK(MPI_Win_set_info(win, info));
    CHECK_OK(MPI_Info_free(&info));
}

static void test_key(void)
{
    check_step("the key");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8, 8);
    CHECK(!is_ordered(w.win));
    set_order(w.win, "true");
    CHECK(is_ordered(w.win));
    set_order(w.win, "false");
    CHECK(!is_ordered(w.win));
    window_close(&w);
}

/* --- Data and a flag -------------------------------------------------------------------------- */

/* Sets the flag to `value` in one of FLAGS ways; it was `value` - 1. */
static void raise_flag(const struct window *w, MPI_Aint at, int way, int64_t value)
{
    static int64_t one = 1, result;
    static int64_t values[2];
    values[0] = value;
    values[1] = value - 1;
    MPI_Win const win = w->win;
    switch (way) {
    case 0:
        CHECK_OK(MPI_Put(values, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win));
        break;
    case 1:
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, MPI_SUM, win));
        break;
    case 2:
        CHECK_OK(MPI_Fetch_and_op(&one, &result, MPI_INT64_T, 1, at, MPI_SUM, win));
        break;
    default:
        CHECK_OK(MPI_Compare_and_swap(&values[0], &values[1], &result, MPI_INT64_T, 1, at, win));
    }
}

/* Rank 1 looks at its memory until the flag is up. */
static void await_flag(const struct window *w, int64_t value)
{
    const volatile int64_t *const flag = (const int64_t *)(w->base + FLAG);
    while (*flag < value) {
        int any = 0;
        MPI_Iprobe(0, 99, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Win_sync(w->win));
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Two puts, the second one half as long, and the flag, with no flush anywhere. */
static void test_flag(const struct window *w, int bytes)
{
    static int64_t value;
    MPI_Aint const at = window_at(w, 1, 0);
    value = 0;
    for (int way = 0; way < FLAGS; ++way) {
        ++value;
        if (w->rank == 0) {
            memset(data, (int)value, (size_t)bytes);
            CHECK_OK(MPI_Put(data, bytes, MPI_BYTE, 1, at, bytes, MPI_BYTE, w->win));
            CHECK_OK(
                MPI_Put(data, bytes / 2, MPI_BYTE, 1, at + bytes, bytes / 2, MPI_BYTE, w->win));
            raise_flag(w, window_at(w, 1, FLAG), way, value);
            CHECK_OK(MPI_Win_flush_local(1, w->win));
            check_hear(1);
        } else if (w->rank == 1) {
            await_flag(w, value);
            bool right = true;
            for (int i = 0; i < bytes + bytes / 2; ++i)
                right = right && w->base[i] == value;
            CHECK(right);
            check_tell(0);
        }
    }
    if (w->rank == 0)
        CHECK_OK(MPI_Win_flush(1, w->win));
    MPI_Barrier(w->comm);
    memset(w->base + FLAG, 0, 8);
    MPI_Win_sync(w->win);
    MPI_Barrier(w->comm);
}

/* --- All kinds on the same bytes -------------------------------------------------------------- */

struct model {
    unsigned char bytes[AREA]; /* what the target's area has when all so far are done */
    unsigned char *sources;    /* LONGEST bytes for each operation */
    unsigned char *results;    /* likewise, what gets bring */
    unsigned char *expected;
    int lengths[OPERATIONS]; /* of the results; 0: none */
};

static unsigned char *slot(unsigned char *of, int k) { return of + (size_t)k * LONGEST; }

/* Mostly few bytes, a multiple of 8. */
static int draw_length(uint64_t *seed)
{
    static const int most[] = {8, 8, 64, 1024, 9000, 20000, LONGEST};
    int const limit = most[check_random(seed) % 7];
    return 8 + (int)(check_random(seed) % (uint64_t)(limit - 7)) / 8 * 8;
}

static void put(const struct window *w, struct model *m, int k, int target, int at, int bytes)
{
    unsigned char *const from = slot(m->sources, k);
    for (int i = 0; i < bytes; ++i)
        from[i] = (unsigned char)(k + i);
    memcpy(m->bytes + at, from, (size_t)bytes);
    CHECK_OK(MPI_Put(from, bytes, MPI_BYTE, target, window_at(w, target, AREA * w->rank + at),
                     bytes, MPI_BYTE, w->win));
}

static void get(const struct window *w, struct model *m, int k, int target, int at, int bytes)
{
    memcpy(slot(m->expected, k), m->bytes + at, (size_t)bytes);
    m->lengths[k] = bytes;
    CHECK_OK(MPI_Get(slot(m->results, k), bytes, MPI_BYTE, target,
                     window_at(w, target, AREA * w->rank + at), bytes, MPI_BYTE, w->win));
}

/* Every other word of the place. */
static void put_spread(const struct window *w, struct model *m, int k, int target, int at,
                       int bytes)
{
    int const words = (bytes + 15) / 16;
    MPI_Datatype spread;
    int64_t *const from = (int64_t *)slot(m->sources, k);
    for (int i = 0; i < words; ++i) {
        from[i] = k + i;
        memcpy(m->bytes + at + 16 * i, &from[i], 8);
    }
    CHECK_OK(MPI_Type_vector(words, 1, 2, MPI_INT64_T, &spread));
    CHECK_OK(MPI_Type_commit(&spread));
    CHECK_OK(MPI_Put(from, words, MPI_INT64_T, target, window_at(w, target, AREA * w->rank + at), 1,
                     spread, w->win));
    CHECK_OK(MPI_Type_free(&spread));
}

static void add(const struct window *w, struct model *m, int k, int target, int at, int bytes,
                bool fetches)
{
    int const words = bytes / 8;
    int64_t *const from = (int64_t *)slot(m->sources, k);
    memcpy(slot(m->expected, k), m->bytes + at, (size_t)bytes);
    for (int i = 0; i < words; ++i) {
        int64_t old;
        from[i] = k;
        memcpy(&old, m->bytes + at + 8 * i, 8);
        old = (int64_t)((uint64_t)old + (uint64_t)k);
        memcpy(m->bytes + at + 8 * i, &old, 8);
    }
    MPI_Aint const there = window_at(w, target, AREA * w->rank + at);
    if (!fetches) {
        CHECK_OK(MPI_Accumulate(from, words, MPI_INT64_T, target, there, words, MPI_INT64_T,
                                MPI_SUM, w->win));
        return;
    }
    m->lengths[k] = bytes;
    CHECK_OK(MPI_Get_accumulate(from, words, MPI_INT64_T, slot(m->results, k), words, MPI_INT64_T,
                                target, there, words, MPI_INT64_T, MPI_SUM, w->win));
}

static void draw_operation(const struct window *w, struct model *m, int k, int target,
                           uint64_t *seed)
{
    int const bytes = draw_length(seed);
    int const at = (int)(check_random(seed) % (uint64_t)(LONGEST + 16 - bytes)) / 8 * 8;
    switch (check_random(seed) % 6) {
    case 0:
    case 1:
        put(w, m, k, target, at, bytes);
        break;
    case 2:
        get(w, m, k, target, at, bytes);
        break;
    case 3:
        put_spread(w, m, k, target, at, bytes);
        break;
    default:
        add(w, m, k, target, at, bytes, check_random(seed) % 2 == 0);
    }
}

/* What they do is as if each were complete before the next. */
static void test_model(const struct window *w, int target, uint64_t seed)
{
    static struct model m;
    static unsigned char found[AREA];
    m.sources = malloc((size_t)OPERATIONS * LONGEST);
    m.results = malloc((size_t)OPERATIONS * LONGEST);
    m.expected = malloc((size_t)OPERATIONS * LONGEST);
    MPI_Aint const area = window_at(w, target, AREA * w->rank);
    CHECK_OK(MPI_Get(m.bytes, AREA, MPI_BYTE, target, area, AREA, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int k = 0; k < OPERATIONS; ++k) {
        m.lengths[k] = 0;
        draw_operation(w, &m, k, target, &seed);
        if (check_random(&seed) % 40 == 0)
            CHECK_OK(MPI_Win_flush_local(target, w->win));
    }
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int k = 0; k < OPERATIONS; ++k)
        CHECK_EQ(memcmp(slot(m.results, k), slot(m.expected, k), (size_t)m.lengths[k]), 0);
    CHECK_OK(MPI_Get(found, AREA, MPI_BYTE, target, area, AREA, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_EQ(memcmp(found, m.bytes, AREA), 0);
    free(m.sources);
    free(m.results);
    free(m.expected);
}

/* The same operations with requests: each is complete by itself. */
static void test_requests(const struct window *w)
{
    int64_t value = 0, seen[8];
    MPI_Request requests[16];
    int const target = (w->rank + 1) % w->size;
    MPI_Aint const at = window_at(w, target, AREA * w->rank);
    int64_t values[8];
    for (int k = 0; k < 8; ++k) {
        values[k] = ++value;
        CHECK_OK(MPI_Rput(&values[k], 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, w->win,
                          &requests[2 * k]));
        CHECK_OK(MPI_Rget(&seen[k], 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, w->win,
                          &requests[2 * k + 1]));
    }
    CHECK_OK(MPI_Waitall(16, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 8; ++k)
        CHECK_EQ(seen[k], k + 1);
}

static void test(enum flavor flavor, uint64_t seed)
{
    static const int lengths[] = {8, 1000, 7936, 8192, 20000, 66000, LONGEST};
    check_step(flavor_names[flavor]);
    MPI_Info info = order_info("true");
    struct window w =
        window_open_with(info, flavor, MPI_COMM_WORLD, (MPI_Aint)AREA * check_size, 1);
    CHECK_OK(MPI_Info_free(&info));
    CHECK(is_ordered(w.win));
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    MPI_Barrier(w.comm);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k)
        test_flag(&w, lengths[k]);
    for (int target = 0; target < w.size; ++target)
        test_model(&w, target, seed + (uint64_t)(w.rank * w.size + target));
    test_requests(&w);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    uint64_t const seed = check_argument(argc, argv, 1, 1) * 1000;
    test_key();
    for (int flavor = 0; flavor < FLAVORS; ++flavor)
        test((enum flavor)flavor, seed);
    return check_end();
}
