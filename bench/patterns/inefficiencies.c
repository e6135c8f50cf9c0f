/* SPDX-License-Identifier: BSD-3-Clause */
/* The five patterns in which standard calls make a process wait for the delay of another. */
#include "play.h"

#include <stddef.h>

/* --- Figure 2, Late Post: target, partner of what follows, origin --------------------------- */

static void late_post_target(struct Play *play)
{
    if (play->kind != ACTIVITY_ALONE) {
        work(play);
        expose_to(play, 2);
        epochs_finish(&play->epochs);
    }
}

static void late_post_partner(struct Play *play)
{
    MPI_Recv(play->arrive, MEGABYTE, MPI_BYTE, 2, 0, play->comm, MPI_STATUS_IGNORE);
}

static void late_post_origin(struct Play *play)
{
    if (play->kind != ACTIVITY_ALONE) {
        access_target(play, 0, 0);
    }
    MPI_Send(play->data, MEGABYTE, MPI_BYTE, 1, 0, play->comm);
    record(play, ACTIVITY);
    epochs_finish(&play->epochs);
    if (play->kind != ACTIVITY_ALONE) {
        record_done(play, EPOCH, 0);
    }
    record(play, BOTH);
}

/* --- Figure 3, Late Complete: origin, target ------------------------------------------------ */

/* The target is never late, not even by the time that its post takes to arrive: an origin that
 * computes would not see it. */

static void late_complete_origin(struct Play *play)
{
    wait_for(play, 1);
    epochs_start(&play->epochs, 1);
    put(play, 1, 0);
    work_before_closing(play);
    epochs_complete(&play->epochs);
    work_after_closing(play);
    epochs_finish(&play->epochs);
    record(play, OTHER);
}

static void late_complete_target(struct Play *play)
{
    epochs_post(&play->epochs, 0);
    tell(play, 0);
    epochs_wait(&play->epochs);
    epochs_finish(&play->epochs);
    record_done(play, EPOCH, 0);
}

/* --- Figure 4, Early Fence: origin, target -------------------------------------------------- */

static void early_fence_origin(struct Play *play)
{
    if (play->kind != ACTIVITY_ALONE) {
        put(play, 1, 0);
        epochs_fence(&play->epochs);
        epochs_finish(&play->epochs);
        record(play, OTHER);
    }
}

static void early_fence_target(struct Play *play)
{
    if (play->kind != ACTIVITY_ALONE) {
        epochs_fence(&play->epochs);
    }
    work(play);
    record(play, ACTIVITY);
    epochs_finish(&play->epochs);
    record(play, BOTH);
}

/* --- Figure 5, Wait at Fence: origin, target ------------------------------------------------ */

static void wait_at_fence_origin(struct Play *play)
{
    put(play, 1, 0);
    work_before_closing(play);
    epochs_fence(&play->epochs);
    work_after_closing(play);
    epochs_finish(&play->epochs);
    record(play, OTHER);
}

static void wait_at_fence_target(struct Play *play)
{
    epochs_fence(&play->epochs);
    epochs_finish(&play->epochs);
    record_done(play, EPOCH, 0);
}

/* --- Figure 6, Late Unlock: first holder, who asks second, target, further holder ----------- */

static void hold(struct Play *play, int type, int slot)
{
    epochs_lock(&play->epochs, type, 2);
    put(play, 2, slot);
    tell(play, 1);
    work_before_closing(play);
    epochs_unlock(&play->epochs, 2);
    work_after_closing(play);
    epochs_finish(&play->epochs);
    record(play, FIRST);
}

static void late_unlock_holder(struct Play *play) { hold(play, MPI_LOCK_EXCLUSIVE, 0); }

static void late_unlock_sharer(struct Play *play) { hold(play, MPI_LOCK_SHARED, 0); }

/* A holder that does not work, whose epoch is over soon. */
static void late_unlock_prompt_sharer(struct Play *play)
{
    epochs_lock(&play->epochs, MPI_LOCK_SHARED, 2);
    put(play, 2, 1);
    epochs_unlock(&play->epochs, 2);
    epochs_finish(&play->epochs);
}

static void late_unlock_requester(struct Play *play)
{
    wait_for(play, 0);
    play->start = now_microseconds();
    lock_and_put(play, 2, 0);
    epochs_finish(&play->epochs);
    record(play, SECOND);
}

/* --- The table ------------------------------------------------------------------------------ */

#define LATE_COMPLETE(size)                                                                        \
    {                                                                                              \
        "late_complete_" #size, size, {late_complete_origin, late_complete_target}, EPOCH, NULL,   \
            false, false                                                                           \
    }
#define WAIT_AT_FENCE(size)                                                                        \
    {                                                                                              \
        "wait_at_fence_" #size, size, {wait_at_fence_origin, wait_at_fence_target}, EPOCH, NULL,   \
            true, false                                                                            \
    }
#define EARLY_FENCE(size)                                                                          \
    {                                                                                              \
        "early_fence_" #size, size, {early_fence_origin, early_fence_target}, FIGURES, NULL, true, \
            true                                                                                   \
    }

const struct Pattern inefficiencies[] = {
    {"late_post",
     MEGABYTE,
     {late_post_target, late_post_partner, late_post_origin},
     ACTIVITY,
     NULL,
     false,
     true},
    LATE_COMPLETE(4),
    LATE_COMPLETE(256),
    LATE_COMPLETE(4096),
    LATE_COMPLETE(65536),
    LATE_COMPLETE(262144),
    LATE_COMPLETE(1048576),
    EARLY_FENCE(262144),
    EARLY_FENCE(1048576),
    WAIT_AT_FENCE(4),
    WAIT_AT_FENCE(256),
    WAIT_AT_FENCE(4096),
    WAIT_AT_FENCE(65536),
    WAIT_AT_FENCE(262144),
    WAIT_AT_FENCE(1048576),
    {"late_unlock",
     MEGABYTE,
     {late_unlock_holder, late_unlock_requester, wait_passively},
     SECOND,
     NULL,
     false,
     false},
    {"late_unlock_shared",
     MEGABYTE,
     {late_unlock_sharer, late_unlock_requester, wait_passively, late_unlock_prompt_sharer},
     SECOND,
     NULL,
     false,
     false},
    {0},
};
