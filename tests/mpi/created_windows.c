/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows on memory of the program: of every origin, alignment and size, shared with other windows,
 * with a life before and after the window, and while the program allocates, frees and forks.
 */
#include "neighbours.h"
#include "windows.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { BYTES = 40000, ODD = 12345, PAGE = 4096, CYCLES = 60, STORM = 64 };

static unsigned char static_memory[BYTES];

static unsigned char pattern(int rank, MPI_Aint at) { return (unsigned char)(37 * rank + at * 7); }

static void fill(unsigned char *memory, MPI_Aint bytes)
{
    for (MPI_Aint i = 0; i < bytes; ++i)
        memory[i] = pattern(check_rank, i);
}

static int differing(const unsigned char *memory, int rank, MPI_Aint bytes)
{
    int count = 0;
    for (MPI_Aint i = 0; i < bytes; ++i)
        count += memory[i] != pattern(rank, i);
    return count;
}

static MPI_Win create(void *memory, MPI_Aint bytes, int unit)
{
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_create(memory, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    return win;
}

/* --- Any memory ------------------------------------------------------------------------------- */

/* The contents are the same before, in and after a window; what is put there stays. The memory may
 * be odd in address and size. */
static void use(const char *what, unsigned char *memory, MPI_Aint bytes)
{
    static unsigned char seen[BYTES];
    check_step(what);
    fill(memory, bytes);
    MPI_Win win = create(memory, bytes, 1);
    CHECK_EQ(differing(memory, check_rank, bytes), 0);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(seen, (int)bytes, MPI_BYTE, right(), 0, (int)bytes, MPI_BYTE, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(differing(seen, right(), bytes), 0);
    memset(seen, 200 + check_rank, (size_t)bytes);
    CHECK_OK(
        MPI_Put(seen, (int)bytes / 2, MPI_BYTE, right(), bytes / 4, (int)bytes / 2, MPI_BYTE, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_free(&win));
    memset(seen, 200 + left(), (size_t)bytes);
    CHECK(memcmp(memory + bytes / 4, seen, (size_t)bytes / 2) == 0);
    CHECK_EQ(differing(memory, check_rank, bytes / 4), 0);
    CHECK_EQ(memory[bytes - 1], pattern(check_rank, bytes - 1));
    memory[0] = 1; /* still the program's own */
}

static void all_kinds_of_memory(void)
{
    unsigned char on_stack[BYTES];
    unsigned char *const heap = malloc(BYTES);
    int const both = PROT_READ | PROT_WRITE;
    unsigned char *const mapped = mmap(NULL, BYTES, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *const shared = mmap(NULL, BYTES, both, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED && shared != MAP_FAILED);
    use("memory of malloc", heap, BYTES);
    use("memory of malloc, odd", heap + 13, ODD);
    use("static memory", static_memory, BYTES);
    use("static memory, odd", static_memory + 7, ODD);
    use("memory on the stack", on_stack, BYTES);
    use("memory of mmap", mapped, BYTES);
    use("shared memory", shared, BYTES);
    use("a few bytes of a page", heap + 77, 4);
    free(heap);
    munmap(mapped, BYTES);
    munmap(shared, BYTES);
}

/* --- Sizes and units -------------------------------------------------------------------------- */

/* Each rank has another size and unit, one has nothing at all. */
static void unequal(void)
{
    int const units[] = {8, 1, 4, 24};
    bool const none = check_size > 2 && check_rank == 1;
    bool const target_has_none = check_size > 2 && right() == 1;
    int const unit = units[check_rank % 4], target_unit = units[right() % 4];
    int64_t *const memory = none ? NULL : calloc((size_t)(480 + 24 * check_rank), 1);
    int64_t const value = 5 + check_rank;
    check_step("unequal sizes and units");
    MPI_Win win = create(memory, none ? 0 : 480 + 24 * check_rank, unit);
    CHECK_OK(MPI_Win_fence(0, win));
    if (!target_has_none)
        CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, right(), 240 / target_unit, 1, MPI_INT64_T, win));
    else
        CHECK_OK(MPI_Put(&value, 0, MPI_INT64_T, right(), 0, 0, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_free(&win));
    if (!none)
        CHECK_EQ(memory[30], 5 + left());
    free(memory);
}

static void all_empty(void)
{
    check_step("no memory at all");
    MPI_Win win = create(NULL, 0, 1);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_free(&win));
}

/* One window of all addresses, for programs that tell one another addresses. MPICH takes no NULL.
 */
static void all_addresses(void)
{
#ifdef OPEN_MPI
    MPI_Aint const first = 0;
#else
    MPI_Aint const first = 1;
#endif
    int64_t *const memory = malloc(2 * sizeof *memory);
    int64_t const value = 5 + check_rank;
    int64_t seen = 0;
    MPI_Aint address, of_target;
    check_step("all addresses");
    memory[0] = 0;
    memory[1] = 100 + check_rank;
    MPI_Get_address(memory, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, left(), 0, &of_target, 1, MPI_AINT, right(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win win = create((void *)first, INT64_MAX - first, 1);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Put(&value, 8, MPI_BYTE, right(), of_target - first, 8, MPI_BYTE, win));
    CHECK_OK(MPI_Get(&seen, 8, MPI_BYTE, right(), of_target - first + 8, 8, MPI_BYTE, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_EQ(seen, 100 + right());
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_EQ(memory[0], 5 + left());
    free(memory);
}

/* --- Several windows on one memory ------------------------------------------------------------ */

static void add(MPI_Win win, MPI_Aint at)
{
    static int64_t const one = 1;
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, right(), at, 1, MPI_INT64_T, MPI_SUM, win));
}

/* Windows that overlap, each with its own words in use at a time. */
static void overlapping(int64_t *memory)
{
    for (int i = 0; i < 64; ++i)
        memory[i] = 0;
    MPI_Win all = create(memory, 8 * 64, 8), middle = create(memory + 16, 8 * 32, 8);
    CHECK_OK(MPI_Win_lock_all(0, all));
    CHECK_OK(MPI_Win_lock_all(0, middle));
    for (int k = 0; k < 100; ++k) {
        add(all, 20);
        add(middle, 5);
    }
    CHECK_OK(MPI_Win_unlock_all(middle));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&middle)); /* the other goes on */
    add(all, 20);
    add(all, 21);
    CHECK_OK(MPI_Win_unlock_all(all));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&all));
    for (int i = 0; i < 64; ++i)
        CHECK_EQ(memory[i], i == 20 || i == 21 ? 101 : 0);
}

static void window_on_windows(void)
{
    int64_t *const heap = malloc(8 * 64), *allocated = NULL;
    MPI_Win below;
    check_step("overlapping windows");
    overlapping(heap);
    free(heap);
    check_step("windows on memory of a window");
    CHECK_OK(MPI_Win_allocate(8 * 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &below));
    overlapping(allocated);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, below));
    int64_t seen = 0;
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, right(), 20, 1, MPI_INT64_T, below));
    CHECK_OK(MPI_Win_unlock(right(), below));
    CHECK_EQ(seen, 101);
    CHECK_OK(MPI_Win_free(&below));
}

/* --- Lives ------------------------------------------------------------------------------------ */

static void accumulate_once(int64_t *memory, int cells)
{
    MPI_Win win = create(memory, 8 * cells, 8);
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < cells; i += 97)
        add(win, i);
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_free(&win));
}

/* Again and again on the same memory, and on what malloc gives in its place. */
static void again(void)
{
    enum { CELLS = 3000 };
    int64_t *memory = calloc(CELLS, 8);
    check_step("again on the same memory");
    for (int k = 0; k < CYCLES; ++k)
        accumulate_once(memory, CELLS - k);
    for (int i = 0; i < CELLS - CYCLES; ++i)
        CHECK_EQ(memory[i], i % 97 == 0 ? CYCLES : 0);
    check_step("again on memory that has been freed");
    for (int k = 0; k < CYCLES; ++k) {
        free(memory);
        memory = calloc(CELLS, 8);
        accumulate_once(memory, CELLS);
        CHECK_EQ(memory[97], 1);
        CHECK_EQ(memory[98], 0);
    }
    free(memory);
}

/* What the program allocates beside a window is its own: also what shares a page with it. */
static void storm(void)
{
    static unsigned char *blocks[STORM];
    uint64_t seed = 9 + (uint64_t)check_rank;
    int64_t *const memory = calloc(1001, 8);
    check_step("allocations beside a window");
    for (int i = 0; i < STORM; ++i)
        blocks[i] = calloc(100, 1);
    MPI_Win win = create(memory, 8 * 1001, 8);
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int k = 0; k < 3000; ++k) {
        int const i = (int)(check_random(&seed) % STORM);
        size_t const bytes = 1 + check_random(&seed) % (k % 50 == 0 ? 3000000 : 5000);
        CHECK(blocks[i][0] == 0 || blocks[i][0] == (unsigned char)i + 1);
        free(blocks[i]);
        blocks[i] = malloc(bytes);
        memset(blocks[i], i + 1, bytes);
        add(win, k % 1001);
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 1001; ++i)
        CHECK_EQ(memory[i], i < 3000 - 2 * 1001 ? 3 : 2);
    for (int i = 0; i < STORM; ++i)
        free(blocks[i]);
    CHECK_OK(MPI_Win_free(&win));
    free(memory);
}

/* Children that run another program change nothing. */
static void children(void)
{
    int64_t *const memory = calloc(512, 8);
    check_step("children");
    MPI_Win win = create(memory, 8 * 512, 8);
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int k = 0; k < 5; ++k) {
        add(win, 100);
        CHECK_EQ(system("true"), 0);
        memory[200] = k; /* a store of the parent, once the child has gone */
        add(win, 100);
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(memory[100], 10);
    CHECK_EQ(memory[200], 4);
    CHECK_OK(MPI_Win_free(&win));
    free(memory);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    all_kinds_of_memory();
    unequal();
    all_empty();
    all_addresses();
    window_on_windows();
    again();
    storm();
    children();
    return check_end();
}
