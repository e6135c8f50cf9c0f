/* SPDX-License-Identifier: BSD-3-Clause */
/* A phase from its first store to the comparison of memory with the model. */
#ifndef SIDELIGHT_TESTS_EXECUTION_H
#define SIDELIGHT_TESTS_EXECUTION_H

#include "styles.h"

/* --- Loads and stores ------------------------------------------------------------------------- */

/* Between the two, a rank may load from its own memory and store to it: nobody else accesses it. */
static inline void begin_own_access(struct player *y, bool is_open)
{
    int const no_check = y->p->no_check ? MPI_MODE_NOCHECK : 0; /* nobody else has a lock */
    if (is_open)
        CHECK_OK(MPI_Win_sync(y->m->win));
    else if (is_passive(y->p->style))
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, y->m->rank, no_check, y->m->win));
}

static inline void end_own_access(struct player *y, bool is_open)
{
    if (is_open)
        CHECK_OK(MPI_Win_sync(y->m->win));
    else if (is_passive(y->p->style))
        CHECK_OK(MPI_Win_unlock(y->m->rank, y->m->win));
}

static inline void describe_place(struct player *y, int s, MPI_Aint at, int bytes)
{
    const struct segment *const part = memory_own(y->m, s);
    fprintf(stderr, "    own memory, segment %d: byte %lld is %02x, not %02x; %d bytes differ\n", s,
            (long long)at, part->base[at], part->model[at], bytes);
    for (int i = 0; i < y->p->operations; ++i) {
        const struct zone *const z = &y->p->zone[y->p->operation[i].zone];
        if (z->target == y->m->rank && z->segment == s && at >= z->at && at < z->at + z->bytes)
            describe(&y->p->operation[i], y->p);
    }
}

static inline void check_memory(struct player *y)
{
    for (int i = 0; i < y->p->zones; ++i)
        normalise_zone(&y->p->zone[i], y->m);
    for (int s = 0; s < y->m->segments; ++s) {
        int bytes;
        MPI_Aint const at = memory_difference(y->m, s, &bytes);
        if (at >= 0 && fail(y->p, "memory is not as it must be") && !replay.quiet)
            describe_place(y, s, at, bytes);
    }
}

static inline void check_chains(struct player *y)
{
    tell_fetched(y->p, y->m);
    for (int i = 0; i < y->p->zones; ++i) {
        if (y->p->zone[i].use != CHAIN || resolve_chain(y->p, i, y->m))
            continue;
        if (fail(y->p, "no order of these operations explains what they fetched"))
            for (int k = 0; k < y->p->operations; ++k)
                if (y->p->operation[k].zone == i)
                    describe(&y->p->operation[k], y->p);
    }
}

/* --- All of a phase --------------------------------------------------------------------------- */

static inline void drop_types_of_others(struct player *y)
{
    for (int i = 0; i < y->p->operations; ++i)
        if (!is_mine(y, &y->p->operation[i]))
            operation_free_types(&y->p->operation[i]);
}

static inline void release_operations(struct player *y)
{
    for (int i = 0; i < y->p->operations; ++i)
        if (is_mine(y, &y->p->operation[i]))
            operation_release_memory(&y->p->operation[i]);
}

static inline void prepare_phase(struct player *y, bool is_open)
{
    begin_own_access(y, is_open);
    fill_zones(y->p, y->m);
    end_own_access(y, is_open);
    apply_operations(y->p, y->m);
    drop_types_of_others(y);
    if (is_passive(y->p->style))
        MPI_Barrier(y->m->comm);
    if (is_open)
        CHECK_OK(MPI_Win_sync(y->m->win));
}

/* Collective. is_open: under a lock_all that the phase before has left open. */
static inline void play_phase(struct memory *m, struct phase *p, bool is_open)
{
    struct player y = {.m = m, .p = p, .seed = p->seed + (uint64_t)m->rank};
    prepare_phase(&y, is_open);
    linger(&y);
    if (p->style == STYLE_FENCE)
        play_fence(&y);
    else if (p->style == STYLE_GATS)
        play_gats(&y);
    else if (p->style == STYLE_LOCKS)
        play_locks(&y);
    else
        play_lock_all(&y, is_open);
    check_chains(&y);
    begin_own_access(&y, p->keep);
    check_memory(&y);
    end_own_access(&y, p->keep);
    release_operations(&y);
}

#endif /* SIDELIGHT_TESTS_EXECUTION_H */
