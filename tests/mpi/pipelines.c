/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local completion: what a put has read may be overwritten after flush_local and after the wait for
 * its request, short or long, whatever its layout. Pipelines of requests, as get-compute-put of P3.
 * Overlapping accesses, which are undefined and no errors.
 */
#include "neighbours.h"
#include "windows.h"

enum { BLOCKS = 25, BUFFERS = 4, MOST = 1 << 18 };

/* Of 8 bytes each: within one message, in several, and such that go without a copy. */
static int const lengths[] = {1, 100, 1000, 3000, MOST};
enum { LENGTHS = sizeof lengths / sizeof *lengths, LARGE = 5000 };

static int64_t *window_memory;

static MPI_Win open_window(MPI_Aint words, int dynamic, MPI_Aint *remote)
{
    MPI_Win win;
    *remote = 0;
    if (dynamic) {
        CHECK_OK(MPI_Alloc_mem(8 * words, MPI_INFO_NULL, &window_memory));
        CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        CHECK_OK(MPI_Win_attach(win, window_memory, 8 * words));
        *remote = exchange_address(window_memory);
    } else {
        CHECK_OK(MPI_Win_allocate(8 * words, dynamic ? 1 : 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                                  &window_memory, &win));
    }
    memset(window_memory, 0, (size_t)(8 * words));
    CHECK_OK(MPI_Win_lock_all(0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void close_window(MPI_Win win, int dynamic)
{
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (dynamic)
        CHECK_OK(MPI_Win_detach(win, window_memory));
    CHECK_OK(MPI_Win_free(&win));
    if (dynamic)
        CHECK_OK(MPI_Free_mem(window_memory));
}

static MPI_Aint place(MPI_Aint remote, MPI_Aint word)
{
    return remote != 0 ? MPI_Aint_add(remote, 8 * word) : word;
}

static void fill(int64_t *words, int length, int64_t value)
{
    for (int i = 0; i < length; ++i)
        words[i] = value + i;
}

/* --- Local completion ------------------------------------------------------------------------- */

enum How { FLUSH_LOCAL, FLUSH_LOCAL_ALL, REQUEST, HOWS };

/* Completes what was put at the origin, and nothing more. */
static void put_locally(MPI_Win win, int64_t const *from, int length, MPI_Datatype type,
                        MPI_Aint at, enum How how)
{
    int const count = type == MPI_INT64_T ? length : 1;
    MPI_Request request;
    if (how == REQUEST) {
        CHECK_OK(MPI_Rput(from, count, type, right(), at, length, MPI_INT64_T, win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        return;
    }
    CHECK_OK(MPI_Put(from, count, type, right(), at, length, MPI_INT64_T, win));
    if (how == FLUSH_LOCAL)
        CHECK_OK(MPI_Win_flush_local(right(), win));
    else
        CHECK_OK(MPI_Win_flush_local_all(win));
}

/* The words that a put of every second one reads from `from`. */
static void fill_spread(int64_t *from, int length, int64_t value)
{
    for (int i = 0; i < length; ++i)
        from[2 * i] = value + i;
}

/* Of each length, contiguous and spread. */
static int parts(int k) { return lengths[k] == MOST ? 1 : 2; }

static void overwritten(int dynamic)
{
    MPI_Aint remote = 0, at = 0, all = 0;
    int64_t *const from = malloc(16 * (size_t)MOST);
    for (int k = 0; k < LENGTHS; ++k)
        all += (MPI_Aint)HOWS * parts(k) * lengths[k];
    MPI_Win win = open_window(all, dynamic, &remote);
    check_step(dynamic ? "buffers, dynamic window" : "buffers");
    for (int k = 0; k < LENGTHS; ++k) {
        MPI_Datatype spread;
        MPI_Type_vector(lengths[k], 1, 2, MPI_INT64_T, &spread);
        MPI_Type_commit(&spread);
        for (int how = 0; how < HOWS; ++how) {
            fill(from, lengths[k], at + check_rank);
            put_locally(win, from, lengths[k], MPI_INT64_T, place(remote, at), (enum How)how);
            memset(from, 0xEE, 16 * (size_t)lengths[k]);
            at += lengths[k];
            if (lengths[k] == MOST)
                continue; /* as many pieces */
            fill_spread(from, lengths[k], at + check_rank);
            put_locally(win, from, lengths[k], spread, place(remote, at), (enum How)how);
            memset(from, 0xEE, 16 * (size_t)lengths[k]);
            at += lengths[k];
        }
        MPI_Type_free(&spread);
    }
    CHECK_OK(MPI_Win_flush_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_sync(win));
    int64_t wrong = 0, word = 0;
    for (int k = 0; k < LENGTHS; ++k)
        for (int part = 0; part < parts(k) * HOWS; ++part)
            for (int i = 0; i < lengths[k]; ++i, ++word)
                wrong += window_memory[word] != word + left();
    CHECK_EQ(wrong, 0);
    close_window(win, dynamic);
    free(from);
}

/* More than any number of messages that may be unanswered, and nothing but local flushes. */
static void many_small(void)
{
    enum { PUTS = 5000 };
    MPI_Aint remote = 0;
    MPI_Win win = open_window(PUTS, 0, &remote);
    check_step("many small puts");
    for (int i = 0; i < PUTS; ++i) {
        int64_t word = i + 7 * check_rank;
        CHECK_OK(MPI_Put(&word, 1, MPI_INT64_T, right(), i, 1, MPI_INT64_T, win));
        CHECK_OK(MPI_Win_flush_local(right(), win));
        word = -1;
    }
    CHECK_OK(MPI_Win_flush(right(), win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_sync(win));
    for (int i = 0; i < PUTS; ++i)
        CHECK_EQ(window_memory[i], i + 7 * left());
    close_window(win, 0);
}

/* --- Pipelines -------------------------------------------------------------------------------- */

static int64_t *buffer_of(int64_t *buffers, int block, int length)
{
    return buffers + (size_t)(block % BUFFERS) * (size_t)length;
}

/* P3, figure 2: blocks are fetched, computed on and put back, all at the same time. */
static void get_compute_put(int length, int dynamic)
{
    MPI_Aint remote = 0;
    MPI_Win win = open_window((MPI_Aint)BLOCKS * length, dynamic, &remote);
    MPI_Request gets[BUFFERS], puts[BUFFERS];
    int64_t *const buffers = malloc(8 * (size_t)BUFFERS * (size_t)length);
    check_step("get, compute, put");
    fill(window_memory, BLOCKS * length, 1000 * check_rank);
    CHECK_OK(MPI_Win_sync(win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < BUFFERS; ++i)
        gets[i] = puts[i] = MPI_REQUEST_NULL;
    for (int block = -1; block < BLOCKS; ++block) {
        int const next = block + 1;
        int64_t *const mine = buffer_of(buffers, block < 0 ? 0 : block, length);
        if (next < BLOCKS) {
            CHECK_OK(MPI_Wait(&puts[next % BUFFERS], MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Rget(buffer_of(buffers, next, length), length, MPI_INT64_T, right(),
                              place(remote, (MPI_Aint)next * length), length, MPI_INT64_T, win,
                              &gets[next % BUFFERS]));
        }
        if (block < 0)
            continue;
        CHECK_OK(MPI_Wait(&gets[block % BUFFERS], MPI_STATUS_IGNORE));
        for (int i = 0; i < length; ++i)
            mine[i] = 2 * mine[i] + 1;
        CHECK_OK(MPI_Rput(mine, length, MPI_INT64_T, right(),
                          place(remote, (MPI_Aint)block * length), length, MPI_INT64_T, win,
                          &puts[block % BUFFERS]));
    }
    CHECK_OK(MPI_Waitall(BUFFERS, puts, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_flush_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_sync(win));
    int64_t wrong = 0;
    for (int64_t i = 0; i < BLOCKS * length; ++i)
        wrong += window_memory[i] != 2 * (1000 * check_rank + i) + 1;
    CHECK_EQ(wrong, 0);
    close_window(win, dynamic);
    free(buffers);
}

/* --- Overlapping accesses --------------------------------------------------------------------- */

/* All ranks put to and get from the same bytes at once. What is there is one of the values, word by
 * word; no call fails. */
static void overlapping(int length)
{
    MPI_Aint remote = 0;
    MPI_Win win = open_window(2 * length, 0, &remote);
    int64_t *const mine = malloc(8 * (size_t)length), *const seen = malloc(8 * (size_t)length);
    check_step("overlapping accesses");
    for (int i = 0; i < length; ++i)
        mine[i] = 1 + check_rank;
    for (int round = 0; round < 20; ++round) {
        int const at = round % 3 * length / 4;
        CHECK_OK(MPI_Put(mine, length, MPI_INT64_T, 0, at, length, MPI_INT64_T, win));
        CHECK_OK(MPI_Put(mine, length / 2, MPI_INT64_T, 0, at, length / 2, MPI_INT64_T, win));
        CHECK_OK(MPI_Get(seen, length, MPI_INT64_T, 0, length / 2, length, MPI_INT64_T, win));
        CHECK_OK(
            MPI_Accumulate(mine, 1, MPI_INT64_T, 0, 2 * length - 1, 1, MPI_INT64_T, MPI_SUM, win));
        if (round % 4 == 0)
            CHECK_OK(MPI_Win_flush(0, win));
    }
    CHECK_OK(MPI_Win_flush(0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_sync(win));
    for (int i = 0; check_rank == 0 && i < length; ++i)
        CHECK(window_memory[i] >= 1 && window_memory[i] <= check_size);
    close_window(win, 0);
    free(mine);
    free(seen);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int dynamic = 0; dynamic < 2; ++dynamic) {
        overwritten(dynamic);
        get_compute_put(8, dynamic);
        get_compute_put(LARGE, dynamic);
    }
    many_small();
    overlapping(16);
    overlapping(LARGE);
    return check_end();
}
