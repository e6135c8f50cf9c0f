/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows that come and go, as libraries make them for one exchange each: of changing kinds and
 * sizes, on several communicators, some at the same time, freed in another order than they were
 * made. What is allocated is zero each time, whatever windows before have left behind.
 */
#include "windows.h"

enum { AT_ONCE = 6, ROUNDS = 400, COMMS = 4, MARK = 77 };

struct live {
    struct window w;
    bool is_open;
};

/* The same on all ranks. */
static unsigned next_random(void)
{
    static unsigned state = 4711;
    state = state * 1664525U + 1013904223U;
    return state >> 8;
}

static void check_zero(const unsigned char *memory, MPI_Aint bytes)
{
    int filled = 0;
    for (MPI_Aint i = 0; i < bytes; ++i)
        filled += memory[i] != 0;
    CHECK_EQ(filled, 0);
}

static void open_one(struct live *one, MPI_Comm comm)
{
    enum flavor const flavor = (enum flavor)(next_random() % FLAVORS);
    static int const most[] = {20, 1200, 20, 30000}; /* the largest are not kept for the next */
    int const cells = (int)(next_random() % (unsigned)most[next_random() % 4]);
    MPI_Aint first = 0;
    one->is_open = true;
    one->w = (struct window){.comm = comm, .flavor = flavor, .unit = 1, .bytes = 8 + 8 * cells};
    MPI_Comm_rank(comm, &one->w.rank);
    MPI_Comm_size(comm, &one->w.size);
    window_take_memory(&one->w, MPI_INFO_NULL);
    if (flavor == FLAVOR_ALLOCATE || flavor == FLAVOR_SHARED)
        check_zero(one->w.base, one->w.bytes);
    if (flavor == FLAVOR_DYNAMIC)
        MPI_Get_address(one->w.base, &first);
    MPI_Allgather(&first, 1, MPI_AINT, one->w.origin, 1, MPI_AINT, comm);
}

/* Each puts into the memory of the next one. */
static void use(struct live *one, int64_t value)
{
    struct window *w = &one->w;
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    int64_t const mine = value + w->rank;
    int64_t seen = 0;
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, right, window_at(w, right, 0), 8, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    memcpy(&seen, w->base, sizeof seen);
    CHECK_EQ(seen, value + left);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win));
    CHECK_OK(MPI_Get(&seen, 8, MPI_BYTE, right, window_at(w, right, 0), 8, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_unlock(right, w->win));
    CHECK_EQ(seen, mine);
    MPI_Barrier(w->comm);
    memset(w->base, MARK, (size_t)w->bytes);
}

static void close_one(struct live *one)
{
    window_close(&one->w);
    one->is_open = false;
}

/* What one member asks for cannot be: all hear of it, and the next window is as good as any. */
static void refuse_one(MPI_Comm comm, int round)
{
    int rank = 0, size = 0;
    void *base = NULL;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_ERROR(
        MPI_Win_allocate(rank == round % size ? -1 : 64, 1, MPI_INFO_NULL, comm, &base, &win),
        MPI_ERR_SIZE);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

/* Over the same block again and again, which others may have kept mapped: alone, in two windows at
 * once, and given back and taken again, perhaps at the same place. */
static void bring_again(MPI_Comm comm)
{
    enum { TIMES = 40, CELLS = 64 };
    MPI_Aint const bytes = 8 * CELLS;
    int rank = 0, size = 0;
    int64_t *block = NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int const right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int k = 0; k < TIMES; ++k) {
        int64_t const mine = 100 * k + rank;
        MPI_Win wins[2];
        if (k % 4 == 0)
            CHECK_OK(MPI_Alloc_mem(k % 8 == 0 ? bytes : 4096 * bytes, MPI_INFO_NULL, &block));
        memset(block, MARK, (size_t)bytes);
        int const count = 1 + k % 2;
        for (int n = 0; n < count; ++n)
            CHECK_OK(MPI_Win_create(block, bytes, 8, MPI_INFO_NULL, comm, &wins[n]));
        for (int n = 0; n < count; ++n) {
            CHECK_OK(MPI_Win_fence(0, wins[n]));
            CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, right, k % CELLS, 1, MPI_INT64_T, wins[n]));
            CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, wins[n]));
            CHECK_EQ(block[k % CELLS], 100 * k + left);
            MPI_Barrier(comm);
            block[k % CELLS] = 0;
            MPI_Barrier(comm);
        }
        for (int n = 0; n < count; ++n)
            CHECK_OK(MPI_Win_free(&wins[n]));
        if (k % 4 == 3)
            CHECK_OK(MPI_Free_mem(block));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
    static struct live live[AT_ONCE];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[2]); /* the other way round */
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &comms[3]);
    for (int round = 0; round < ROUNDS; ++round) {
        int const place = (int)(next_random() % AT_ONCE);
        if (live[place].is_open) {
            close_one(&live[place]);
            continue;
        }
        if (round % 50 == 49) { /* what was learnt of it is gone */
            for (int k = 0; k < AT_ONCE; ++k)
                if (live[k].is_open)
                    close_one(&live[k]);
            MPI_Comm_free(&comms[1]);
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
        }
        if (round % 7 == 0)
            refuse_one(comms[next_random() % COMMS], round);
        open_one(&live[place], comms[next_random() % COMMS]);
        use(&live[place], 1000 * round);
    }
    for (int k = 0; k < AT_ONCE; ++k)
        if (live[k].is_open)
            close_one(&live[k]);
    for (int k = 0; k < COMMS; ++k)
        bring_again(comms[k]);
    for (int k = 1; k < COMMS; ++k)
        MPI_Comm_free(&comms[k]);
    return check_end();
}
