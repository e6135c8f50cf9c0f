/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data and then a flag, pair after pair, with nothing between them but mpi_win_order; and a reader
 * that polls its memory. Who sees flag n must see data that are as new.
 *
 * ordered_pairs [PAIRS] [unordered]
 *
 * Every word of the data of pair n is n, and so is the flag. Data and flags take turns in all ways
 * and lengths, so that every pair of roads is taken. `unordered`: the same without the key, on a
 * route where the reader must then find pairs in the wrong order: what shows that it can.
 */
#include "windows.h"

enum {
    LONGEST = 80000,
    WORDS = LONGEST / 8,
    FLAG = LONGEST,
    BYTES = LONGEST + 64,
    SOURCES = 64, /* pairs between two flushes, which free the sources */
    FETCHED = 64,
};

enum data_way { DATA_SPREAD, DATA_ACCUMULATE, DATA_GET_ACCUMULATE, DATA_PUT, DATA_WAYS = 6 };
enum flag_way { FLAG_ADD, FLAG_FETCH, FLAG_PUT, FLAG_WAYS = 4 };

struct pair {
    enum data_way data;
    enum flag_way flag;
    int words;
};

static int64_t sources[SOURCES][WORDS];
static int64_t numbers[SOURCES];

/* The next one, the same for writer and reader. Most are short: their roads are the quickest. */
static struct pair draw_pair(uint64_t *seed, bool ordered)
{
    static const int lengths[] = {1, 2, 8, 126, 1000, 2500, WORDS};
    uint64_t const drawn = check_random(seed) >> 8;
    bool const is_long = !ordered || drawn % 8 == 0;
    struct pair p = {
        .data = (enum data_way)(drawn / 8 % DATA_WAYS),
        .flag = ordered ? (enum flag_way)(drawn / 64 % FLAG_WAYS) : FLAG_PUT,
        .words = is_long ? lengths[drawn / 256 % (sizeof lengths / sizeof *lengths)] : 1,
    };
    if (p.data == DATA_GET_ACCUMULATE && p.words > FETCHED)
        p.words = FETCHED;
    if (p.data == DATA_SPREAD && p.words < 2)
        p.data = DATA_PUT;
    return p;
}

/* Every other word, and then those between. */
static void put_spread(const struct window *w, const int64_t *from, int words)
{
    MPI_Datatype spread;
    MPI_Type_vector(words / 2, 1, 2, MPI_INT64_T, &spread);
    MPI_Type_commit(&spread);
    for (int k = 0; k < 2; ++k)
        CHECK_OK(MPI_Put(from, words / 2, MPI_INT64_T, 1, w->origin[1] + 8 * k, 1, spread, w->win));
    MPI_Type_free(&spread);
}

static void write_data(const struct window *w, struct pair p, int source)
{
    static int64_t results[SOURCES][FETCHED];
    MPI_Aint const at = w->origin[1];
    const int64_t *const from = sources[source];
    switch (p.data) {
    case DATA_SPREAD:
        put_spread(w, from, p.words);
        break;
    case DATA_ACCUMULATE:
        CHECK_OK(MPI_Accumulate(from, p.words, MPI_INT64_T, 1, at, p.words, MPI_INT64_T,
                                MPI_REPLACE, w->win));
        break;
    case DATA_GET_ACCUMULATE:
        CHECK_OK(MPI_Get_accumulate(from, p.words, MPI_INT64_T, results[source], p.words,
                                    MPI_INT64_T, 1, at, p.words, MPI_INT64_T, MPI_REPLACE, w->win));
        break;
    default:
        CHECK_OK(MPI_Put(from, p.words, MPI_INT64_T, 1, at, p.words, MPI_INT64_T, w->win));
    }
}

static void raise_flag(const struct window *w, struct pair p, int source)
{
    static int64_t const one = 1;
    static int64_t before;
    MPI_Aint const at = w->origin[1] + FLAG;
    switch (p.flag) {
    case FLAG_ADD:
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, MPI_SUM, w->win));
        break;
    case FLAG_FETCH:
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 1, at, MPI_SUM, w->win));
        break;
    default:
        CHECK_OK(MPI_Put(&numbers[source], 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, w->win));
    }
}

static void write_pairs(const struct window *w, int64_t pairs, bool ordered)
{
    uint64_t seed = 5;
    for (int64_t n = 1; n <= pairs; ++n) {
        int const source = (int)(n % SOURCES);
        struct pair const p = draw_pair(&seed, ordered);
        if (source == 0)
            CHECK_OK(MPI_Win_flush(1, w->win));
        for (int k = 0; k < p.words; ++k)
            sources[source][k] = n;
        numbers[source] = n;
        write_data(w, p, source);
        raise_flag(w, p, source);
    }
    CHECK_OK(MPI_Win_flush(1, w->win));
    /* Without order the last flag need not be the one that stayed. */
    CHECK_OK(MPI_Put(&pairs, 1, MPI_INT64_T, 1, w->origin[1] + FLAG, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(1, w->win));
}

/* How often a flag was seen ahead of a word of its data. */
static int64_t read_pairs(const struct window *w, int64_t pairs, bool ordered)
{
    int64_t *const data = (int64_t *)w->base;
    int64_t *const flag = (int64_t *)(w->base + FLAG);
    uint64_t seed = 5;
    int64_t wrong = 0, drawn = 0;
    struct pair p = {.words = 1};
    while (drawn < pairs) {
        CHECK_OK(MPI_Win_sync(w->win)); /* lets messages move */
        for (int k = 0; k < 32; ++k) {
            int64_t const seen = __atomic_load_n(flag, __ATOMIC_ACQUIRE);
            for (; drawn < seen; ++drawn)
                p = draw_pair(&seed, ordered);
            int const places[] = {0, p.words - 1, p.words / 2, (int)(seen % p.words)};
            for (int i = 0; i < 4 && seen == drawn; ++i)
                wrong += __atomic_load_n(&data[places[i]], __ATOMIC_ACQUIRE) < seen;
        }
    }
    return wrong;
}

static void test(enum flavor flavor, int64_t pairs, bool ordered)
{
    int64_t wrong = 0;
    MPI_Info info;
    check_step(flavor_names[flavor]);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_order", ordered ? "true" : "false");
    struct window w = window_open_with(info, flavor, MPI_COMM_WORLD, BYTES, 1);
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    MPI_Barrier(w.comm);
    if (w.rank == 0)
        write_pairs(&w, pairs, ordered);
    else if (w.rank == 1)
        wrong = read_pairs(&w, pairs, ordered);
    MPI_Bcast(&wrong, 1, MPI_INT64_T, 1, w.comm);
    if (ordered)
        CHECK_EQ(wrong, 0);
    else
        CHECK(wrong > 0);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int64_t const pairs = (int64_t)check_argument(argc, argv, 1, 5000);
    bool const ordered = argc < 3 || strcmp(argv[2], "unordered") != 0;
    enum flavor const last = ordered ? FLAVORS - 1 : FLAVOR_ALLOCATE;
    for (int flavor = 0; flavor <= (int)last; ++flavor)
        test((enum flavor)flavor, pairs, ordered);
    return check_end();
}
