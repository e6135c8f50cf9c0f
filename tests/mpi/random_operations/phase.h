/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What there is in one phase: zones of memory, and the operations on them.
 *
 * Nothing that the standard leaves undefined is ever drawn. The memory that a phase uses is cut
 * into zones that do not overlap, and what may happen in a zone is one of these:
 *   SEQUENCE  one operation after the other. Between two that are not both accumulates or both
 *             reads there is what completes the first; if they have different origins, also a
 *             message (only under lock_all: nobody who waits holds what another one needs).
 *   READ      reads of all ranks.
 *   COMMUTE   accumulates of all ranks, of one type with one commutative operation (or no_op).
 *   CHAIN     all ranks fetch and add, fetch and replace, or compare and swap the same elements:
 *             which of them came when shows in what they fetched.
 *   COUNTER   under exclusive locks: get, and put one more.
 * Elements of a zone lie on one grid, as atomicity and order are per element of a type.
 */
#ifndef SIDELIGHT_TESTS_PHASE_H
#define SIDELIGHT_TESTS_PHASE_H

#include "memory.h"
#include "sides.h"

enum style { STYLE_FENCE, STYLE_GATS, STYLE_LOCKS, STYLE_LOCK_ALL, STYLES };

static const char *const style_names[STYLES] = {"fence", "gats", "locks", "lock_all"};

enum use { SEQUENCE, READ, COMMUTE, CHAIN, COUNTER, USES };

static const char *const use_names[USES] = {"sequence", "read", "commute", "chain", "counter"};

enum call {
    PUT,
    GET,
    ACCUMULATE,
    GET_ACCUMULATE,
    FETCH_AND_OP,
    COMPARE_AND_SWAP,
    RPUT,
    RGET,
    RACCUMULATE,
    RGET_ACCUMULATE,
    COUNT_UP,
    CALLS
};

static const char *const call_names[CALLS] = {
    "put",  "get",  "accumulate",  "get_accumulate",  "fetch_and_op",        "compare_and_swap",
    "rput", "rget", "raccumulate", "rget_accumulate", "get and put one more"};

/* Completion before or after an operation; in phases without locks always NOTHING. */
enum completion {
    NOTHING,
    FLUSH_LOCAL,
    FLUSH_LOCAL_ALL,
    FLUSH,
    FLUSH_ALL,
    REOPEN /* unlock; the next operation locks again */
};

enum wait { WAIT_NOW, WAIT_BEFORE_CLOSING, WAIT_AFTER_CLOSING };

/* What of a zone is not known to be complete. */
enum pending { NONE, ACCUMULATES, READS, WRITES };

enum {
    ZONE_GRID = 32,
    PHASE_MOST_ZONES = 24,
    PHASE_MOST_OPERATIONS = 320,
    CHAIN_MOST = 8,   /* elements */
    STORM_STEPS = 38, /* sums of as many threes fit into eight bits */
    TELL_TAG = 1000
};

struct zone {
    enum use use;
    int target, segment;
    MPI_Aint at, bytes;
    const struct element *type;
    enum operator op; /* the only one of COMMUTE and CHAIN; NO_OP in a chain: compare and swap */
    bool wide;        /* any bits, so no sums and products */
    bool fill;        /* its owner stores new values first */
    bool atomically;  /* reads are accumulates with no_op */
    int elements;     /* of CHAIN and COUNTER */
    int left;         /* operations to come */
    int last;         /* the last operation, by its place in the phase; -1 */
    enum pending pending;
};

struct operation {
    uint64_t number; /* in this life of the window */
    int zone, origin, target;
    enum call call;
    enum operator op;
    const struct element *type;
    int elements;
    MPI_Aint at; /* where target displacements count from, in bytes of the segment */
    struct side origin_side, result_side, target_side;
    uint64_t values;  /* seed of what it brings */
    int64_t ticket;   /* if not 0: what it brings, the same for all elements */
    bool as_expected; /* compare and swap: compares with what is there */
    unsigned char compare[ELEMENT_LARGEST];
    enum completion before, after;
    enum wait wait;
    bool absolute;  /* its origin's buffers are MPI_BOTTOM and addresses */
    bool large;     /* called in the form with MPI_Count, if the host has it */
    bool nowhere;   /* the same is asked of MPI_PROC_NULL first */
    bool muted;     /* never made, nor in the model; what completes it stays, and its messages */
    int hear, tell; /* ranks, or -1: messages before and after it */
    int tell_tag;
    /* Of its origin alone. */
    unsigned char *origin_memory, *result, *expected;
    MPI_Request request;
    bool issued, settled;
};

struct phase {
    enum style style;
    uint64_t seed;
    bool storm;  /* hardly anything but updates of the same few elements by all ranks */
    bool nested; /* LOCKS: an origin may hold several, in ascending order of targets */
    bool keep;   /* LOCK_ALL: the epoch stays open; the next phase goes on in it */
    bool no_check, no_succeed, no_precede;
    int zones, operations;
    struct zone zone[PHASE_MOST_ZONES];
    struct operation operation[PHASE_MOST_OPERATIONS];
};

static inline uint64_t below(uint64_t limit, uint64_t *seed) { return check_random(seed) % limit; }

static inline bool one_in(uint64_t n, uint64_t *seed) { return check_random(seed) % n == 0; }

static inline bool is_passive(enum style style)
{
    return style == STYLE_LOCKS || style == STYLE_LOCK_ALL;
}

static inline bool is_accumulate(enum call call)
{
    return call == ACCUMULATE || call == RACCUMULATE || call == GET_ACCUMULATE ||
           call == RGET_ACCUMULATE || call == FETCH_AND_OP || call == COMPARE_AND_SWAP;
}

static inline bool is_get(enum call call) { return call == GET || call == RGET; }

static inline bool fetches(enum call call)
{
    return is_get(call) || call == GET_ACCUMULATE || call == RGET_ACCUMULATE ||
           call == FETCH_AND_OP || call == COMPARE_AND_SWAP;
}

static inline bool has_request(enum call call) { return call >= RPUT && call <= RGET_ACCUMULATE; }

#endif /* SIDELIGHT_TESTS_PHASE_H */
