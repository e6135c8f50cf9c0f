/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's own messages and collectives move on while a process computes. A rank that computes
 * here does so until the other one has written into its memory what it writes only after its own
 * call; without progress that never happens.
 *
 *     message_progress [LEVEL]     the level that the program asks for, 0 to 3; none: MPI_Init;
 *                                  "environment": MPI_Init, and the environment says 3;
 *                                  "resumed": MPI_Init, behind a choice of no progress
 */
#include "check.h"
#include "signals.h"

#include <sidelight.h>

/* Those of Open MPI get no steps. */
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
#define HAS_PARTITIONS
#endif

enum { FIRST, SECOND, ROUNDS = 10, BYTES = 1 << 20 };

static char *out, *in;

static void fill(int round)
{
    for (int i = 0; i < BYTES; ++i)
        out[i] = (char)(i * 31 + round);
    memset(in, 0, BYTES);
}

static void check_data(int round)
{
    int wrong = 0;
    for (int i = 0; i < BYTES; ++i)
        wrong += in[i] != (char)(i * 31 + round);
    CHECK_EQ(wrong, 0);
}

/* The sender is in MPI_Send, the receiver computes. */
static void receiver_computes(const struct signals *signals, int round)
{
    MPI_Request request;
    if (check_rank == FIRST) {
        check_hear(SECOND);
        CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, SECOND, 1, MPI_COMM_WORLD));
        signal_to(signals, SECOND, round);
    } else {
        CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request));
        check_tell(FIRST);
        compute_until(signals, round);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_data(round);
    }
}

/* The sender computes, the receiver is in MPI_Recv. */
static void sender_computes(const struct signals *signals, int round)
{
    MPI_Request request;
    if (check_rank == FIRST) {
        CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, SECOND, 2, MPI_COMM_WORLD, &request));
        compute_until(signals, round);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        usleep(500);
        CHECK_OK(MPI_Recv(in, BYTES, MPI_BYTE, FIRST, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_data(round);
        signal_to(signals, FIRST, round);
    }
}

/* A message that is taken by its handle. */
static void matched(const struct signals *signals, int round)
{
    MPI_Request request;
    MPI_Message message;
    if (check_rank == FIRST) {
        CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, SECOND, 3, MPI_COMM_WORLD));
        signal_to(signals, SECOND, round);
    } else {
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Imrecv(in, BYTES, MPI_BYTE, &message, &request));
        compute_until(signals, round);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_data(round);
    }
}

static void persistent(const struct signals *signals, int round)
{
    static MPI_Request requests[2];
    if (round % 100 == 0 && check_rank == SECOND)
        CHECK_OK(MPI_Recv_init(in, BYTES, MPI_BYTE, FIRST, 4, MPI_COMM_WORLD, &requests[0]));
    if (check_rank == FIRST) {
        check_hear(SECOND);
        CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, SECOND, 4, MPI_COMM_WORLD));
        signal_to(signals, SECOND, round);
        return;
    }
    if (round % 2 == 0)
        CHECK_OK(MPI_Start(&requests[0]));
    else
        CHECK_OK(MPI_Startall(1, requests));
    check_tell(FIRST);
    compute_until(signals, round);
    if (round % 2 == 0) {
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    } else {
        int index = -1;
        requests[1] = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
        CHECK_EQ(index, 0);
    }
    check_data(round);
    CHECK(requests[0] != MPI_REQUEST_NULL);
    if (round % 100 == ROUNDS - 1)
        CHECK_OK(MPI_Request_free(&requests[0]));
}

/* Both compute until the other has come out of its wait: but one of them waits. */
static void collective(const struct signals *signals, int round)
{
    MPI_Request request;
    const int waits = round % 2 == 0 ? FIRST : SECOND;
    CHECK_OK(
        MPI_Ialltoall(out, BYTES / 2, MPI_BYTE, in, BYTES / 2, MPI_BYTE, MPI_COMM_WORLD, &request));
    if (check_rank == waits) {
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        signal_to(signals, 1 - check_rank, round);
    } else {
        compute_until(signals, round);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_EQ(in[BYTES - 1], (char)((BYTES / 2 * check_rank + BYTES / 2 - 1) * 31 + round));
}

#ifdef HAS_PARTITIONS
enum { PARTITIONS = 8 };

static void partitioned(const struct signals *signals, int round)
{
    MPI_Request request;
    if (check_rank == FIRST) {
        CHECK_OK(MPI_Psend_init(out, PARTITIONS, BYTES / PARTITIONS, MPI_BYTE, SECOND, 5,
                                MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        for (int i = 0; i < PARTITIONS; ++i)
            CHECK_OK(MPI_Pready((3 * i) % PARTITIONS, request));
        compute_until(signals, round);
    } else {
        CHECK_OK(MPI_Precv_init(in, PARTITIONS, BYTES / PARTITIONS, MPI_BYTE, FIRST, 5,
                                MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_data(round);
        signal_to(signals, FIRST, round);
    }
    if (check_rank == FIRST)
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
}
#endif

/* What was chosen before MPI_Init holds until something else is. */
static void resumed(const struct signals *signals, int round)
{
    MPI_Request request;
    if (check_rank == FIRST) {
        check_hear(SECOND);
        CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, SECOND, 6, MPI_COMM_WORLD));
        signal_to(signals, SECOND, round);
    } else {
        CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, FIRST, 6, MPI_COMM_WORLD, &request));
        check_tell(FIRST);
        usleep(100000);
        CHECK(*signals->word != round);
        CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_SMART));
        compute_until(signals, round);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_data(round);
        CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_CALLS));
    }
}

static void check_kind(const struct signals *signals,
                       void (*kind)(const struct signals *, int round), const char *name, int first)
{
    check_step(name);
    for (int round = first; round < first + ROUNDS; ++round) {
        fill(round);
        MPI_Barrier(MPI_COMM_WORLD);
        kind(signals, round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What the program sees of threads is what it has asked for. */
static void check_level(int asked)
{
    int level = -1, is_main = 0;
    check_step("level");
    CHECK_OK(MPI_Query_thread(&level));
    CHECK_EQ(level, asked);
    CHECK_OK(MPI_Is_thread_main(&is_main));
    CHECK_EQ(is_main, 1);
}

int main(int argc, char **argv)
{
    struct signals signals;
    int provided = -1;
    const bool by_environment = argc > 1 && strcmp(argv[1], "environment") == 0;
    const bool chooses = argc > 1 && strcmp(argv[1], "resumed") == 0;
    const bool by_call = argc > 1 && !by_environment && !chooses;
    const int asked = by_environment ? MPI_THREAD_MULTIPLE
                                     : (int)check_argument(argc, argv, 1, MPI_THREAD_SINGLE);
    if (chooses)
        CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_CALLS));
    if (by_call)
        MPI_Init_thread(&argc, &argv, asked, &provided);
    else
        MPI_Init(&argc, &argv);
    check_begin_initialised();
    if (by_call)
        CHECK_EQ(provided, asked);
    check_level(asked);
    out = malloc(BYTES);
    in = malloc(BYTES);
    signals = make_signals();
    if (chooses) {
        check_kind(&signals, resumed, "resumed", 0);
        CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_SMART));
    }
    check_kind(&signals, receiver_computes, "receiver computes", 100);
    check_kind(&signals, sender_computes, "sender computes", 200);
    check_kind(&signals, matched, "matched", 300);
    check_kind(&signals, persistent, "persistent", 400);
    check_kind(&signals, collective, "collective", 500);
#ifdef HAS_PARTITIONS
    check_kind(&signals, partitioned, "partitioned", 600);
#endif
    free_signals(&signals);
    free(out);
    free(in);
    return check_end();
}
