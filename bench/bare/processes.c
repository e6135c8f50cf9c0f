/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "processes.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool make_memory(struct Process *process)
{
    process->shared = mmap(NULL, sizeof *process->shared, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    process->block = aligned_alloc(PAGE, BLOCK_SIZE);
    return process->shared != MAP_FAILED && process->block != NULL;
}

bool start_processes(struct Process *process, int ranks)
{
    *process = (struct Process){.rank = 0, .ranks = ranks};
    if (!make_memory(process)) {
        return false;
    }
    const pid_t leader = getpid();
    for (int rank = 1; rank < ranks && process->rank == 0; ++rank) {
        const pid_t child = fork();
        if (child < 0) {
            return false;
        }
        process->rank = child == 0 ? rank : 0;
    }
    if (process->rank != 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != leader) {
            _exit(1);
        }
    }
    if (process->rank == 1) { /* the memory of the target, touched by the target */
        memset(process->shared->block, 0, BLOCK_SIZE);
    }
    memset(process->block, 1, BLOCK_SIZE);
    wait_at_barrier(&process->shared->barrier, ranks);
    return true;
}

bool end_processes(struct Process *process)
{
    if (process->rank != 0) {
        _exit(0);
    }
    bool well = true;
    for (int rank = 1; rank < process->ranks; ++rank) {
        int status = 0;
        well = wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && well;
    }
    munmap(process->shared, sizeof *process->shared);
    free(process->block);
    return well;
}

static void futex(_Atomic(uint32_t) *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

void wait_at_barrier(struct Barrier *barrier, int ranks)
{
    const uint32_t generation = atomic_load(&barrier->generation);
    if (atomic_fetch_add(&barrier->arrived, 1) + 1 == (uint32_t)ranks) {
        atomic_store(&barrier->arrived, 0);
        atomic_store(&barrier->generation, generation + 1);
        futex(&barrier->generation, FUTEX_WAKE, INT_MAX);
        return;
    }
    while (atomic_load(&barrier->generation) == generation) {
        futex(&barrier->generation, FUTEX_WAIT, generation);
    }
}

static void spin_at_barrier(struct Barrier *barrier, int ranks)
{
    const uint32_t generation = atomic_load(&barrier->generation);
    if (atomic_fetch_add(&barrier->arrived, 1) + 1 == (uint32_t)ranks) {
        atomic_store(&barrier->arrived, 0);
        atomic_store(&barrier->generation, generation + 1);
        return;
    }
    while (atomic_load(&barrier->generation) == generation) {
        pause_core();
    }
}

long agree_on_repetitions(void *context, long repetitions)
{
    struct Process *process = context;
    struct Shared *shared = process->shared;
    void (*const wait_for_all)(struct Barrier *, int) =
        process->ranks == 2 ? spin_at_barrier : wait_at_barrier;
    if (process->rank == 0) {
        atomic_store(&shared->repetitions, repetitions);
    }
    wait_for_all(&shared->agreement, process->ranks);
    const long agreed = atomic_load(&shared->repetitions);
    wait_for_all(&shared->agreement, process->ranks);
    return agreed;
}
