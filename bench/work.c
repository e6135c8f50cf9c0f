/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "work.h"

#include "measure.h"

#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile uint64_t sink;

static void turn(long turns)
{
    uint64_t value = sink;
    for (long i = 0; i < turns; ++i) {
        value = value * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(value));
    }
    sink = value;
}

struct Work work_begin(bool sleeps)
{
    enum { TRIALS = 9, TURNS = 1000000 };
    double quickest = 1e9;
    for (int i = 0; i < TRIALS; ++i) {
        const double start = now_microseconds();
        turn(TURNS);
        const double taken = now_microseconds() - start;
        quickest = taken < quickest ? taken : quickest;
    }
    return (struct Work){TURNS / quickest, sleeps};
}

void work_for(const struct Work *work, double microseconds)
{
    if (!work->sleeps) {
        turn((long)(microseconds * work->turns));
    } else if (microseconds >= 1) {
        prctl(PR_SET_TIMERSLACK, 1L); /* else it takes 50 us more */
        usleep((useconds_t)microseconds);
        prctl(PR_SET_TIMERSLACK, 0L); /* the default: threads that the thread makes inherit it */
    }
}

double work_until(const struct Work *work, double microseconds, bool (*has_come)(void *context),
                  void *context)
{
    const double end = now_microseconds() + microseconds;
    double left = microseconds;
    while (left > 0) {
        const double slice = work->sleeps ? 10 : 1;
        work_for(work, slice);
        left = work->sleeps ? end - now_microseconds() : left - slice;
        if (has_come(context)) {
            const double came = now_microseconds();
            work_for(work, left > 0 ? left : 0);
            return came;
        }
    }
    return 0;
}
