/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws what all ranks do in one phase: each of them the same, from the same seed. */
#ifndef SIDELIGHT_TESTS_SCHEDULE_H
#define SIDELIGHT_TESTS_SCHEDULE_H

#include "zones.h"

/* --- Operations ------------------------------------------------------------------------------- */

static inline enum call draw_accumulate(const struct zone *z, bool passive, uint64_t *seed)
{
    static const enum call calls[] = {ACCUMULATE,       GET_ACCUMULATE, FETCH_AND_OP,
                                      COMPARE_AND_SWAP, RACCUMULATE,    RGET_ACCUMULATE};
    enum call call = calls[below(passive ? 6 : 4, seed)];
    bool const swaps = z->use == SEQUENCE && element_swaps(z->type);
    return call == COMPARE_AND_SWAP && !swaps ? FETCH_AND_OP : call;
}

static inline enum call draw_fetch(const struct zone *z, bool passive, uint64_t *seed)
{
    static const enum call calls[] = {GET_ACCUMULATE, FETCH_AND_OP, RGET_ACCUMULATE};
    enum call const call = calls[below(passive ? 3 : 2, seed)];
    return call == FETCH_AND_OP && z->elements > 1 ? GET_ACCUMULATE : call;
}

/* In a sequence: without locks, nothing can be completed between, so like follows like. */
static inline enum call draw_next(const struct zone *z, bool passive, uint64_t *seed)
{
    uint64_t const family = below(4, seed);
    bool const bound = !passive && z->pending != NONE;
    if (bound ? z->pending == READS : family == 0)
        return passive && one_in(2, seed) ? RGET : GET;
    if (!bound && family == 1)
        return passive && one_in(2, seed) ? RPUT : PUT;
    return draw_accumulate(z, passive, seed);
}

static inline enum call draw_call(const struct zone *z, bool passive, uint64_t *seed)
{
    if (z->use == COUNTER)
        return COUNT_UP;
    if (z->use == CHAIN)
        return z->op == NO_OP ? COMPARE_AND_SWAP : draw_fetch(z, passive, seed);
    if (z->use == READ && z->atomically)
        return draw_fetch(z, passive, seed);
    if (z->use == READ)
        return passive && one_in(2, seed) ? RGET : GET;
    return z->use == COMMUTE ? draw_accumulate(z, passive, seed) : draw_next(z, passive, seed);
}

static inline enum operator draw_its_operator(const struct zone *z, enum call call, uint64_t *seed)
{
    bool const fetching = fetches(call);
    enum operator op = z->op;
    if (z->use == READ)
        return NO_OP;
    if (z->use == SEQUENCE)
        do
            op = draw_operator(z->type, z->wide, false, seed);
        while (op == NO_OP && !fetching);
    else if (z->use != COUNTER && fetching && one_in(5, seed))
        op = NO_OP;
    return op;
}

/* Where the target's displacement may point so that its elements lie in the zone and on the grid of
 * its elements, and units fit. The zone has room for side; false if no displacement does it. */
static inline bool draw_place(struct operation *o, const struct zone *z, int unit, uint64_t *seed)
{
    MPI_Aint const size = (MPI_Aint)z->type->size, step = size > unit ? size : unit;
    MPI_Aint const first = z->at - o->target_side.low;
    MPI_Aint const from = first <= 0 ? 0 : (first + step - 1) / step * step;
    MPI_Aint const last = z->at + z->bytes - o->target_side.high;
    if (last < from)
        return false;
    o->at = from + step * (MPI_Aint)below((uint64_t)((last - from) / step + 1), seed);
    return true;
}

static inline int draw_elements(const struct zone *z, enum call call, uint64_t *seed)
{
    MPI_Aint const room = z->bytes / (MPI_Aint)z->type->size;
    if (z->elements > 0)
        return z->elements;
    if (call == FETCH_AND_OP || call == COMPARE_AND_SWAP)
        return 1;
    if (one_in(24, seed))
        return 0;
    return side_round_down(one_in(2, seed) ? room : 1 + (MPI_Aint)below((uint64_t)room, seed),
                           seed);
}

static inline void draw_sides(struct operation *o, const struct zone *z, int unit, uint64_t *seed)
{
    bool const plain = z->elements > 0 || o->call == FETCH_AND_OP || o->call == COMPARE_AND_SWAP;
    MPI_Aint const room = 4 * z->bytes;
    o->elements = draw_elements(z, o->call, seed);
    if (plain) {
        o->origin_side = o->result_side = o->target_side = side_contiguous(z->type, o->elements);
        if (z->elements > 0)
            o->at = z->at;
        else
            draw_place(o, z, unit, seed);
        return;
    }
    o->origin_side = side_random(z->type, o->elements, room, seed);
    o->result_side = fetches(o->call) ? side_random(z->type, o->elements, room, seed)
                                      : side_contiguous(z->type, 0);
    o->target_side = side_random(z->type, o->elements, z->bytes, seed);
    if (!draw_place(o, z, unit, seed)) {
        side_free(&o->target_side);
        o->target_side = side_contiguous(z->type, o->elements);
        draw_place(o, z, unit, seed);
    }
}

/* --- Order within a sequence ------------------------------------------------------------------ */

static inline enum pending family(enum call call)
{
    return is_accumulate(call) ? ACCUMULATES : is_get(call) ? READS : WRITES;
}

static inline void order_after_last(struct phase *p, struct zone *z, struct operation *o,
                                    uint64_t *seed)
{
    struct operation *const last = z->last < 0 ? NULL : &p->operation[z->last];
    bool const alike = z->pending == family(o->call) && z->pending != WRITES;
    if (last != NULL && last->origin != o->origin) {
        last->after = one_in(3, seed) ? FLUSH_ALL : FLUSH;
        last->tell = o->origin;
        last->tell_tag = TELL_TAG + (int)(o - p->operation);
        o->hear = last->origin;
    } else if (z->pending != NONE && !alike)
        o->before = (enum completion)(z->pending == READS ? FLUSH_LOCAL + below(5, seed)
                                                          : FLUSH + below(3, seed));
    z->pending = family(o->call);
    if (o->call == RGET && o->wait == WAIT_NOW)
        z->pending = alike ? READS : NONE;
    if (o->after >= FLUSH || (o->after != NOTHING && z->pending == READS))
        z->pending = NONE;
}

static inline int draw_origin(const struct phase *p, const struct zone *z, int ranks,
                              uint64_t *seed)
{
    bool const stays =
        z->use == SEQUENCE && z->last >= 0 && (p->style != STYLE_LOCK_ALL || !one_in(3, seed));
    return stays ? p->operation[z->last].origin : (int)below((uint64_t)ranks, seed);
}

static inline void draw_operation(struct phase *p, struct zone *z, const struct memory *m,
                                  uint64_t number, uint64_t *seed)
{
    struct operation *const o = &p->operation[p->operations];
    bool const passive = is_passive(p->style);
    memset(o, 0, sizeof *o);
    o->number = number;
    o->zone = (int)(z - p->zone);
    o->target = z->target;
    o->type = z->type;
    o->origin = draw_origin(p, z, m->size, seed);
    o->call = draw_call(z, passive, seed);
    o->op = draw_its_operator(z, o->call, seed);
    draw_sides(o, z, m->units[z->target], seed);
    o->values = check_random(seed);
    o->as_expected = z->use == CHAIN || one_in(2, seed);
    o->ticket = z->use != CHAIN ? 0 : z->op == SUM ? 1 + (int64_t)below(3, seed) : 60 - z->left;
    o->wait = (enum wait)below(3, seed);
    o->after = passive && one_in(4, seed) ? (enum completion)(1 + below(5, seed)) : NOTHING;
    o->absolute = one_in(6, seed);
    o->large = one_in(2, seed);
    o->nowhere = one_in(8, seed);
    o->hear = o->tell = -1;
    o->request = MPI_REQUEST_NULL;
    if (z->use == SEQUENCE)
        order_after_last(p, z, o, seed);
    z->last = p->operations++;
    --z->left;
    if (z->use == SEQUENCE && !passive && z->pending == WRITES)
        z->left = 0;
}

/* --- The phase -------------------------------------------------------------------------------- */

static inline enum style draw_style(const struct memory *m, const struct phase *last,
                                    uint64_t *seed)
{
    enum style const style = (enum style)below(m->passive ? STYLES : STYLE_LOCKS, seed);
    return last->keep ? STYLE_LOCK_ALL : style;
}

/* Draws the phase after the one that p holds. Returns the number of the next operation. */
static inline uint64_t draw_phase(struct phase *p, const struct memory *m, uint64_t number,
                                  uint64_t seed)
{
    MPI_Aint used[MEMORY_MOST_RANKS][MEMORY_MOST_SEGMENTS];
    p->seed = seed;
    p->style = draw_style(m, p, &seed);
    p->storm = one_in(6, &seed);
    p->nested = one_in(2, &seed);
    p->keep = p->style == STYLE_LOCK_ALL && m->unified && one_in(2, &seed);
    p->no_check = one_in(3, &seed);
    p->no_succeed = one_in(2, &seed);
    p->no_precede = one_in(2, &seed);
    p->zones = p->operations = 0;
    for (int r = 0; r < m->size; ++r)
        for (int s = 0; s < m->segments; ++s)
            used[r][s] = ZONE_GRID * (MPI_Aint)below(128, &seed);
    for (int left = 2 + (int)below(p->storm ? 2 : PHASE_MOST_ZONES - 1, &seed); left > 0; --left)
        p->zones += draw_zone(&p->zone[p->zones], m, p, used, &seed);
    for (int open = p->zones; open > 0 && p->operations < PHASE_MOST_OPERATIONS;) {
        struct zone *const z = &p->zone[below((uint64_t)p->zones, &seed)];
        if (z->left == 0)
            continue;
        draw_operation(p, z, m, number++, &seed);
        open -= z->left == 0;
    }
    return number;
}

/* Types may be freed while operations use them. */
static inline void operation_free_types(struct operation *o)
{
    side_free(&o->origin_side);
    side_free(&o->result_side);
    side_free(&o->target_side);
}

#endif /* SIDELIGHT_TESTS_SCHEDULE_H */
