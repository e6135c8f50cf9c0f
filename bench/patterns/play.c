/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "play.h"

#include <time.h>

void sleep_until(double moment)
{
    const struct timespec time = {(time_t)(moment / 1e6),
                                  (long)(1e3 * (moment - 1e6 * (double)(time_t)(moment / 1e6)))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

void work(const struct Play *play)
{
    const double end = now_microseconds() + play->delay;
    if (play->kind == PROMPT) {
        return;
    }
    if (play->sleeps) {
        sleep_until(end);
    }
    while (now_microseconds() < end) {
    }
}

void work_before_closing(const struct Play *play)
{
    if (!play->epochs.nonblocking) {
        work(play);
    }
}

void work_after_closing(const struct Play *play)
{
    if (play->epochs.nonblocking) {
        work(play);
    }
}

void record(struct Play *play, enum Figure figure)
{
    play->figures[figure] = now_microseconds() - play->start;
}

void record_done(struct Play *play, enum Figure figure, int which)
{
    play->figures[figure] = play->epochs.done[which] - play->start;
}

void put(const struct Play *play, int target, int slot)
{
    MPI_Put(play->data, play->bytes, MPI_BYTE, target, (MPI_Aint)slot * MEGABYTE, play->bytes,
            MPI_BYTE, play->epochs.win);
}

void access_target(struct Play *play, int target, int slot)
{
    epochs_start(&play->epochs, target);
    put(play, target, slot);
    epochs_complete(&play->epochs);
}

void expose_to(struct Play *play, int origin)
{
    epochs_post(&play->epochs, origin);
    epochs_wait(&play->epochs);
}

void lock_and_put(struct Play *play, int target, int slot)
{
    epochs_lock(&play->epochs, MPI_LOCK_EXCLUSIVE, target);
    put(play, target, slot);
    epochs_unlock(&play->epochs, target);
}

void wait_passively(struct Play *play) { (void)play; }

void tell(const struct Play *play, int role) { MPI_Send(NULL, 0, MPI_BYTE, role, 0, play->comm); }

void wait_for(const struct Play *play, int role)
{
    MPI_Recv(NULL, 0, MPI_BYTE, role, 0, play->comm, MPI_STATUS_IGNORE);
}
