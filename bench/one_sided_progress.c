/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts of one byte, each with a flush, while their target computes outside of MPI and while it
 * waits in a barrier (P2, figure 5), on an allocated window and on a dynamic one.
 *
 *     one_sided_progress [--quick] [LINE...]
 *
 * A line is a kind of window. Figures are microseconds for a put and its flush. The target computes
 * 30 for each: what takes longer was not performed before it came back.
 */
#define _GNU_SOURCE
#include "pair.h"

enum { PUTS = 100000, QUICK_PUTS = 10000, WARM_UP = 100, MICROSECONDS_FOR_EACH = 30 };

enum State { WAITS, COMPUTES, STATES };

static const char *const figures[STATES] = {"waits", "computes"};

static double time_puts(const struct PairWindow *window, int puts)
{
    const char byte = 1;
    const double start = now_microseconds();
    for (int i = 0; i < puts; ++i) {
        MPI_Put(&byte, 1, MPI_BYTE, TARGET, window->remote, 1, MPI_BYTE, window->win);
        MPI_Win_flush(TARGET, window->win);
    }
    return (now_microseconds() - start) / puts;
}

/* Collective: microseconds in the origin. */
static double measure_state(const struct Pair *pair, const struct PairWindow *window,
                            enum State state)
{
    const int puts = pair->quick ? QUICK_PUTS : PUTS;
    double taken = 0;
    if (pair->rank == ORIGIN) {
        time_puts(window, WARM_UP);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (pair->rank == ORIGIN) {
        taken = time_puts(window, puts);
    } else if (state == COMPUTES) {
        compute((double)puts * MICROSECONDS_FOR_EACH);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return taken;
}

int main(int argc, char **argv)
{
    const struct Pair pair = begin_pair(&argc, &argv);
    for (int dynamic = 0; dynamic < 2; ++dynamic) {
        const char *const name = dynamic ? "dynamic" : "allocated";
        double values[STATES];
        if (!begin_line(&pair, name)) {
            continue;
        }
        struct PairWindow window = make_window(4096, dynamic != 0);
        if (pair.rank == ORIGIN) {
            MPI_Win_lock_all(0, window.win);
        }
        for (int state = 0; state < STATES; ++state) {
            values[state] = measure_state(&pair, &window, (enum State)state);
        }
        print_line(&pair, name, figures, values, STATES);
        if (pair.rank == ORIGIN) {
            MPI_Win_unlock_all(window.win);
        }
        free_window(&window);
    }
    end_pair();
    return 0;
}
