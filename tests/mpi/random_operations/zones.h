/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the zones of a phase: where they are, and what may happen in them. */
#ifndef SIDELIGHT_TESTS_ZONES_H
#define SIDELIGHT_TESTS_ZONES_H

#include "phase.h"

/* Mostly small; in roomy memory sometimes megabytes. */
static inline MPI_Aint draw_bytes(MPI_Aint room, uint64_t *seed)
{
    static MPI_Aint const sizes[] = {32, 32, 64, 256, 256, 1024, 1024, 4096, 12288};
    MPI_Aint bytes = sizes[below(sizeof sizes / sizeof *sizes, seed)];
    if (room > 1 << 20 && one_in(8, seed))
        bytes = (MPI_Aint)(ZONE_GRID * (1024 + below(56 * 1024, seed)));
    return bytes;
}

static inline enum operator draw_operator(const struct element *e, bool wide, bool commute,
                                          uint64_t *seed)
{
    for (;;) {
        enum operator const op =(enum operator) below(OPERATORS, seed);
        bool const sums = op == SUM || op == PROD, keeps = op == REPLACE || op == NO_OP;
        if (element_allows(e, op) && !(wide && sums) && !(commute && keeps))
            return op;
    }
}

static inline void draw_chain(struct zone *z, uint64_t *seed)
{
    static const enum operator ways[] = {SUM, REPLACE, NO_OP};
    z->op = ways[below(z->type->kind == REAL ? 2 : 3, seed)];
    z->wide = false;
    z->fill = true;
    z->elements = z->op == NO_OP ? 1 : 1 + (int)below(CHAIN_MOST, seed);
    z->bytes = (MPI_Aint)z->type->size * z->elements;
    z->left = 2 + (int)below(14, seed);
}

static inline void draw_counter(struct zone *z, uint64_t *seed)
{
    for (int i = 0; i < element_count; ++i)
        if (element_table[i].type == MPI_INT64_T)
            z->type = &element_table[i];
    z->wide = false;
    z->fill = true;
    z->elements = one_in(2, seed) ? 1 : 64;
    z->bytes = (MPI_Aint)z->type->size * z->elements;
    z->left = 2 + (int)below(6, seed);
}

static inline void draw_use(struct zone *z, enum style style, bool storm, uint64_t *seed)
{
    static int const steps[USES] = {[SEQUENCE] = 8, [READ] = 6, [COMMUTE] = 12};
    static const enum use uses[] = {SEQUENCE, SEQUENCE, SEQUENCE, READ, COMMUTE, COMMUTE, CHAIN};
    z->use = uses[below(7, seed)];
    if (storm)
        z->use = one_in(3, seed) ? CHAIN : COMMUTE;
    if (style == STYLE_LOCKS && one_in(storm ? 2 : 6, seed))
        z->use = COUNTER;
    if ((z->use == COMMUTE && z->type->kind == TEXT) ||
        (z->use == CHAIN && (KIND(z->type->kind) & (NUMBERS | KIND(REAL))) == 0))
        z->use = SEQUENCE;
    if (z->use == CHAIN)
        draw_chain(z, seed);
    else if (z->use == COUNTER)
        draw_counter(z, seed);
    else {
        z->left = 1 + (int)below((uint64_t)steps[z->use], seed);
        z->left = z->bytes > 65536 && z->left > 2 ? 2 : z->left;
    }
    if (storm && z->use != SEQUENCE && z->bytes <= 65536)
        z->left = STORM_STEPS;
    if (z->use == COMMUTE)
        z->op = draw_operator(z->type, z->wide, true, seed);
}

/* A zone somewhere behind the last one of its segment; false if there is no room. */
static inline bool draw_zone(struct zone *z, const struct memory *m, const struct phase *p,
                             MPI_Aint used[][MEMORY_MOST_SEGMENTS], uint64_t *seed)
{
    memset(z, 0, sizeof *z);
    z->target = (int)below((uint64_t)m->size, seed);
    z->segment = (int)below((uint64_t)m->segments, seed);
    MPI_Aint *const cursor = &used[z->target][z->segment];
    MPI_Aint const bytes = m->parts[z->target][z->segment].bytes;
    z->type = &element_table[below((uint64_t)element_count, seed)];
    z->wide = element_takes_any_bits(z->type) && one_in(2, seed);
    z->fill = !z->wide || one_in(4, seed);
    z->bytes = draw_bytes(bytes, seed);
    z->atomically = one_in(2, seed);
    z->last = -1;
    draw_use(z, p->style, p->storm, seed);
    z->at = *cursor + ZONE_GRID * (MPI_Aint)below(4, seed);
    *cursor = z->at + (z->bytes + ZONE_GRID - 1) / ZONE_GRID * ZONE_GRID;
    return *cursor <= bytes;
}

#endif /* SIDELIGHT_TESTS_ZONES_H */
