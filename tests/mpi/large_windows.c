/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large windows on memory of the program, which begins and ends with a page: there is never much of
 * it twice, and a child of fork has it at once, and as its own.
 */
#include "neighbours.h"
#include <sys/wait.h>

enum { PAGE = 4096, BYTES = 256 << 20, MORE_KILOBYTES = 112 << 10 };

static long kilobytes(const char *name)
{
    char line[256];
    long found = 0;
    FILE *const status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0)
            found = atol(line + strlen(name) + 1);
    }
    if (status != NULL)
        fclose(status);
    return found;
}

static void put_and_check(MPI_Win win, unsigned char *memory)
{
    unsigned char const mark = (unsigned char)(50 + check_rank);
    CHECK_OK(MPI_Win_fence(0, win));
    for (MPI_Aint at = 0; at < BYTES; at += BYTES / 8)
        CHECK_OK(MPI_Put(&mark, 1, MPI_BYTE, right(), at + 17, 1, MPI_BYTE, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (long at = 0; at < BYTES; at += BYTES / 8) {
        CHECK_EQ(memory[at + 17], 50 + left());
        CHECK_EQ(memory[at + 18], 1);
        memory[at + 17] = 1;
    }
}

static bool all_ones(const unsigned char *memory)
{
    return memory[0] == 1 && memcmp(memory, memory + 1, BYTES - 1) == 0;
}

/* The child reads and writes all of it. */
static void child_of_fork(unsigned char *memory)
{
    pid_t const child = fork(); /* it waits for nobody */
    if (child == 0) {
        bool const good = all_ones(memory);
        memset(memory, 2, BYTES);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK(all_ones(memory));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    void *memory = NULL;
    check_begin(&argc, &argv);
    CHECK_EQ(posix_memalign(&memory, PAGE, BYTES), 0);
    memset(memory, 1, BYTES);
    long const before = kilobytes("VmRSS");
    check_step("a large window");
    CHECK_OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    put_and_check(win, memory);
    check_step("a child");
    child_of_fork(memory);
    put_and_check(win, memory);
    CHECK_OK(MPI_Win_free(&win));
    CHECK(all_ones(memory));
    CHECK(kilobytes("VmHWM") < before + MORE_KILOBYTES);
    free(memory);
    return check_end();
}
