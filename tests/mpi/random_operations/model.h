/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a phase makes of everybody's memory, and what its operations must fetch. All ranks apply all
 * operations to their model before the phase begins; chains alone wait until it is known who came
 * when.
 */
#ifndef SIDELIGHT_TESTS_MODEL_H
#define SIDELIGHT_TESTS_MODEL_H

#include "schedule.h"

enum { RESULT_PATTERN = 0x5a, ORIGIN_PATTERN = 0xa5, SCRIBBLE = 0xee };

/* --- Buffers of an origin --------------------------------------------------------------------- */

/* Where the address that is given to MPI lies in the block that holds a side's elements. */
static inline MPI_Aint side_shift(const struct side *s) { return s->low < 0 ? -s->low : 0; }

static inline size_t side_block(const struct side *s)
{
    return (size_t)(side_shift(s) + (s->high > 0 ? s->high : 0));
}

static inline unsigned char *side_memory(const struct side *s, int pattern)
{
    size_t const bytes = side_block(s);
    unsigned char *const block = malloc(bytes + 1);
    memset(block, pattern, bytes + 1);
    return block;
}

static inline void operation_take_memory(struct operation *o)
{
    o->origin_memory = side_memory(&o->origin_side, ORIGIN_PATTERN);
    o->result = side_memory(&o->result_side, RESULT_PATTERN);
    o->expected = side_memory(&o->result_side, RESULT_PATTERN);
}

static inline void operation_release_memory(struct operation *o)
{
    free(o->origin_memory);
    free(o->result);
    free(o->expected);
}

/* --- Operations ------------------------------------------------------------------------------- */

static inline struct segment *zone_segment(struct memory *m, const struct zone *z)
{
    return &m->parts[z->target][z->segment];
}

static inline void operation_value(const struct operation *o, const struct zone *z,
                                   unsigned char *at, uint64_t *seed)
{
    memset(at, 0, ELEMENT_LARGEST);
    if (o->ticket != 0)
        element_set(o->type, at, o->ticket, o->ticket);
    else
        element_draw(o->type, o->op, z->wide, at, seed);
}

static inline void count_up(unsigned char *at, int64_t more)
{
    int64_t value;
    memcpy(&value, at, sizeof value);
    value += more;
    memcpy(at, &value, sizeof value);
}

static inline void apply_to_element(struct operation *o, unsigned char *target,
                                    const unsigned char *value)
{
    size_t const size = o->type->size;
    if (o->call == COUNT_UP)
        count_up(target, 1);
    else if (o->call == PUT || o->call == RPUT)
        memcpy(target, value, size);
    else if (o->call == COMPARE_AND_SWAP) {
        memcpy(o->compare, o->as_expected ? target : value, size);
        if (memcmp(o->compare, target, size) == 0)
            memcpy(target, value, size);
    } else if (is_accumulate(o->call))
        element_combine(o->type, o->op, target, value);
}

static inline void apply_operation(struct operation *o, const struct zone *z, struct memory *m)
{
    unsigned char *const memory = zone_segment(m, z)->model + o->at;
    bool const mine = o->origin == m->rank, chain = z->use == CHAIN;
    unsigned char value[ELEMENT_LARGEST];
    uint64_t seed = o->values;
    if (o->muted)
        return;
    if (mine)
        operation_take_memory(o);
    for (int i = 0; i < o->elements; ++i) {
        unsigned char *const target = memory + side_element(&o->target_side, i);
        operation_value(o, z, value, &seed);
        if (mine)
            memcpy(o->origin_memory + side_shift(&o->origin_side) +
                       side_element(&o->origin_side, i),
                   value, o->type->size);
        if (mine && fetches(o->call))
            memcpy(o->expected + side_shift(&o->result_side) + side_element(&o->result_side, i),
                   target, o->type->size);
        if (chain)
            memcpy(o->compare, target, o->type->size);
        else
            apply_to_element(o, target, value);
    }
}

/* --- Zones ------------------------------------------------------------------------------------ */

/* Its owner stores the same values, while nobody accesses its memory. */
static inline void fill_zone(const struct zone *z, struct memory *m, uint64_t seed)
{
    struct segment *const part = zone_segment(m, z);
    MPI_Aint const size = (MPI_Aint)z->type->size;
    for (MPI_Aint at = z->at; at + size <= z->at + z->bytes; at += size)
        element_draw(z->type, SUM, z->wide, part->model + at, &seed);
    if (z->target == m->rank)
        memcpy(part->base + z->at, part->model + z->at, (size_t)z->bytes);
}

static inline void normalise_zone(const struct zone *z, struct memory *m)
{
    struct segment *const part = zone_segment(m, z);
    MPI_Aint const size = (MPI_Aint)z->type->size;
    if (!element_has_normal_form(z->type))
        return;
    for (MPI_Aint at = z->at; at + size <= z->at + z->bytes; at += size) {
        element_normalise(z->type, part->model + at);
        if (z->target == m->rank)
            element_normalise(z->type, part->base + at);
    }
}

/* Collective in that all ranks call it; the caller may store to its own memory now. */
static inline void fill_zones(struct phase *p, struct memory *m)
{
    for (int i = 0; i < p->zones; ++i)
        if (p->zone[i].fill)
            fill_zone(&p->zone[i], m, p->seed + (uint64_t)i);
}

static inline void apply_operations(struct phase *p, struct memory *m)
{
    for (int i = 0; i < p->operations; ++i)
        apply_operation(&p->operation[i], &p->zone[p->operation[i].zone], m);
}

/* --- Chains ----------------------------------------------------------------------------------- */

enum { FETCHED_BYTES = CHAIN_MOST * 16 };

/* What each operation of a chain fetched, for all ranks to see. */
static unsigned char fetched[PHASE_MOST_OPERATIONS][FETCHED_BYTES];

static inline void tell_fetched(struct phase *p, struct memory *m)
{
    int slots = 0, slot_of[PHASE_MOST_OPERATIONS];
    static unsigned char slot[PHASE_MOST_OPERATIONS][FETCHED_BYTES];
    for (int i = 0; i < p->operations; ++i)
        slot_of[i] = p->zone[p->operation[i].zone].use == CHAIN ? slots++ : -1;
    if (slots == 0)
        return;
    memset(slot, 0, (size_t)slots * FETCHED_BYTES);
    for (int i = 0; i < p->operations; ++i) {
        struct operation *const o = &p->operation[i];
        if (slot_of[i] < 0 || o->origin != m->rank || o->muted)
            continue;
        for (int e = 0; e < o->elements; ++e)
            element_normalise(o->type, o->result + (size_t)e * o->type->size);
        memcpy(slot[slot_of[i]], o->result, (size_t)o->elements * o->type->size);
    }
    MPI_Allreduce(MPI_IN_PLACE, slot, slots * FETCHED_BYTES, MPI_BYTE, MPI_BOR, m->comm);
    for (int i = 0; i < p->operations; ++i)
        if (slot_of[i] >= 0)
            memcpy(fetched[i], slot[slot_of[i]], FETCHED_BYTES);
}

/* One element of a chain. */
struct link {
    const struct phase *phase;
    int zone;
    size_t at, size; /* of the element in what is fetched */
    unsigned char value[ELEMENT_LARGEST];
    bool done[PHASE_MOST_OPERATIONS];
};

static inline bool link_has(const struct link *l, int i)
{
    return l->phase->operation[i].zone == l->zone && !l->phase->operation[i].muted;
}

static inline bool link_reads(const struct link *l, int i)
{
    return l->phase->operation[i].op == NO_OP && l->phase->operation[i].call != COMPARE_AND_SWAP;
}

static inline bool link_fetched_value(const struct link *l, int i)
{
    return memcmp(fetched[i] + l->at, l->value, l->size) == 0;
}

static inline void link_apply(struct link *l, int i)
{
    const struct operation *const o = &l->phase->operation[i];
    unsigned char value[ELEMENT_LARGEST];
    element_set(o->type, value, o->ticket, o->ticket);
    element_combine(o->type, o->call == COMPARE_AND_SWAP ? REPLACE : o->op, l->value, value);
    element_normalise(o->type, l->value);
}

/* The reads and the failed swaps that saw the present value. */
static inline void link_mark_seen(struct link *l, bool swaps)
{
    for (int i = 0; i < l->phase->operations; ++i)
        if (link_has(l, i) && (swaps || link_reads(l, i)) && link_fetched_value(l, i))
            l->done[i] = true;
}

/* Follows the values from one operation to the next. True if all of them have their place. */
static inline bool link_follow(struct link *l)
{
    bool const swaps = l->phase->zone[l->zone].op == NO_OP;
    int next = 0;
    for (; next >= 0;) {
        link_mark_seen(l, false);
        next = -1;
        for (int i = 0; i < l->phase->operations && next < 0; ++i)
            if (link_has(l, i) && !l->done[i] && !link_reads(l, i) && link_fetched_value(l, i))
                next = i;
        if (next >= 0) {
            l->done[next] = true;
            link_apply(l, next);
        }
        if (swaps) {
            link_mark_seen(l, true); /* after the one that succeeds, all the others fail */
            break;
        }
    }
    for (int i = 0; i < l->phase->operations; ++i)
        if (link_has(l, i) && !l->done[i])
            return false;
    return true;
}

/* Brings the model of a chain up to date. Returns false if no order of its operations explains what
 * they fetched. */
static inline bool resolve_chain(const struct phase *p, int zone, struct memory *m)
{
    const struct zone *const z = &p->zone[zone];
    unsigned char *const model = zone_segment(m, z)->model + z->at;
    size_t const size = z->type->size;
    bool good = true;
    for (int e = 0; e < z->elements; ++e) {
        struct link l = {.phase = p, .zone = zone, .at = (size_t)e * size, .size = size};
        memcpy(l.value, model + l.at, size);
        good &= link_follow(&l);
        memcpy(model + l.at, l.value, size);
    }
    return good;
}

#endif /* SIDELIGHT_TESTS_MODEL_H */
