/* SPDX-License-Identifier: BSD-3-Clause */
/* The first message of a job comes to a rank that computes from the start: it has not been heard of
 * in any call of that rank's before. With a thread for progress it is served nevertheless. */
#include "check.h"
#include "signals.h"

enum { COMPUTING, CALLING, VALUE = 7 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    struct signals signals = make_signals();
    if (check_rank == COMPUTING) {
        check_step("computing");
        compute_until(&signals, VALUE);
    } else if (check_rank == CALLING) {
        check_step("a lock at a rank that computes");
        usleep(50000); /* whoever has made the window does not look after it any more */
        signal_to(&signals, COMPUTING, VALUE);
    }
    free_signals(&signals);
    return check_end();
}
