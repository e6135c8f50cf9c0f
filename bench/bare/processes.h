/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the bare measurement and the memory that they share. */
#ifndef BENCH_BARE_PROCESSES_H
#define BENCH_BARE_PROCESSES_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CACHE_LINE = 64, PAGE = 4096, BLOCK_SIZE = 1 << 20, MAX_PROCESSES = 64 };

/* Counters that one process writes and the other watches: one cache line, so that both travel
 * together. */
struct Flags {
    alignas(CACHE_LINE) _Atomic(uint32_t) posted;
    _Atomic(uint32_t) done;
};

/* A barrier for any number of processes: the last to arrive starts the next generation. */
struct Barrier {
    alignas(CACHE_LINE) _Atomic(uint32_t) arrived;
    alignas(CACHE_LINE) _Atomic(uint32_t) generation;
};

/* One mapping, made before the processes are. */
struct Shared {
    alignas(CACHE_LINE) _Atomic(int64_t) word;
    alignas(CACHE_LINE) _Atomic(int64_t) lock;
    alignas(CACHE_LINE) _Atomic(uint64_t) counter; /* of the spinning barrier: only ever grows */
    struct Flags flags[2];
    struct Barrier barrier;
    struct Barrier agreement;
    alignas(CACHE_LINE) _Atomic(long) repetitions;
    alignas(PAGE) char block[BLOCK_SIZE];
};

struct Process {
    int rank;
    int ranks;
    struct Shared *shared;
    char *block;     /* BLOCK_SIZE bytes, private */
    uint64_t passed; /* spinning barriers passed */
    uint32_t trips;  /* flag trips made */
    int64_t result;  /* what the actions read */
};

/* Returns in `ranks` processes, the caller among them as rank 0. They die with rank 0. */
bool start_processes(struct Process *process, int ranks);

/* Ranks other than 0 end here; rank 0 waits for them and returns whether all went well. */
bool end_processes(struct Process *process);

/* Team.agree: two processes wait spinning, as an MPI call does, more of them asleep. */
long agree_on_repetitions(void *context, long repetitions);

/* Sleeps until all processes have called it. */
void wait_at_barrier(struct Barrier *barrier, int ranks);

/* Tells the core that the caller spins. */
static inline void pause_core(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

#endif
