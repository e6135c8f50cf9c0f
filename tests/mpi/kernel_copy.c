/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private memory that the kernel copies to and from: rank 0 puts and gets, and rank 1 calls no MPI
 * until it sees in its memory that all is over. With SIDELIGHT_SHARE_MEMORY=never.
 */
#include "kernel_copies.h"
#include "windows.h"

enum { BYTES = 1 << 20, ROUNDS = 20, PAGE = 4096 };

static volatile int64_t *last_word(void *memory)
{
    return (volatile int64_t *)((char *)memory + BYTES) - 1;
}

/* Without a call of MPI: rank 1 looks until the last word is that high. */
static void await_word(void *memory, int64_t value)
{
    while (*last_word(memory) < value) {}
}

static void put_and_get(struct window *w, char *data, int round)
{
    static char back[BYTES];
    memset(data, round, BYTES);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win));
    CHECK_OK(
        MPI_Put(data, BYTES - 8, MPI_BYTE, 1, window_at(w, 1, 0), BYTES - 8, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_flush(1, w->win));
    CHECK_OK(
        MPI_Get(back, BYTES - 8, MPI_BYTE, 1, window_at(w, 1, 0), BYTES - 8, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_flush(1, w->win));
    CHECK_EQ(memcmp(back, data, BYTES - 8), 0);
    int64_t const done = round;
    CHECK_OK(MPI_Put(&done, 1, MPI_INT64_T, 1, window_at(w, 1, BYTES - 8), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_unlock(1, w->win));
}

static void test(enum flavor flavor)
{
    check_step(flavor_names[flavor]);
    struct window w = window_open(flavor, MPI_COMM_WORLD, BYTES, 1);
    static char data[BYTES];
    *last_word(w.base) = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= ROUNDS; ++round) {
        if (check_rank == 0)
            put_and_get(&w, data, round);
        else
            await_word(w.base, round);
    }
    for (int i = 0; check_rank == 1 && i < BYTES - 8; ++i)
        CHECK_EQ(((char *)w.base)[i], ROUNDS);
    window_close(&w);
}

/* Rank 0 puts every word of the memory, each by itself, while rank 1 attaches the same memory again
 * and again to a window that wants pages replaced: these must not be, under the puts. */
static void test_with_a_window_that_shares(void)
{
    enum { WORDS = BYTES / 8, FEWER_ROUNDS = ROUNDS / 4 };
    check_step("memory of another window that shares");
    struct window w = window_open(FLAVOR_CREATE, MPI_COMM_WORLD, BYTES, 8);
    void *const first_page = (void *)(((uintptr_t)w.base + PAGE) & ~((uintptr_t)PAGE - 1));
    MPI_Info info;
    MPI_Win sharing;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "sidelight_share_memory", "inplace"));
    CHECK_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &sharing));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    for (int64_t round = 1; round <= FEWER_ROUNDS; ++round) {
        for (int i = 0; check_rank == 0 && i < WORDS; ++i) {
            CHECK_OK(MPI_Put(&round, 1, MPI_INT64_T, 1, i, 1, MPI_INT64_T, w.win));
            CHECK_OK(MPI_Win_flush(1, w.win));
        }
        while (check_rank == 1 && *last_word(w.base) < round) {
            CHECK_OK(MPI_Win_attach(sharing, first_page, BYTES / 2));
            CHECK_OK(MPI_Win_detach(sharing, first_page));
        }
        for (int i = 0; check_rank == 1 && i < WORDS; ++i)
            CHECK_EQ(((volatile int64_t *)w.base)[i], round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_OK(MPI_Win_unlock_all(w.win));
    CHECK_OK(MPI_Win_free(&sharing));
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    struct window w = window_open(FLAVOR_CREATE, MPI_COMM_WORLD, 8, 1); /* asks the kernel */
    bool const may = kernel_copies();
    window_close(&w);
    if (!may)
        return check_skip("the kernel does not let processes copy here");
    test(FLAVOR_CREATE);
    test(FLAVOR_DYNAMIC);
    test_with_a_window_that_shares();
    return check_end();
}
