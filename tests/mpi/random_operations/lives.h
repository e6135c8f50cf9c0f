/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A life of a window: its phases one after the other, or those of a history.
 *
 * A life has a seed, and what happens in it is drawn from that alone. A history is a part of it:
 * the phases before its first operation are drawn and not played, and single operations are muted.
 * What is left is as legal as the whole was.
 */
#ifndef SIDELIGHT_TESTS_LIVES_H
#define SIDELIGHT_TESTS_LIVES_H

#include "execution.h"

enum { LIFE_PHASES = 40, LIFE_MOST_OPERATIONS = LIFE_PHASES * PHASE_MOST_OPERATIONS };

struct history {
    enum flavor flavor;
    uint64_t seed;
    uint64_t from; /* phases that come before this operation are not played */
    uint64_t to;   /* operations wanted: the phase that reaches so many is the last one */
    bool muted[LIFE_MOST_OPERATIONS];
};

/* Where the phases of the life that was played last begin, by operations. */
static uint64_t phase_begin[LIFE_PHASES];
static int phases_begun;

static struct phase phase;

static inline const char *step_text(uint64_t first)
{
    static char text[2][160];
    static int turn;
    char *const step = text[turn ^= 1];
    snprintf(step, sizeof text[0], "life %llu on %s, %s with operations %llu to %llu",
             (unsigned long long)replay.seed, replay.flavor, style_names[phase.style],
             (unsigned long long)first, (unsigned long long)first + (unsigned)phase.operations - 1);
    return step;
}

/* On dynamic windows, before some of the phases. */
static inline void renew_some(struct memory *m, uint64_t *seed)
{
    bool any = false;
    for (int r = 0; r < m->size; ++r)
        for (int s = 0; s < m->segments; ++s)
            if (one_in(4, seed)) {
                memory_renew(m, r, s, check_random(seed));
                any = true;
            }
    if (any)
        memory_publish(m);
}

/* Collective. */
static inline bool failed_anywhere(MPI_Comm comm)
{
    int failed = replay.failed || check_failures > replay.known_failures;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    return failed != 0;
}

static inline void mute(const struct history *h)
{
    for (int i = 0; i < phase.operations; ++i)
        phase.operation[i].muted = h->muted[phase.operation[i].number];
}

static inline void skip_phase(void)
{
    for (int i = 0; i < phase.operations; ++i)
        operation_free_types(&phase.operation[i]);
}

/* Errors that calls gave count as well. */
static inline void note_failure(uint64_t end)
{
    if (check_failures > replay.known_failures && !replay.failed) {
        replay.failed = true;
        replay.end = end;
    }
}

/* Collective. Plays what is left of a life, and returns how many operations were drawn: not many
 * more than wanted. Ends early some phases after a failure. */
static inline uint64_t play_life(const struct history *h)
{
    uint64_t done = 0, seed = h->seed;
    bool is_open = false;
    bool const reversed = one_in(3, &seed), roomy = one_in(4, &seed);
    struct memory m = memory_open(h->flavor, reversed, roomy, check_random(&seed));
    memset(&phase, 0, sizeof phase);
    phases_begun = 0;
    for (int k = 0; k < LIFE_PHASES && done < h->to; ++k) {
        bool const kept = phase.keep;
        uint64_t const first = done;
        phase_begin[phases_begun++] = first;
        if (h->flavor == FLAVOR_DYNAMIC && !kept && one_in(2, &seed))
            renew_some(&m, &seed);
        done = draw_phase(&phase, &m, done, check_random(&seed));
        if (phase.operations == 0) {
            phase.keep = kept;
            continue;
        }
        if (done <= h->from) {
            skip_phase();
            continue;
        }
        mute(h);
        check_step(step_text(first));
        play_phase(&m, &phase, is_open);
        is_open = phase.keep;
        note_failure(done);
        if (k % 8 == 7 && failed_anywhere(m.comm))
            break;
    }
    if (is_open)
        CHECK_OK(MPI_Win_unlock_all(m.win));
    memory_close(&m);
    return done;
}

#endif /* SIDELIGHT_TESTS_LIVES_H */
