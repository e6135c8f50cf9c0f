/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dynamic windows: what attach and detach accept and refuse, that an origin which knows a region
 * never sees what was there before, and that nothing outside of regions can be touched.
 *
 * dynamic_windows [regions]
 */
#include "neighbours.h"
#include "windows.h"
#include <sys/mman.h>

enum { PAGE = 65536, WORDS = PAGE / 8, RENEWALS = 60 };

static int regions = 3000;

static MPI_Win open_window(void)
{
    MPI_Win win;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    return win;
}

static void *map_at(void *at)
{
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | (at != NULL ? MAP_FIXED : 0);
    void *const block = mmap(at, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK(block != MAP_FAILED);
    return block;
}

static int64_t read_word(MPI_Win win, MPI_Aint at)
{
    int64_t value = -1;
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, right(), at, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    return value;
}

static void write_word(MPI_Win win, MPI_Aint at, int64_t value)
{
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, right(), at, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_flush(right(), win));
}

/* What ranks stored is seen by those who access it afterwards. */
static void meet(MPI_Win win)
{
    CHECK_OK(MPI_Win_sync(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_sync(win));
}

/* --- Attributes ------------------------------------------------------------------------------- */

static void attributes(void)
{
    MPI_Win win = open_window();
    void *base = &base;
    int *flavor = NULL, *unit = NULL, found = 0;
    MPI_Aint *size = NULL;
    check_step("attributes");
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found));
    CHECK(found && base == MPI_BOTTOM);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &found));
    CHECK(found && *size == 0);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &found));
    CHECK(found && *unit == 1);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &found));
    CHECK(found && *flavor == MPI_WIN_FLAVOR_DYNAMIC);
    CHECK_OK(MPI_Win_free(&win));
}

/* --- Attach and detach ------------------------------------------------------------------------ */

/* Neighbours are no overlap; whatever shares a byte is one. */
static void overlaps(void)
{
    MPI_Win win = open_window();
    unsigned char *const block = malloc(PAGE);
    check_step("overlapping regions");
    CHECK_OK(MPI_Win_attach(win, block + 1024, 1024));
    CHECK_OK(MPI_Win_attach(win, block + 2048, 1024));
    CHECK_OK(MPI_Win_attach(win, block, 1024));
    CHECK_ERROR(MPI_Win_attach(win, block + 1024, 1024), MPI_ERR_RMA_ATTACH);
    CHECK_ERROR(MPI_Win_attach(win, block + 3071, 10), MPI_ERR_RMA_ATTACH);
    CHECK_ERROR(MPI_Win_attach(win, block + 1500, 8), MPI_ERR_RMA_ATTACH);
    CHECK_ERROR(MPI_Win_attach(win, block, PAGE), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(win, block + 3072, 1));
    CHECK_OK(MPI_Win_detach(win, block + 2048));
    CHECK_OK(MPI_Win_attach(win, block + 2100, 100));
    CHECK_ERROR(MPI_Win_attach(win, block + 2048, 53), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(win, block + 2048, 52));
    CHECK(MPI_Win_detach(win, block + 5) != MPI_SUCCESS);
    CHECK(MPI_Win_detach(win, block + 4000) != MPI_SUCCESS);
    CHECK_OK(MPI_Win_detach(win, block));
    CHECK(MPI_Win_detach(win, block) != MPI_SUCCESS);
    CHECK_OK(MPI_Win_free(&win)); /* with regions that are still attached */
    free(block);
}

/* Regions without bytes come and go, beside others and inside them. */
static void nothing_attached(void)
{
    MPI_Win win = open_window();
    char block[64] = "";
    check_step("regions of no bytes");
    CHECK_OK(MPI_Win_attach(win, block, 0));
    CHECK_OK(MPI_Win_attach(win, block + 32, 32));
    CHECK_OK(MPI_Win_detach(win, block));
    CHECK_OK(MPI_Win_detach(win, block + 32));
    CHECK(MPI_Win_detach(win, block) != MPI_SUCCESS);
    CHECK_OK(MPI_Win_free(&win));
}

/* Slices one behind the other, some without bytes, in both orders; and empty memory that has no
 * address, more than once. */
static void empty_slices(void)
{
    MPI_Win win = open_window();
    char *const block = malloc(PAGE);
    char mine[16], seen[16] = "";
    MPI_Aint const at = exchange_address(block);
    check_step("slices of which some are empty");
    CHECK_OK(MPI_Win_attach(win, block, 0));
    CHECK_OK(MPI_Win_attach(win, block, 16));
    CHECK_OK(MPI_Win_attach(win, block, 0));
    CHECK_OK(MPI_Win_attach(win, block + 16, 0));
    CHECK_OK(MPI_Win_attach(win, NULL, 0));
    CHECK_OK(MPI_Win_attach(win, NULL, 0));
    CHECK_OK(MPI_Win_detach(win, block));
    memset(mine, 1 + check_rank, sizeof mine);
    CHECK_OK(MPI_Win_lock_all(0, win));
    meet(win);
    CHECK_OK(MPI_Put(mine, 16, MPI_BYTE, right(), at, 16, MPI_BYTE, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK_OK(MPI_Get(seen, 16, MPI_BYTE, right(), at, 16, MPI_BYTE, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK(memcmp(mine, seen, 16) == 0);
    meet(win);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_detach(win, NULL));
    CHECK_OK(MPI_Win_detach(win, NULL));
    CHECK(MPI_Win_detach(win, NULL) != MPI_SUCCESS);
    CHECK_OK(MPI_Win_detach(win, block));
    CHECK_OK(MPI_Win_detach(win, block));
    CHECK(MPI_Win_detach(win, block) != MPI_SUCCESS);
    CHECK_OK(MPI_Win_detach(win, block + 16));
    CHECK_OK(MPI_Win_free(&win));
    free(block);
}

/* The same region in two windows, which know nothing of each other. */
static void two_windows(void)
{
    MPI_Win one = open_window(), other = open_window();
    int64_t word = 100 + check_rank;
    MPI_Aint const at = exchange_address(&word);
    check_step("one region in two windows");
    CHECK_OK(MPI_Win_attach(one, &word, sizeof word));
    CHECK_OK(MPI_Win_attach(other, &word, sizeof word));
    CHECK_OK(MPI_Win_detach(one, &word));
    CHECK_OK(MPI_Win_lock_all(0, other));
    meet(other);
    CHECK_EQ(read_word(other, at), 100 + right());
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_unlock_all(other));
    CHECK_OK(MPI_Win_detach(other, &word));
    CHECK_OK(MPI_Win_free(&one));
    CHECK_OK(MPI_Win_free(&other));
}

/* Thousands of them, of all sizes, taken away in another order. */
static void many_regions(void)
{
    MPI_Win win = open_window();
    int64_t *const block = malloc((size_t)regions * 32);
    MPI_Aint const at = exchange_address(block);
    check_step("many regions");
    for (int i = 0; i < regions; ++i) {
        block[4 * i] = i + check_rank;
        CHECK_OK(MPI_Win_attach(win, block + 4 * i, 8 + i % 3 * 8));
    }
    CHECK_OK(MPI_Win_lock_all(0, win));
    meet(win);
    for (int i = 0; i < regions; i += 7) {
        CHECK_EQ(read_word(win, MPI_Aint_add(at, 32 * i)), i + right());
        write_word(win, MPI_Aint_add(at, 32 * i), 2 * i + check_rank);
    }
    meet(win);
    for (int i = 0; i < regions; ++i)
        CHECK_EQ(block[4 * i], i % 7 == 0 ? 2 * i + left() : i + check_rank);
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < regions; ++i)
        CHECK_OK(MPI_Win_detach(win, block + 4 * (int)((i * 7919ll) % regions)));
    CHECK_OK(MPI_Win_free(&win));
    free(block);
}

/* --- Never stale ------------------------------------------------------------------------------ */

/* The same address with other memory behind it, while an origin knows the address well. */
static void renewed(void)
{
    MPI_Win win = open_window();
    int64_t *block = map_at(NULL);
    MPI_Aint const at = exchange_address(block);
    check_step("attached again at the same address");
    CHECK_OK(MPI_Win_attach(win, block, PAGE));
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int k = 0; k < RENEWALS; ++k) {
        block[k] = 1000 * k + check_rank;
        meet(win);
        CHECK_EQ(read_word(win, MPI_Aint_add(at, 8 * k)), 1000 * k + right());
        write_word(win, MPI_Aint_add(at, 8 * (WORDS - 1)), k);
        meet(win);
        CHECK_EQ(block[WORDS - 1], k);
        CHECK_OK(MPI_Win_detach(win, block));
        if (k % 3 == 1)
            CHECK(munmap(block, PAGE) == 0);
        if (k % 3 != 0)
            CHECK(map_at(block) == block && block[k] == 0);
        CHECK_OK(MPI_Win_attach(win, block, k % 2 != 0 ? PAGE : PAGE - 8 * (k % 5)));
        CHECK_OK(MPI_Win_detach(win, block));
        CHECK_OK(MPI_Win_attach(win, block, PAGE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_detach(win, block));
    CHECK_OK(MPI_Win_free(&win));
    munmap(block, PAGE);
}

/* --- Outside of regions ----------------------------------------------------------------------- */

/* An access that must fail: when it is called or when it is completed. */
static void refused(MPI_Win win, int code)
{
    int const later = MPI_Win_flush(right(), win);
    CHECK_ERROR(code != MPI_SUCCESS ? code : later, MPI_ERR_RMA_RANGE);
}

static void all_refused(MPI_Win win, MPI_Aint at)
{
    int64_t const value = 7;
    int64_t found[2] = {-1, -1};
    refused(win, MPI_Put(&value, 1, MPI_INT64_T, right(), at, 1, MPI_INT64_T, win));
    refused(win, MPI_Get(found, 1, MPI_INT64_T, right(), at, 1, MPI_INT64_T, win));
    refused(win, MPI_Accumulate(&value, 1, MPI_INT64_T, right(), at, 1, MPI_INT64_T, MPI_SUM, win));
    refused(win, MPI_Fetch_and_op(&value, found, MPI_INT64_T, right(), at, MPI_SUM, win));
    refused(win, MPI_Compare_and_swap(&value, &value, found, MPI_INT64_T, right(), at, win));
    CHECK_EQ(found[0], -1);
}

static void outside(void)
{
    MPI_Win win = open_window();
    int64_t *const block = calloc(WORDS, 8);
    MPI_Aint const at = exchange_address(block);
    check_step("accesses outside of regions");
    CHECK_OK(MPI_Win_attach(win, block + 16, 64));
    CHECK_OK(MPI_Win_attach(win, block + 32, 64));
    CHECK_OK(MPI_Win_lock_all(0, win));
    meet(win);
    write_word(win, MPI_Aint_add(at, 8 * 16), 5);
    all_refused(win, at);                            /* before any */
    all_refused(win, MPI_Aint_add(at, 8 * 16 + 60)); /* half outside */
    all_refused(win, MPI_Aint_add(at, 8 * 28));      /* between two */
    all_refused(win, MPI_Aint_add(at, 8 * 40));      /* just behind */
    meet(win);
    CHECK_OK(MPI_Win_detach(win, block + 16));
    meet(win);
    all_refused(win, MPI_Aint_add(at, 8 * 16)); /* known, and detached since */
    meet(win);
    for (int i = 0; i < WORDS; ++i)
        CHECK_EQ(block[i], i == 16 ? 5 : 0);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_detach(win, block + 32));
    CHECK_OK(MPI_Win_free(&win));
    free(block);
}

/* Regions that touch are accessed as if they were one. */
static void touching(void)
{
    enum { PART = PAGE + 8, PARTS = 3, ALL = PART * PARTS };
    MPI_Win win = open_window();
    char *const block = malloc(ALL), mine[ALL], seen[ALL];
    MPI_Aint const at = exchange_address(block);
    check_step("regions that touch");
    for (int i = 0; i < PARTS; ++i)
        CHECK_OK(MPI_Win_attach(win, block + i * PART, PART));
    memset(mine, 1 + check_rank, ALL);
    CHECK_OK(MPI_Win_lock_all(0, win));
    meet(win);
    CHECK_OK(MPI_Put(mine, ALL, MPI_BYTE, right(), at, ALL, MPI_BYTE, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK_OK(
        MPI_Get(seen, ALL - 2, MPI_BYTE, right(), MPI_Aint_add(at, 1), ALL - 2, MPI_BYTE, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK(memcmp(mine, seen, ALL - 2) == 0);
    refused(win, MPI_Put(mine, ALL, MPI_BYTE, right(), MPI_Aint_add(at, 1), ALL, MPI_BYTE, win));
    meet(win);
    CHECK_OK(MPI_Win_unlock_all(win));
    for (int i = 0; i < ALL; i += 100)
        CHECK_EQ(block[i], 1 + left());
    CHECK_OK(MPI_Win_free(&win));
    free(block);
}

enum { PART = 32, FAR = PAGE, NUMBERS = PART / 8 };

/* What is read may be so more than once: here so often that the bytes are as many as from the first
 * to the last. */
static void read_over_and_over(MPI_Win win, int target, const MPI_Aint *at, const int64_t *expected)
{
    enum { TIMES = FAR / PART };
    static char seen[FAR + PART];
    int lengths[TIMES + 1];
    MPI_Aint places[TIMES + 1];
    MPI_Datatype type;
    for (int i = 0; i <= TIMES; ++i) {
        lengths[i] = PART;
        places[i] = at[i == TIMES];
    }
    memset(seen, 0, sizeof seen);
    MPI_Type_create_hindexed(TIMES + 1, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Get(seen, sizeof seen, MPI_BYTE, target, 0, 1, type, win));
    CHECK_OK(MPI_Win_flush(target, win));
    for (int i = 0; i <= TIMES; ++i)
        CHECK(memcmp(seen + (size_t)i * PART, expected + (i == TIMES ? NUMBERS : 0), PART) == 0);
    MPI_Type_free(&type);
}

/* One type for two regions, with memory between them that is not attached: the window's own, and
 * another rank's. What lies between is not touched, and may not be. */
static void apart(void)
{
    int const lengths[] = {PART, PART};
    MPI_Win win = open_window();
    char *const block = calloc(1, FAR + PART);
    MPI_Aint const here = exchange_address(block);
    MPI_Aint own;
    int64_t mine[2 * NUMBERS], seen[2 * NUMBERS];
    check_step("regions that are apart");
    MPI_Get_address(block, &own);
    CHECK_OK(MPI_Win_attach(win, block, PART));
    CHECK_OK(MPI_Win_attach(win, block + FAR, PART));
    CHECK_OK(MPI_Win_lock_all(0, win));
    meet(win);
    for (int turn = 0; turn < 2; ++turn) {
        int const target = turn == 0 ? check_rank : right();
        MPI_Aint const at[] = {turn == 0 ? own : here, (turn == 0 ? own : here) + FAR};
        MPI_Datatype type, sums;
        MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, &type);
        MPI_Type_create_hindexed(2, (int[]){NUMBERS, NUMBERS}, at, MPI_INT64_T, &sums);
        MPI_Type_commit(&type);
        MPI_Type_commit(&sums);
        for (int i = 0; i < 2 * NUMBERS; ++i)
            mine[i] = 100 * (1 + check_rank) + i;
        CHECK_OK(MPI_Put(mine, sizeof mine, MPI_BYTE, target, 0, 1, type, win));
        CHECK_OK(MPI_Win_flush(target, win));
        CHECK_OK(MPI_Accumulate(mine, 2 * NUMBERS, MPI_INT64_T, target, 0, 1, sums, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(target, win));
        CHECK_OK(MPI_Get(seen, sizeof seen, MPI_BYTE, target, 0, 1, type, win));
        CHECK_OK(MPI_Win_flush(target, win));
        for (int i = 0; i < 2 * NUMBERS; ++i)
            CHECK_EQ(seen[i], 2 * mine[i]);
        read_over_and_over(win, target, at, seen);
        MPI_Type_free(&type);
        MPI_Type_free(&sums);
        meet(win);
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    for (int i = PART; i < FAR; ++i)
        CHECK_EQ(block[i], 0);
    CHECK_OK(MPI_Win_free(&win));
    free(block);
}

/* --- Every synchronisation -------------------------------------------------------------------- */

static void add_one(MPI_Win win, MPI_Aint at)
{
    static int64_t const one = 1;
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, right(), at, 1, MPI_INT64_T, MPI_SUM, win));
}

/* Regions come and go between epochs, and inside those of others. */
static void epochs(void)
{
    MPI_Win win = open_window();
    int64_t word = 0;
    int const to = right(), from = left();
    MPI_Aint const at = exchange_address(&word);
    MPI_Group target = check_group(1, &to), origin = check_group(1, &from);
    check_step("epochs");
    for (int k = 0; k < 20; ++k) {
        CHECK_OK(MPI_Win_attach(win, &word, sizeof word));
        CHECK_OK(MPI_Win_fence(0, win));
        add_one(win, at);
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        CHECK_EQ(word, 3 * k + 1);
        CHECK_OK(MPI_Win_detach(win, &word));
        CHECK_OK(MPI_Win_attach(win, &word, sizeof word));
        CHECK_OK(MPI_Win_post(origin, 0, win));
        CHECK_OK(MPI_Win_start(target, 0, win));
        add_one(win, at);
        CHECK_OK(MPI_Win_complete(win));
        CHECK_OK(MPI_Win_wait(win));
        CHECK_EQ(word, 3 * k + 2);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_lock(k % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, win));
        add_one(win, at);
        CHECK_OK(MPI_Win_unlock(to, win));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
        CHECK_EQ(word, 3 * k + 3);
        CHECK_OK(MPI_Win_unlock(check_rank, win));
        CHECK_OK(MPI_Win_detach(win, &word));
    }
    MPI_Group_free(&target);
    MPI_Group_free(&origin);
    CHECK_OK(MPI_Win_free(&win));
}

/* Addresses that are computed as the standard says. */
static void address_arithmetic(void)
{
    MPI_Win win = open_window();
    int64_t words[8] = {0};
    MPI_Aint const at = exchange_address(words), last = MPI_Aint_add(at, 56);
    check_step("addresses");
    CHECK_EQ(MPI_Aint_diff(last, at), 56);
    CHECK_OK(MPI_Win_attach(win, words, sizeof words));
    CHECK_OK(MPI_Win_lock_all(0, win));
    meet(win);
    write_word(win, last, 70 + check_rank);
    write_word(win, MPI_Aint_add(last, -MPI_Aint_diff(last, at)), 60 + check_rank);
    meet(win);
    CHECK_EQ(words[7], 70 + left());
    CHECK_EQ(words[0], 60 + left());
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_detach(win, words));
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    regions = (int)check_argument(argc, argv, 1, 3000);
    attributes();
    overlaps();
    nothing_attached();
    two_windows();
    many_regions();
    renewed();
    outside();
    touching();
    apart();
    empty_slices();
    epochs();
    address_arithmetic();
    return check_end();
}
