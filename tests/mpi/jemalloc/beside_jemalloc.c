/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows on memory of jemalloc, which gives pages back by MADV_DONTNEED and then takes it for
 * granted that they are zero: so what calloc answers is zero, beside windows and after them.
 */
#include "../check.h"

enum { ROUNDS = 30, BLOCKS = 100, PAGE = 4096, MOST = 3 << 20 };

static void *blocks[BLOCKS];

static bool all_zero(const unsigned char *memory, size_t bytes)
{
    return memory[0] == 0 && memcmp(memory, memory + 1, bytes - 1) == 0;
}

static size_t some_bytes(uint64_t *seed)
{
    return 1 + check_random(seed) % (check_random(seed) % 4 ? 20000 : MOST);
}

/* Blocks that were written to go, and others come in their place. */
static int wrong_blocks(uint64_t *seed)
{
    int wrong = 0;
    for (int i = 0; i < BLOCKS; ++i) {
        size_t const bytes = some_bytes(seed);
        free(blocks[i]);
        blocks[i] = calloc(bytes, 1);
        wrong += !all_zero(blocks[i], bytes);
        memset(blocks[i], 0xEE, bytes);
    }
    return wrong;
}

static void round_of(uint64_t *seed, bool aligned)
{
    void *memory[2];
    MPI_Win wins[2];
    size_t const bytes = aligned ? 64 * PAGE : some_bytes(seed);
    for (int i = 0; i < 2; ++i) {
        memory[i] = aligned ? aligned_alloc(PAGE, bytes) : malloc(bytes);
        memset(memory[i], 0xAA, bytes);
        CHECK_OK(
            MPI_Win_create(memory[i], (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]));
    }
    CHECK_EQ(wrong_blocks(seed), 0);
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(MPI_Win_free(&wins[i]));
        free(memory[i]);
    }
    CHECK_EQ(wrong_blocks(seed), 0);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    check_begin(&argc, &argv);
    check_step("calloc beside windows");
    for (int i = 0; i < ROUNDS; ++i)
        round_of(&seed, i % 2 == 0);
    return check_end();
}
