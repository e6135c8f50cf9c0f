/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation at its origin: the call, the check of what it fetched, and what is said if wrong.
 */
#ifndef SIDELIGHT_TESTS_CALLS_H
#define SIDELIGHT_TESTS_CALLS_H

#include "model.h"
#include <sched.h>

/* What one needs to see the same again; and whether there is anything. */
struct replay {
    uint64_t seed;
    const char *flavor;
    uint64_t wrong_from; /* from this operation on, updates bring a wrong byte: to test the test */
    uint64_t end;        /* operations up to the end of the phase that failed */
    int known_failures;  /* checks that had failed before */
    bool quiet;
    bool failed; /* the first failure says enough: memory is not as the model from then on */
};

static struct replay replay;

static inline void describe(const struct operation *o, const struct phase *p)
{
    const struct zone *const z = &p->zone[o->zone];
    if (replay.quiet)
        return;
    fprintf(stderr,
            "    operation %llu (%s, %s): rank %d, %s %s of %d %s (%d/%d/%d per type) at rank %d "
            "segment %d, zone %lld + %lld, displacement %lld, completion %d before, %d after%s\n"
            "        origin%s, result%s, target%s\n",
            (unsigned long long)o->number, style_names[p->style], use_names[z->use], o->origin,
            call_names[o->call], is_accumulate(o->call) ? operator_names[o->op] : "", o->elements,
            o->type->name, o->origin_side.layout.elements, o->result_side.layout.elements,
            o->target_side.layout.elements, o->target, z->segment, (long long)z->at,
            (long long)z->bytes, (long long)o->at, (int)o->before, (int)o->after,
            o->absolute ? ", by addresses" : "", o->origin_side.layout.made_of,
            o->result_side.layout.made_of, o->target_side.layout.made_of);
}

/* Says that something failed, and how to see it again; true if it is the first time. */
static inline bool fail(const struct phase *p, const char *what)
{
    bool const first = !replay.failed;
    uint64_t const last = p->operation[p->operations - 1].number;
    replay.failed = true;
    if (first)
        replay.end = last + 1;
    if (check_count() && first && !replay.quiet)
        fprintf(stderr,
                "rank %d, in %s: %s\n"
                "    to see it again: random_operations %llu %llu %s\n",
                check_rank, check_doing, what, (unsigned long long)last + 1,
                (unsigned long long)replay.seed, replay.flavor);
    return first;
}

/* --- Completion ------------------------------------------------------------------------------- */

static inline bool is_predictable(const struct operation *o, const struct phase *p)
{
    enum use const use = p->zone[o->zone].use;
    return fetches(o->call) && (use == SEQUENCE || use == READ);
}

static inline void normalise_result(struct operation *o)
{
    for (int i = 0; element_has_normal_form(o->type) && i < o->elements; ++i) {
        MPI_Aint const at = side_shift(&o->result_side) + side_element(&o->result_side, i);
        element_normalise(o->type, o->result + at);
        element_normalise(o->type, o->expected + at);
    }
}

static inline void check_result(struct operation *o, const struct phase *p)
{
    size_t const bytes = side_block(&o->result_side);
    normalise_result(o);
    if (memcmp(o->result, o->expected, bytes) == 0)
        return;
    if (!fail(p, "an operation has fetched something else") || replay.quiet)
        return;
    size_t at = 0;
    while (o->result[at] == o->expected[at])
        ++at;
    fprintf(stderr, "    byte %zu of %zu is %02x, not %02x\n", at, bytes, o->result[at],
            o->expected[at]);
    describe(o, p);
}

/* An operation is complete at its origin: what it fetched is there, its buffers are free. */
static inline void settle(struct operation *o, const struct phase *p)
{
    if (!o->issued || o->settled)
        return;
    o->settled = true;
    if (is_predictable(o, p))
        check_result(o, p);
    memset(o->origin_memory, SCRIBBLE, side_block(&o->origin_side));
}

/* The same for all operations on a target, or on all of them if it is -1. */
static inline void settle_all(struct phase *p, const struct memory *m, int target)
{
    for (int i = 0; i < p->operations; ++i) {
        struct operation *const o = &p->operation[i];
        if (o->origin == m->rank && (target < 0 || o->target == target))
            settle(o, p);
    }
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* Everything of an operation as MPI wants it. */
struct arguments {
    void *origin, *result;
    MPI_Aint at;
    MPI_Datatype origin_type, result_type, target_type;
    int origin_count, result_count, target_count, target;
    MPI_Op op;
};

static inline struct arguments arguments_of(const struct operation *o, const struct phase *p,
                                            const struct memory *m)
{
    const struct segment *const part = &m->parts[o->target][p->zone[o->zone].segment];
    /* What does not count may be nothing. */
    bool const nothing = o->op == NO_OP && o->values % 2 == 0;
    struct arguments a = {
        .origin = nothing ? NULL : o->origin_memory + side_shift(&o->origin_side),
        .result = o->result + side_shift(&o->result_side),
        .at = part->origin + o->at / m->units[o->target],
        .origin_type = nothing ? MPI_BYTE : o->origin_side.layout.type,
        .result_type = o->result_side.layout.type,
        .target_type = o->target_side.layout.type,
        .origin_count = nothing ? 0 : o->origin_side.count,
        .result_count = o->result_side.count,
        .target_count = o->target_side.count,
        .target = o->target,
        .op = operator_handle(o->op),
    };
    return a;
}

#define ORIGIN a.origin, a.origin_count, a.origin_type
#define RESULT a.result, a.result_count, a.result_type
#define TARGET a.target, a.at, a.target_count, a.target_type

#if LAYOUT_LARGE
#define CALL(name, ...) CHECK_OK(o->large ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#else
#define CALL(name, ...) CHECK_OK(name(__VA_ARGS__))
#endif

static inline void call_with_request(struct operation *o, struct arguments a, MPI_Win win)
{
    MPI_Request *const r = &o->request;
    if (o->call == RPUT)
        CALL(MPI_Rput, ORIGIN, TARGET, win, r);
    else if (o->call == RGET)
        CALL(MPI_Rget, RESULT, TARGET, win, r);
    else if (o->call == RACCUMULATE)
        CALL(MPI_Raccumulate, ORIGIN, TARGET, a.op, win, r);
    else
        CALL(MPI_Rget_accumulate, ORIGIN, RESULT, TARGET, a.op, win, r);
}

static inline void call(struct operation *o, struct arguments a, MPI_Win win)
{
    MPI_Datatype const type = o->type->type;
    if (has_request(o->call))
        call_with_request(o, a, win);
    else if (o->call == PUT)
        CALL(MPI_Put, ORIGIN, TARGET, win);
    else if (o->call == GET)
        CALL(MPI_Get, RESULT, TARGET, win);
    else if (o->call == ACCUMULATE)
        CALL(MPI_Accumulate, ORIGIN, TARGET, a.op, win);
    else if (o->call == GET_ACCUMULATE)
        CALL(MPI_Get_accumulate, ORIGIN, RESULT, TARGET, a.op, win);
    else if (o->call == FETCH_AND_OP)
        CHECK_OK(MPI_Fetch_and_op(a.origin, a.result, type, a.target, a.at, a.op, win));
    else
        CHECK_OK(MPI_Compare_and_swap(o->origin_memory, o->compare, a.result, type, a.target, a.at,
                                      win));
}

#undef ORIGIN
#undef RESULT
#undef TARGET
#undef CALL

/* A type for MPI_BOTTOM: what count elements of a type at an address are. */
static inline MPI_Datatype absolute_type(void *at, int count, MPI_Datatype type)
{
    MPI_Aint address;
    MPI_Datatype absolute;
    MPI_Get_address(at, &address);
    MPI_Type_create_hindexed(1, &count, &address, type, &absolute);
    MPI_Type_commit(&absolute);
    return absolute;
}

static inline bool takes_one_element(const struct operation *o)
{
    return o->call == FETCH_AND_OP || o->call == COMPARE_AND_SWAP;
}

static inline void call_by_addresses(struct operation *o, struct arguments a, MPI_Win win)
{
    a.origin_type = absolute_type(a.origin, a.origin_count, a.origin_type);
    a.result_type = absolute_type(a.result, a.result_count, a.result_type);
    a.origin_count = a.result_count = 1;
    a.origin = a.result = MPI_BOTTOM;
    call(o, a, win);
    MPI_Type_free(&a.origin_type);
    MPI_Type_free(&a.result_type);
}

/* Does nothing, and its request is complete. */
static inline void call_nowhere(struct operation *o, struct arguments a, MPI_Win win)
{
    a.target = MPI_PROC_NULL;
    call(o, a, win);
    if (has_request(o->call))
        CHECK_OK(MPI_Wait(&o->request, MPI_STATUS_IGNORE));
}

static inline void wait_for_request(struct operation *o, const struct phase *p)
{
    if (o->request == MPI_REQUEST_NULL)
        return;
    CHECK_OK(MPI_Wait(&o->request, MPI_STATUS_IGNORE));
    settle(o, p);
}

/* Whether one byte of what an operation brings is to be wrong. */
static inline bool is_spoilt(const struct operation *o)
{
    return o->number >= replay.wrong_from && !is_get(o->call) && o->op != NO_OP && o->elements > 0;
}

/* Their types are freed at once. */
static inline void issue(struct operation *o, const struct phase *p, const struct memory *m)
{
    if (o->muted)
        return;
    struct arguments const a = arguments_of(o, p, m);
    if (is_spoilt(o))
        o->origin_memory[side_shift(&o->origin_side) + side_element(&o->origin_side, 0)] ^= 1;
    if (o->nowhere)
        call_nowhere(o, a, m->win);
    if (o->absolute && !takes_one_element(o) && a.origin != NULL)
        call_by_addresses(o, a, m->win);
    else
        call(o, a, m->win);
    o->issued = true;
    if (o->wait == WAIT_NOW)
        wait_for_request(o, p);
}

/* Under an exclusive lock: what is read is whole, and nobody else counts meanwhile. */
static inline void count_up_at_target(struct operation *o, const struct phase *p,
                                      const struct memory *m, uint64_t *seed)
{
    struct arguments const a = arguments_of(o, p, m);
    int64_t values[64] = {0};
    if (o->muted)
        return;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, o->target, 0, m->win));
    CHECK_OK(MPI_Get(values, o->elements, MPI_INT64_T, o->target, a.at, o->elements, MPI_INT64_T,
                     m->win));
    CHECK_OK(MPI_Win_flush(o->target, m->win));
    for (int i = 0; i < o->elements; ++i)
        ++values[i];
    if (one_in(2, seed))
        sched_yield(); /* the lock is held a little longer than one turn on the processor */
    CHECK_OK(MPI_Put(values, o->elements, MPI_INT64_T, o->target, a.at, o->elements, MPI_INT64_T,
                     m->win));
    CHECK_OK(MPI_Win_unlock(o->target, m->win));
}

#endif /* SIDELIGHT_TESTS_CALLS_H */
