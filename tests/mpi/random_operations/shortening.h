/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After a failure: the shortest history that fails in the same life. Phases are left out from the
 * front, then operations of the rest, first by halves, then fewer at a time. Each history is played
 * up to three times, as some failures are a matter of time as well.
 */
#ifndef SIDELIGHT_TESTS_SHORTENING_H
#define SIDELIGHT_TESTS_SHORTENING_H

#include "lives.h"

enum { SHORTENING_TRIES = 3, SHORTENING_MOST_HISTORIES = 300 };

static int histories_played;

/* Collective; quiet. */
static inline bool still_fails(const struct history *h)
{
    bool failed = false;
    for (int i = 0; i < SHORTENING_TRIES && !failed; ++i) {
        replay.failed = false;
        check_failures = replay.known_failures;
        play_life(h);
        failed = failed_anywhere(MPI_COMM_WORLD);
    }
    ++histories_played;
    return failed;
}

/* The last phase alone, or with as few before it as it takes. */
static inline bool drop_phases(struct history *h)
{
    uint64_t begin[LIFE_PHASES];
    int const phases = phases_begun;
    memcpy(begin, phase_begin, sizeof begin);
    for (int more = 1;; more *= 2) {
        h->from = more < phases ? begin[phases - more] : 0;
        if (still_fails(h))
            return true;
        if (more >= phases)
            return false;
    }
}

/* Collective: mutes each run of `chunk` operations without which it still fails. */
static inline void drop_operations(struct history *h, uint64_t chunk)
{
    for (uint64_t i = h->from; i < h->to; i += chunk) {
        bool any = false;
        struct history const whole = *h;
        for (uint64_t k = i; k < i + chunk && k < h->to; ++k) {
            any |= !h->muted[k];
            h->muted[k] = true;
        }
        if (any && (histories_played >= SHORTENING_MOST_HISTORIES || !still_fails(h)))
            *h = whole;
    }
}

static inline int operations_left(const struct history *h)
{
    int count = 0;
    for (uint64_t i = h->from; i < h->to; ++i)
        count += !h->muted[i];
    return count;
}

/* How to play it, and the operations of its last phase. */
static inline void print_history(const struct history *h)
{
    const char *separator = " ";
    fprintf(stderr,
            "    the shortest history that fails, %d of %llu operations, in %d tries:\n"
            "    random_operations %llu %llu %s %llu",
            operations_left(h), (unsigned long long)h->to, histories_played,
            (unsigned long long)h->to, (unsigned long long)h->seed, replay.flavor,
            (unsigned long long)h->from);
    for (uint64_t i = h->from; i < h->to; ++i)
        if (!h->muted[i]) {
            fprintf(stderr, "%s%llu", separator, (unsigned long long)i);
            separator = ",";
        }
    fprintf(stderr, "\n");
    replay.quiet = false;
    for (int i = 0; i < phase.operations; ++i)
        if (!phase.operation[i].muted)
            describe(&phase.operation[i], &phase);
}

/* Collective, when a life has failed. */
static inline void shorten(struct history *h)
{
    uint64_t end = replay.failed ? replay.end : UINT64_MAX;
    MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    replay.quiet = true;
    replay.known_failures =
        check_failures > CHECK_MOST_PRINTED ? check_failures : CHECK_MOST_PRINTED;
    h->to = end;
    histories_played = 0;
    bool const again = still_fails(h) && drop_phases(h);
    for (uint64_t chunk = again ? (h->to - h->from) / 2 : 0; chunk > 0; chunk /= 2)
        drop_operations(h, chunk);
    bool const shown = again && still_fails(h);
    if (check_rank == 0 && shown)
        print_history(h);
    else if (check_rank == 0)
        fprintf(stderr, "    it did not fail again in %d tries: a matter of time\n",
                SHORTENING_TRIES);
    replay.quiet = false;
}

#endif /* SIDELIGHT_TESTS_SHORTENING_H */
