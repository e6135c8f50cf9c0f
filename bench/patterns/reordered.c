/* SPDX-License-Identifier: BSD-3-Clause */
/* Two epochs of one process, of which the first is delayed: the second waits for it, unless a
 * reorder key lets it go ahead. */
#include "play.h"

#include <stddef.h>

/* --- Figure 7, A_A_A_R with GATS: late target, second target, origin ------------------------ */

static void aaar_gats_late_target(struct Play *play)
{
    work(play);
    expose_to(play, 2);
    epochs_finish(&play->epochs);
}

static void aaar_gats_second_target(struct Play *play)
{
    expose_to(play, 2);
    epochs_finish(&play->epochs);
    record_done(play, SECOND, 0);
}

static void aaar_gats_origin(struct Play *play)
{
    access_target(play, 0, 0);
    access_target(play, 1, 0);
    epochs_finish(&play->epochs);
    record(play, BOTH);
}

/* --- Figure 8, A_A_A_R with locks: holder, origin of two epochs, two targets ---------------- */

static void aaar_lock_holder(struct Play *play)
{
    epochs_lock(&play->epochs, MPI_LOCK_EXCLUSIVE, 2);
    put(play, 2, 0);
    tell(play, 1);
    work(play);
    epochs_unlock(&play->epochs, 2);
    epochs_finish(&play->epochs);
}

static void aaar_lock_origin(struct Play *play)
{
    wait_for(play, 0);
    play->start = now_microseconds();
    lock_and_put(play, 2, 0);
    lock_and_put(play, 3, 0);
    epochs_finish(&play->epochs);
    record_done(play, SECOND, 1);
    record(play, BOTH);
}

/* --- Figure 9, A_A_E_R: late origin, target, target and then origin ------------------------- */

static void aaer_late_origin(struct Play *play)
{
    work(play);
    access_target(play, 2, 0);
    epochs_finish(&play->epochs);
}

static void aaer_target(struct Play *play)
{
    expose_to(play, 2);
    epochs_finish(&play->epochs);
    record_done(play, SECOND, 0);
}

static void aaer_between(struct Play *play)
{
    expose_to(play, 0);
    access_target(play, 1, 0);
    epochs_finish(&play->epochs);
    record(play, BOTH);
}

/* --- Figure 10, E_A_E_R: late origin, second origin, target --------------------------------- */

static void eaer_late_origin(struct Play *play)
{
    work(play);
    access_target(play, 2, 0);
    epochs_finish(&play->epochs);
}

static void eaer_second_origin(struct Play *play)
{
    access_target(play, 2, 1);
    epochs_finish(&play->epochs);
    record_done(play, SECOND, 0);
}

static void eaer_target(struct Play *play)
{
    expose_to(play, 0);
    expose_to(play, 1);
    epochs_finish(&play->epochs);
    record(play, BOTH);
}

/* --- Figure 11, E_A_A_R: late target, origin, origin and then target ------------------------ */

static void eaar_late_target(struct Play *play)
{
    work(play);
    expose_to(play, 2);
    epochs_finish(&play->epochs);
}

static void eaar_origin(struct Play *play)
{
    access_target(play, 2, 0);
    epochs_finish(&play->epochs);
    record_done(play, SECOND, 0);
}

static void eaar_between(struct Play *play)
{
    access_target(play, 0, 0);
    expose_to(play, 1);
    epochs_finish(&play->epochs);
    record(play, BOTH);
}

/* --- The table ------------------------------------------------------------------------------ */

const struct Pattern reordered[] = {
    {"aaar_gats",
     MEGABYTE,
     {aaar_gats_late_target, aaar_gats_second_target, aaar_gats_origin},
     SECOND,
     "sidelight_a_a_a_r",
     false,
     false},
    {"aaar_lock",
     MEGABYTE,
     {aaar_lock_holder, aaar_lock_origin, wait_passively, wait_passively},
     SECOND,
     "sidelight_a_a_a_r",
     false,
     false},
    {"aaer",
     MEGABYTE,
     {aaer_late_origin, aaer_target, aaer_between},
     SECOND,
     "sidelight_a_a_e_r",
     false,
     false},
    {"eaer",
     MEGABYTE,
     {eaer_late_origin, eaer_second_origin, eaer_target},
     SECOND,
     "sidelight_e_a_e_r",
     false,
     false},
    {"eaar",
     MEGABYTE,
     {eaar_late_target, eaar_origin, eaar_between},
     SECOND,
     "sidelight_e_a_a_r",
     false,
     false},
    {0},
};
