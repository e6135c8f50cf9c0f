/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All others put to rank 0, into an allocated window and one of its own memory, small and long, and
 * notify it of each put. It looks at the counters all the time: a counter must never show more puts
 * than are wholly there, and in the end each shows all, and none twice. When all of a round are
 * there, the origin hears of it by a notification and begins the next one.
 *
 * notified_storm [puts of all together]
 */
#include <sched.h>

#include "windows.h"
#include <sidelight.h>

enum { SLOTS = 32, WINDOWS = 2, LONGEST = 5000, ORIGINS = 15 };

/* What one origin and rank 0 know of one window. */
struct stream {
    int origin;
    struct window *w;
    int number;      /* of the window */
    MPI_Count round; /* from 1; those before are all there */
};

static int64_t source[WINDOWS][SLOTS][LONGEST];
static long looks;

/* Words of a put: mostly one, some of kilobytes, a few of more than a message holds. */
static int length_of(const struct stream *s, int slot)
{
    uint64_t state = ((uint64_t)s->round * SLOTS + (uint64_t)slot) * WINDOWS + (uint64_t)s->number +
                     ((uint64_t)s->origin << 40);
    uint64_t const drawn = check_random(&state) % 100;
    return drawn < 80   ? 1
           : drawn < 96 ? 2 + (int)(check_random(&state) % 1000)
                        : LONGEST - (int)(check_random(&state) % 100);
}

static int64_t tag_of(const struct stream *s, int slot)
{
    return (int64_t)s->round * 1000000 + s->origin * 1000 + slot;
}

static size_t words_before(const struct stream *s, int slot)
{
    return ((size_t)(s->origin - 1) * SLOTS + (size_t)slot) * LONGEST;
}

static void put_round(struct stream *s)
{
    for (int slot = 0; slot < SLOTS; ++slot) {
        int64_t *const from = source[s->number][slot];
        int const length = length_of(s, slot);
        for (int i = 0; i < length; ++i)
            from[i] = tag_of(s, slot);
        CHECK_OK(MPI_Put_notify(from, length, MPI_INT64_T, 0,
                                window_at(s->w, 0, (MPI_Aint)(8 * words_before(s, slot))), length,
                                MPI_INT64_T, s->origin, s->w->win));
    }
}

static void be_origin(struct window *w, long rounds)
{
    MPI_Request heard[WINDOWS];
    for (MPI_Count round = 1; round <= rounds; ++round) {
        for (int number = 0; number < WINDOWS; ++number) {
            struct stream s = {check_rank, &w[number], number, round};
            CHECK_OK(MPIX_Win_notify_ithreshold(w[number].win, 0, round, &heard[number]));
            put_round(&s);
        }
        CHECK_OK(MPI_Waitall(WINDOWS, heard, MPI_STATUSES_IGNORE));
        for (int number = 0; number < WINDOWS; ++number)
            CHECK_OK(MPI_Win_flush_local(0, w[number].win));
    }
}

static bool is_whole(const struct stream *s, int slot)
{
    volatile const int64_t *const words =
        (volatile const int64_t *)s->w->base + words_before(s, slot);
    int const length = length_of(s, slot);
    for (int i = 0; i < length; ++i)
        if (words[i] != tag_of(s, slot))
            return false;
    return true;
}

/* The value first, then the data. Answers whether the round is over. */
static bool look_at(struct stream *s)
{
    MPI_Count value = -1;
    int whole = 0;
    CHECK_OK(MPI_Win_get_notify_value(s->w->win, s->origin, &value));
    MPI_Count const shown = value - (s->round - 1) * SLOTS;
    CHECK(shown >= 0 && shown <= SLOTS);
    if (shown == 0)
        return false;
    for (int slot = 0; slot < SLOTS; ++slot)
        whole += is_whole(s, slot);
    CHECK(whole >= shown);
    ++looks;
    return shown == SLOTS;
}

static void be_target(struct window *w, int origins, long rounds)
{
    struct stream streams[ORIGINS * WINDOWS];
    int open = 0;
    for (int origin = 1; origin <= origins; ++origin)
        for (int number = 0; number < WINDOWS; ++number)
            streams[open++] = (struct stream){origin, &w[number], number, 1};
    while (open != 0) {
        int const before = open;
        for (int k = 0; k < open; ++k) {
            struct stream *const s = &streams[k];
            if (!look_at(s))
                continue;
            CHECK_OK(MPI_Put_notify(NULL, 0, MPI_BYTE, s->origin, window_at(s->w, s->origin, 0), 0,
                                    MPI_BYTE, 0, s->w->win));
            if (++s->round > rounds)
                *s = streams[--open];
        }
        if (before == open)
            sched_yield();
    }
}

int main(int argc, char **argv)
{
    struct window w[WINDOWS];
    check_begin(&argc, &argv);
    long const puts = (long)check_argument(argc, argv, 1, 20000);
    int const origins = check_size - 1;
    long const rounds = 1 + puts / ((long)origins * SLOTS * WINDOWS);
    CHECK(origins >= 1 && origins <= ORIGINS);
    for (int number = 0; number < WINDOWS; ++number) {
        MPI_Aint const bytes = check_rank == 0 ? 8L * origins * SLOTS * LONGEST : 8;
        w[number] =
            window_open(number == 0 ? FLAVOR_ALLOCATE : FLAVOR_CREATE, MPI_COMM_WORLD, bytes, 1);
        CHECK_OK(
            MPI_Win_set_num_notify(w[number].win, MPI_INFO_NULL, check_rank == 0 ? check_size : 1));
        CHECK_OK(MPI_Win_lock_all(0, w[number].win));
    }
    check_step("the storm");
    if (check_rank == 0)
        be_target(w, origins, rounds);
    else
        be_origin(w, rounds);
    for (int number = 0; number < WINDOWS; ++number) {
        CHECK_OK(MPI_Win_flush_all(w[number].win));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int origin = 1; check_rank == 0 && origin <= origins; ++origin) {
            MPI_Count value = -1;
            CHECK_OK(MPI_Win_get_notify_value(w[number].win, origin, &value));
            CHECK_EQ(value, rounds * SLOTS);
        }
        CHECK_OK(MPI_Win_unlock_all(w[number].win));
        window_close(&w[number]);
    }
    if (check_rank == 0)
        printf("%ld puts, looked at %ld times\n", rounds * SLOTS * WINDOWS * origins, looks);
    return check_end();
}
