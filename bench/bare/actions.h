/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured on the bare machine. Each is an Action on a struct Process; the pairs run in
 * both processes at once. */
#ifndef BENCH_BARE_ACTIONS_H
#define BENCH_BARE_ACTIONS_H

/* put, flush: a store and one locked instruction. */
void store_and_barrier(void *context, long repetitions);

/* get, flush: a load and one locked instruction. */
void load_and_barrier(void *context, long repetitions);

/* The load alone. */
void load(void *context, long repetitions);

/* Two calls of functions in a shared library that do nothing, with the arguments of a put and of a
 * flush: less than that no library can take for the two. */
void two_empty_calls(void *context, long repetitions);

/* fetch_and_op or accumulate, flush: an atomic fetch-add, which is its own barrier. */
void fetch_add(void *context, long repetitions);

/* compare_and_swap, flush. */
void compare_exchange(void *context, long repetitions);

/* lock, put, unlock: fetch-add, store, fetch-add. */
void fetch_add_store_fetch_add(void *context, long repetitions);

/* put of 1 MB, flush: memcpy from private to shared memory. */
void copy_block(void *context, long repetitions);

/* accumulate of 1 MB, flush: doubles added one by one, by nobody else meanwhile. */
void add_block(void *context, long repetitions);

/* A flag there and another one back. */
void flag_trip_first(void *context, long repetitions);
void flag_trip_second(void *context, long repetitions);

/* Two epochs, one each way: the first process waits for the other's post, stores, says done, posts,
 * and waits for the other's done; the second does the same the other way round. These are one flag
 * trip there and one back, since a post travels with the done before it. */
void epoch_flags_first(void *context, long repetitions);
void epoch_flags_second(void *context, long repetitions);

/* A barrier on a counter between two processes that spin. */
void spinning_barrier(void *context, long repetitions);

/* A barrier among any number of processes that sleep. */
void sleeping_barrier(void *context, long repetitions);

#endif
