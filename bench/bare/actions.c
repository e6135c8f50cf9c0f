/* SPDX-License-Identifier: BSD-3-Clause */
#include "actions.h"

#include "calls.h"
#include "processes.h"

#include <string.h>

/* A full barrier as cheap as the machine has it: mfence, which some compilers choose for
 * atomic_thread_fence, takes four times as long as a locked instruction. */
static inline void full_barrier(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lock; orq $0, (%%rsp)" ::: "memory", "cc");
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void keep(struct Process *process, int64_t value)
{
    *(volatile int64_t *)&process->result = value;
}

void store_and_barrier(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        atomic_store_explicit(&process->shared->word, i, memory_order_relaxed);
        full_barrier();
    }
}

void load_and_barrier(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        keep(process, atomic_load_explicit(&process->shared->word, memory_order_relaxed));
        full_barrier();
    }
}

void load(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        keep(process, atomic_load_explicit(&process->shared->word, memory_order_relaxed));
    }
}

void two_empty_calls(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        bare_put(process, 1, process, 1, 0, 1, process, process);
        bare_flush(1, process);
    }
}

void fetch_add(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        keep(process, atomic_fetch_add(&process->shared->word, 1));
    }
}

void compare_exchange(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        int64_t expected = -1;
        atomic_compare_exchange_strong(&process->shared->word, &expected, i);
        keep(process, expected);
    }
}

void fetch_add_store_fetch_add(void *context, long repetitions)
{
    struct Process *process = context;
    struct Shared *shared = process->shared;
    for (long i = 0; i < repetitions; ++i) {
        keep(process, atomic_fetch_add(&shared->lock, 1));
        atomic_store_explicit(&shared->word, i, memory_order_relaxed);
        keep(process, atomic_fetch_add(&shared->lock, -1));
    }
}

void copy_block(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        memcpy(process->shared->block, process->block, BLOCK_SIZE);
        full_barrier();
    }
}

void add_block(void *context, long repetitions)
{
    struct Process *process = context;
    double *to = (double *)(void *)process->shared->block;
    const double *from = (const double *)(const void *)process->block;
    for (long i = 0; i < repetitions; ++i) {
        for (size_t k = 0; k < BLOCK_SIZE / sizeof *to; ++k) {
            to[k] += from[k];
        }
        full_barrier();
    }
}

static inline void await_flag(_Atomic(uint32_t) *flag, uint32_t value)
{
    while (atomic_load_explicit(flag, memory_order_acquire) != value) {
        pause_core();
    }
}

static inline void set_flag(_Atomic(uint32_t) *flag, uint32_t value)
{
    atomic_store_explicit(flag, value, memory_order_release);
}

void flag_trip_first(void *context, long repetitions)
{
    struct Process *process = context;
    struct Flags *flags = process->shared->flags;
    for (long i = 0; i < repetitions; ++i) {
        const uint32_t trip = ++process->trips;
        set_flag(&flags[0].done, trip);
        await_flag(&flags[1].done, trip);
    }
}

void flag_trip_second(void *context, long repetitions)
{
    struct Process *process = context;
    struct Flags *flags = process->shared->flags;
    for (long i = 0; i < repetitions; ++i) {
        const uint32_t trip = ++process->trips;
        await_flag(&flags[0].done, trip);
        set_flag(&flags[1].done, trip);
    }
}

static inline void access_peer(struct Process *process, uint32_t epoch)
{
    struct Flags *flags = process->shared->flags;
    await_flag(&flags[1 - process->rank].posted, epoch);
    atomic_store_explicit(&process->shared->word, epoch, memory_order_relaxed);
    set_flag(&flags[process->rank].done, epoch);
}

static inline void expose_to_peer(struct Process *process, uint32_t epoch)
{
    struct Flags *flags = process->shared->flags;
    set_flag(&flags[process->rank].posted, epoch);
    await_flag(&flags[1 - process->rank].done, epoch);
}

void epoch_flags_first(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        const uint32_t epoch = ++process->trips;
        access_peer(process, epoch);
        expose_to_peer(process, epoch);
    }
}

void epoch_flags_second(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        const uint32_t epoch = ++process->trips;
        expose_to_peer(process, epoch);
        access_peer(process, epoch);
    }
}

void spinning_barrier(void *context, long repetitions)
{
    struct Process *process = context;
    _Atomic(uint64_t) *counter = &process->shared->counter;
    for (long i = 0; i < repetitions; ++i) {
        const uint64_t full = 2 * ++process->passed;
        atomic_fetch_add(counter, 1);
        while (atomic_load_explicit(counter, memory_order_acquire) < full) {
            pause_core();
        }
    }
}

void sleeping_barrier(void *context, long repetitions)
{
    struct Process *process = context;
    for (long i = 0; i < repetitions; ++i) {
        wait_at_barrier(&process->shared->barrier, process->ranks);
    }
}
