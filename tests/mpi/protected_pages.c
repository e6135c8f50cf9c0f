/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that protects the pages of its window, to see which are written, as checkpoints do. Its
 * handler of SIGSEGV makes them writable, also where a thread of the library's writes them while
 * the program computes. */
#include "check.h"
#include "signals.h"

#include <sys/mman.h>

enum { ORIGIN, TARGET, ROUNDS = 10 };

static char *page;
static size_t page_bytes;
static volatile sig_atomic_t faults;

static void make_writable(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    const char *place = info->si_addr;
    if (place < page || place >= page + page_bytes ||
        mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0)
        _exit(1);
    ++faults;
}

static void protect(void)
{
    const struct sigaction action = {.sa_sigaction = make_writable, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(mprotect(page, page_bytes, PROT_READ) == 0);
}

static void accumulate(MPI_Win win)
{
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(TARGET, win);
}

int main(int argc, char **argv)
{
    struct signals signals;
    MPI_Win win;
    check_begin(&argc, &argv);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(page, 0, page_bytes);
    MPI_Win_create(page, (MPI_Aint)page_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    signals = make_signals();
    for (int round = 0; round < ROUNDS; ++round) {
        if (check_rank == TARGET)
            protect();
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == ORIGIN) {
            accumulate(win);
            signal_to(&signals, TARGET, round);
        } else {
            compute_until(&signals, round);
            CHECK_EQ(*(volatile int *)page, round + 1);
            CHECK_EQ(faults, round + 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free_signals(&signals);
    MPI_Win_free(&win);
    munmap(page, page_bytes);
    return check_end();
}
