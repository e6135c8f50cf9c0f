/* SPDX-License-Identifier: BSD-3-Clause */
/* The styles of synchronisation: each rank makes its operations of a phase in one of them. */
#ifndef SIDELIGHT_TESTS_STYLES_H
#define SIDELIGHT_TESTS_STYLES_H

#include "calls.h"

/* One rank in one phase. */
struct player {
    struct memory *m;
    struct phase *p;
    uint64_t seed;                /* other numbers on each rank */
    bool held[MEMORY_MOST_RANKS]; /* locks, in the style LOCKS */
    int tells;
    MPI_Request told[PHASE_MOST_OPERATIONS];
};

/* Ranks should not always come at the same time. */
static inline void linger(struct player *y)
{
    if (one_in(8, &y->seed))
        usleep((useconds_t)below(300, &y->seed));
    else if (one_in(4, &y->seed))
        sched_yield();
}

static inline bool is_mine(const struct player *y, const struct operation *o)
{
    return o->origin == y->m->rank;
}

/* --- Fence ------------------------------------------------------------------------------------ */

static inline bool is_updated(const struct player *y)
{
    for (int i = 0; i < y->p->operations; ++i)
        if (y->p->operation[i].target == y->m->rank && !is_get(y->p->operation[i].call))
            return true;
    return false;
}

static inline void issue_all(struct player *y)
{
    for (int i = 0; i < y->p->operations; ++i)
        if (is_mine(y, &y->p->operation[i])) {
            issue(&y->p->operation[i], y->p, y->m);
            operation_free_types(&y->p->operation[i]);
        }
}

static inline void play_fence(struct player *y)
{
    const struct phase *const p = y->p;
    int const no_put = !is_updated(y) && p->no_check ? MPI_MODE_NOPUT : 0;
    CHECK_OK(MPI_Win_fence((p->no_precede ? MPI_MODE_NOPRECEDE : 0) | no_put, y->m->win));
    issue_all(y);
    linger(y);
    CHECK_OK(MPI_Win_fence((p->no_succeed ? MPI_MODE_NOSUCCEED : 0) |
                               (p->no_check ? MPI_MODE_NOSTORE : 0),
                           y->m->win));
    settle_all(y->p, y->m, -1);
}

/* --- Post, start, complete, wait -------------------------------------------------------------- */

/* Who accesses whom: those who have operations, and some who have none. */
static inline bool accesses(const struct phase *p, int origin, int target)
{
    uint64_t seed = p->seed + (uint64_t)(origin * MEMORY_MOST_RANKS + target);
    for (int i = 0; i < p->operations; ++i)
        if (p->operation[i].origin == origin && p->operation[i].target == target)
            return true;
    return one_in(4, &seed);
}

static inline MPI_Group group_of(const struct player *y, bool of_targets)
{
    int ranks[MEMORY_MOST_RANKS], count = 0;
    MPI_Group all, group;
    for (int r = 0; r < y->m->size; ++r)
        if (of_targets ? accesses(y->p, y->m->rank, r) : accesses(y->p, r, y->m->rank))
            ranks[count++] = r;
    MPI_Comm_group(y->m->comm, &all);
    MPI_Group_incl(all, count, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

static inline void end_exposure(struct player *y)
{
    int done = 0;
    if (one_in(2, &y->seed))
        for (; !done; sched_yield())
            CHECK_OK(MPI_Win_test(y->m->win, &done));
    else
        CHECK_OK(MPI_Win_wait(y->m->win));
}

static inline void play_gats(struct player *y)
{
    bool const no_check = y->p->no_check;
    int const no_put = is_updated(y) ? 0 : MPI_MODE_NOPUT;
    MPI_Group targets = group_of(y, true), origins = group_of(y, false);
    CHECK_OK(MPI_Win_post(origins, (no_check ? MPI_MODE_NOCHECK : 0) | no_put, y->m->win));
    if (no_check)
        MPI_Barrier(y->m->comm);
    CHECK_OK(MPI_Win_start(targets, no_check ? MPI_MODE_NOCHECK : 0, y->m->win));
    issue_all(y);
    linger(y);
    CHECK_OK(MPI_Win_complete(y->m->win));
    settle_all(y->p, y->m, -1);
    end_exposure(y);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
}

/* --- Locks ------------------------------------------------------------------------------------ */

static inline void release(struct player *y, int target)
{
    if (!y->held[target])
        return;
    CHECK_OK(MPI_Win_unlock(target, y->m->win));
    y->held[target] = false;
    settle_all(y->p, y->m, target);
}

static inline void release_all(struct player *y)
{
    for (int r = 0; r < y->m->size; ++r)
        release(y, r);
}

/* Locks are taken in ascending order of targets, so that no two ranks wait for each other. */
static inline void hold(struct player *y, int target)
{
    if (y->held[target])
        return;
    for (int r = y->p->nested ? target + 1 : 0; r < y->m->size; ++r)
        release(y, r);
    int const type = one_in(3, &y->seed) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    CHECK_OK(MPI_Win_lock(type, target, 0, y->m->win));
    y->held[target] = true;
}

static inline bool holds_any(const struct player *y)
{
    for (int r = 0; r < y->m->size; ++r)
        if (y->held[r])
            return true;
    return false;
}

static inline void reopen(struct player *y, int target)
{
    if (y->p->style == STYLE_LOCKS) {
        release(y, target);
        return;
    }
    CHECK_OK(MPI_Win_unlock_all(y->m->win));
    settle_all(y->p, y->m, -1);
    CHECK_OK(MPI_Win_lock_all(y->p->no_check ? MPI_MODE_NOCHECK : 0, y->m->win));
}

static inline void complete(struct player *y, enum completion how, int target)
{
    MPI_Win const win = y->m->win;
    bool const locks = y->p->style == STYLE_LOCKS;
    bool const of_all = how == FLUSH_ALL || how == FLUSH_LOCAL_ALL;
    if (how == NOTHING || (locks && (of_all ? !holds_any(y) : !y->held[target])))
        return; /* what is not locked is complete */
    if (how == FLUSH_LOCAL)
        CHECK_OK(MPI_Win_flush_local(target, win));
    else if (how == FLUSH_LOCAL_ALL)
        CHECK_OK(MPI_Win_flush_local_all(win));
    else if (how == FLUSH)
        CHECK_OK(MPI_Win_flush(target, win));
    else if (how == FLUSH_ALL)
        CHECK_OK(MPI_Win_flush_all(win));
    else
        reopen(y, target);
    settle_all(y->p, y->m, of_all ? -1 : target);
}

static inline void play_passive_operation(struct player *y, struct operation *o)
{
    if (o->hear >= 0)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, o->hear, TELL_TAG + (int)(o - y->p->operation),
                          y->m->comm, MPI_STATUS_IGNORE));
    complete(y, o->before, o->target);
    if (o->call == COUNT_UP) {
        release_all(y);
        count_up_at_target(o, y->p, y->m, &y->seed);
    } else {
        if (y->p->style == STYLE_LOCKS)
            hold(y, o->target);
        issue(o, y->p, y->m);
    }
    operation_free_types(o);
    complete(y, o->after, o->target);
    if (o->tell >= 0)
        CHECK_OK(
            MPI_Isend(NULL, 0, MPI_BYTE, o->tell, o->tell_tag, y->m->comm, &y->told[y->tells++]));
}

static inline void wait_for_requests(struct player *y, enum wait when)
{
    for (int i = 0; i < y->p->operations; ++i)
        if (is_mine(y, &y->p->operation[i]) && y->p->operation[i].wait == when)
            wait_for_request(&y->p->operation[i], y->p);
}

static inline void play_passive_operations(struct player *y)
{
    for (int i = 0; i < y->p->operations; ++i)
        if (is_mine(y, &y->p->operation[i]))
            play_passive_operation(y, &y->p->operation[i]);
    linger(y);
    wait_for_requests(y, WAIT_BEFORE_CLOSING);
    CHECK_OK(MPI_Waitall(y->tells, y->told, MPI_STATUSES_IGNORE));
}

/* All ranks are in the barrier after the last one has completed all that it did. */
static inline void play_locks(struct player *y)
{
    play_passive_operations(y);
    release_all(y);
    wait_for_requests(y, WAIT_AFTER_CLOSING);
    MPI_Barrier(y->m->comm);
}

static inline void play_lock_all(struct player *y, bool is_open)
{
    if (!is_open)
        CHECK_OK(MPI_Win_lock_all(y->p->no_check ? MPI_MODE_NOCHECK : 0, y->m->win));
    play_passive_operations(y);
    if (y->p->keep)
        CHECK_OK(MPI_Win_flush_all(y->m->win));
    else
        CHECK_OK(MPI_Win_unlock_all(y->m->win));
    settle_all(y->p, y->m, -1);
    wait_for_requests(y, WAIT_AFTER_CLOSING);
    MPI_Barrier(y->m->comm);
}

#endif /* SIDELIGHT_TESTS_STYLES_H */
