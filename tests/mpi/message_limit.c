/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive whose buffer is larger than SIDELIGHT_LARGE_MESSAGE ends while its process computes, as
 * the sender in synchronous mode sees; one that is not waits for the next call.
 *
 * message_limit [bytes]    the limit; 4096, which is the default */
#include "check.h"
#include "signals.h"

enum { SENDER, RECEIVER, ROUNDS = 5, MOST = 1 << 20 };

static char buffer[MOST];

static void exchange(const struct signals *signals, int bytes, bool above, int round)
{
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == SENDER) {
        check_hear(RECEIVER);
        CHECK_OK(MPI_Ssend(buffer, bytes, MPI_BYTE, RECEIVER, 1, MPI_COMM_WORLD));
        signal_to(signals, RECEIVER, round);
        return;
    }
    CHECK_OK(MPI_Irecv(buffer, bytes, MPI_BYTE, SENDER, 1, MPI_COMM_WORLD, &request));
    check_tell(SENDER);
    if (above) {
        compute_until(signals, round);
    } else {
        usleep(100000);
        CHECK(*signals->word != round);
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int const limit = (int)check_argument(argc, argv, 1, 4096);
    struct signals signals = make_signals();
    for (int round = 1; round <= ROUNDS; ++round) {
        exchange(&signals, limit + 1, true, 2 * round);
        exchange(&signals, limit, false, 2 * round + 1);
    }
    free_signals(&signals);
    return check_end();
}
