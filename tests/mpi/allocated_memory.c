/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of MPI_Alloc_mem: of all sizes and alignments, in windows of every kind, where others
 * reach it while its owner computes, in messages, and beside the host's own errors. Memory of
 * windows that MPI has allocated, in other windows.
 *
 * allocated_memory [private]     private: it is the host's, and nobody reaches it like that
 */
#include "neighbours.h"
#include "windows.h"
#include <sys/resource.h>
#include <sys/wait.h>

enum { MANY = 200, ROUNDS = 50 };

static bool is_private;

static void *allocate(MPI_Aint bytes, MPI_Info info)
{
    void *memory = NULL;
    CHECK_OK(MPI_Alloc_mem(bytes, info, &memory));
    CHECK(memory != NULL);
    return memory;
}

/* --- As memory -------------------------------------------------------------------------------- */

static void sizes(void)
{
    unsigned char *blocks[MANY];
    MPI_Aint bytes[MANY];
    uint64_t seed = 3 + (uint64_t)check_rank;
    check_step("blocks of all sizes");
    for (int i = 0; i < MANY; ++i) {
        bytes[i] = 1 + (MPI_Aint)(check_random(&seed) % (1u << (i % 23)));
        blocks[i] = allocate(bytes[i], MPI_INFO_NULL);
        memset(blocks[i], i, (size_t)bytes[i]);
    }
    for (int i = 0; i < MANY; ++i) {
        CHECK_EQ(blocks[i][0], (unsigned char)i);
        CHECK_EQ(blocks[i][bytes[i] - 1], (unsigned char)i);
        CHECK_EQ((uintptr_t)blocks[i] % 16, 0);
        CHECK_OK(MPI_Free_mem(blocks[i]));
    }
    void *nothing = &seed;
    CHECK_OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &nothing));
    CHECK_OK(MPI_Free_mem(nothing));
}

static void info_keys(void)
{
    MPI_Info info;
    check_step("info keys");
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    void *const aligned = allocate(100, info);
    if (!is_private)
        CHECK_EQ((uintptr_t)aligned % 4096, 0);
    CHECK_OK(MPI_Free_mem(aligned));
    CHECK_OK(MPI_Info_set(info, "what_nobody_knows", "1"));
    CHECK_OK(MPI_Free_mem(allocate(100, info)));
    CHECK_OK(MPI_Info_free(&info));
}

static void errors(void)
{
    void *memory = &memory;
    check_step("errors");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* What nobody can give is for the host to refuse; MPICH says that all is well, and gives none.
     */
    if (strncmp(CHECK_HOST, "mpich", 5) != 0)
        CHECK_ERROR(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
    int const code = MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory);
    CHECK(code != MPI_SUCCESS);
    if (!is_private) {
        unsigned char *const block = allocate(1000, MPI_INFO_NULL);
        CHECK_ERROR(MPI_Free_mem(block + 64), MPI_ERR_BASE);
        CHECK_OK(MPI_Free_mem(block));
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void messages(MPI_Aint bytes)
{
    check_step("messages");
    unsigned char *const out = allocate(bytes, MPI_INFO_NULL);
    unsigned char *const in = allocate(bytes, MPI_INFO_NULL);
    memset(out, 1 + check_rank, (size_t)bytes);
    CHECK_OK(MPI_Sendrecv(out, (int)bytes, MPI_BYTE, right(), 1, in, (int)bytes, MPI_BYTE, left(),
                          1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in[0], 1 + left());
    CHECK_EQ(in[bytes - 1], 1 + left());
    CHECK_OK(MPI_Free_mem(in));
    CHECK_OK(MPI_Free_mem(out));
}

/* --- In windows ------------------------------------------------------------------------------- */

/* Rank 0 adds to a word of rank 1, who looks at its memory and calls nothing until all is there. */
static void reach(MPI_Win win, volatile int64_t *word, MPI_Aint at, bool is_mapped)
{
    int64_t const one = 1;
    int64_t before = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        for (int64_t k = 0; k < ROUNDS; ++k) {
            CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 1, at, MPI_SUM, win));
            CHECK_OK(MPI_Win_flush(1, win));
            CHECK_EQ(before, k);
        }
        CHECK_OK(MPI_Win_unlock(1, win));
    } else if (check_rank == 1) {
        while (is_mapped && *word < ROUNDS)
            continue;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1)
        CHECK_EQ(*word, ROUNDS);
    *word = 0;
}

static void create_on(unsigned char *block, MPI_Aint bytes, bool is_mapped)
{
    int64_t *const words = (int64_t *)(block + 64); /* a part of it, also */
    memset(block, 0, (size_t)bytes);
    for (int part = 0; part < 2; ++part) {
        MPI_Win win;
        CHECK_OK(MPI_Win_create(part ? (void *)words : block, bytes - 64 * part, 1, MPI_INFO_NULL,
                                MPI_COMM_WORLD, &win));
        reach(win, words + 2, part ? 16 : 80, is_mapped);
        CHECK_OK(MPI_Win_free(&win));
    }
}

static void attach(unsigned char *block, MPI_Aint bytes, bool is_mapped)
{
    MPI_Win win;
    int64_t *const word = (int64_t *)(block + 128);
    memset(block, 0, (size_t)bytes);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_attach(win, block, bytes));
    MPI_Aint address[WINDOW_MOST_RANKS], mine;
    MPI_Get_address(word, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, address, 1, MPI_AINT, MPI_COMM_WORLD);
    reach(win, word, address[1], is_mapped);
    CHECK_OK(MPI_Win_detach(win, block));
    CHECK_OK(MPI_Win_free(&win));
}

static void in_windows(MPI_Aint bytes)
{
    unsigned char *const block = allocate(bytes, MPI_INFO_NULL);
    check_step("a created window");
    create_on(block, bytes, !is_private);
    check_step("a dynamic window");
    attach(block, bytes, !is_private);
    CHECK_OK(MPI_Free_mem(block));
}

/* Shared in any case. */
static void in_other_windows(MPI_Aint bytes)
{
    for (int shared = 0; shared < 2; ++shared) {
        unsigned char *base = NULL;
        MPI_Win win;
        CHECK_OK((shared ? MPI_Win_allocate_shared
                         : MPI_Win_allocate)(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        check_step("a created window on another's memory");
        create_on(base, bytes, true);
        check_step("a dynamic window on another's memory");
        attach(base, bytes, true);
        CHECK_OK(MPI_Win_free(&win));
    }
}

/* Wrong, but nobody else may crash for it: the memory goes before the window does. */
/* However many the process may have: select() knows the first 1024 alone. */
static void leave_low_descriptors(void)
{
    enum { WINDOWS = 300, MOST = 600 }; /* 256, and what the host and the network have open */
    MPI_Win windows[WINDOWS];
    void *base;
    struct rlimit limit, before;
    check_step("many windows");
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    limit = before;
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int k = 0; k < WINDOWS; ++k)
        CHECK_OK(MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &windows[k]));
    int const next = dup(STDERR_FILENO);
    CHECK(next >= 0 && next < MOST);
    close(next);
    for (int k = 0; k < WINDOWS; ++k)
        CHECK_OK(MPI_Win_free(&windows[k]));
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

static void freed_too_early(void)
{
    MPI_Win win;
    check_step("memory that is freed too early");
    MPI_Aint const bytes = 40 << 20;
    int64_t *const block = allocate(bytes, MPI_INFO_NULL);
    int64_t seen = 0;
    block[0] = 7;
    CHECK_OK(MPI_Win_create(block, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, right(), 0, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK_EQ(seen, 7);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Free_mem(block));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, right(), 0, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
}

/* A child has memory of its own. */
static void forked(void)
{
    MPI_Win win;
    check_step("a child");
    int64_t *const block = allocate(1 << 20, MPI_INFO_NULL);
    block[0] = 5;
    CHECK_OK(MPI_Win_create(block, 1 << 20, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    pid_t const child = fork();
    if (child == 0) {
        bool const good = block[0] == 5;
        block[0] = 6;
        block[1000] = 6;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(block[0], 5);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Free_mem(block));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    is_private = argc > 1;
    sizes();
    info_keys();
    errors();
    for (MPI_Aint bytes = 512; bytes < 2 << 20; bytes *= 30) {
        messages(bytes);
        in_windows(bytes);
        in_other_windows(bytes);
    }
    if (!is_private) {
        leave_low_descriptors();
        freed_too_early();
    }
    forked();
    return check_end();
}
