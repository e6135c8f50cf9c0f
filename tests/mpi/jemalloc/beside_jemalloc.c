/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows on memory of jemalloc, which gives pages back by MADV_DONTNEED and then takes it for
 * granted that they are zero: so what calloc answers is zero, beside windows and after them.
 */
#include "../check.h"

enum { ROUNDS = 5, PAIRS = 100, PAGE = 4096, BYTES = 4 * PAGE };

static unsigned char *in_window[PAIRS], *beside[PAIRS];

static int all_zero(const unsigned char *memory)
{
    return memory[0] == 0 && memcmp(memory, memory + 1, BYTES - 1) == 0;
}

/* Blocks that were written to go, and others come in their place. */
static int wrong_blocks(unsigned char **blocks)
{
    int wrong = 0;
    for (int i = 0; i < PAIRS; ++i)
        free(blocks[i]);
    for (int i = 0; i < PAIRS; ++i) {
        blocks[i] = calloc(BYTES, 1);
        wrong += !all_zero(blocks[i]);
        memset(blocks[i], 0xEE, BYTES);
    }
    return wrong;
}

/* Windows on every second block. */
static void round_of(MPI_Win win)
{
    for (int i = 0; i < PAIRS; ++i) {
        in_window[i] = aligned_alloc(PAGE, BYTES);
        beside[i] = aligned_alloc(PAGE, BYTES);
        memset(in_window[i], 0xAA, BYTES);
        memset(beside[i], 0xEE, BYTES);
    }
    for (int i = 0; i < PAIRS; ++i)
        CHECK_OK(MPI_Win_attach(win, in_window[i], BYTES));
    CHECK_EQ(wrong_blocks(beside), 0);
    for (int i = 0; i < PAIRS; ++i)
        CHECK_OK(MPI_Win_detach(win, in_window[i]));
    CHECK_EQ(wrong_blocks(in_window), 0);
    CHECK_EQ(wrong_blocks(beside), 0);
    for (int i = 0; i < PAIRS; ++i) {
        free(in_window[i]);
        free(beside[i]);
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    check_begin(&argc, &argv);
    check_step("calloc beside windows");
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < ROUNDS; ++i)
        round_of(win);
    CHECK_OK(MPI_Win_free(&win));
    return check_end();
}
