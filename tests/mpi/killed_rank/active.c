/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank dies in the middle of active messages, in a job whose launcher lets the others go on. The
 * seed says who: the origin of one while its segments run at their target (odd), or the target, in
 * a handler (even); every two of four seeds let messages run beside one another. On one node, where
 * the origin runs the handler itself, it dies inside it.
 *
 * Segments fit in no internal buffer, and the attached one holds two of them: a message gets in
 * only if what the dead one had of the buffer, of the turn and of the exclusion has come back.
 */
#include "survivors.h"
#include <sidelight.h>
#include <stddef.h>
#include <sys/time.h>

enum { TARGET, OTHER, VICTIM, RANKS };
enum { WORDS = 5000, BYTES = 8 * WORDS, SEGMENTS = 200, SHORT = 20, MICROSECONDS = 500 };
enum { LAST_OF_ORIGIN = 7, LAST_OF_TARGET = 30 };
/* What a segment says at its beginning. */
enum { SENDER, LAST_RANK, LAST_SEGMENT };

static struct window w;
static MPI_Op op;
static int64_t in[SEGMENTS][WORDS], out[SEGMENTS];
static char room[2 * (BYTES + 64)];

/* Whether it is time to die, in the middle of a message. A target waits until both of the others
 * have messages in; but no longer than one of them has a second message that ends with a loss. */
static bool is_last(const int64_t *said, int segment, const int64_t *counts)
{
    if (said[LAST_RANK] != check_rank || segment < said[LAST_SEGMENT])
        return false;
    return check_rank != TARGET || (counts[OTHER] > 0 && counts[VICTIM] > 0) ||
           counts[said[SENDER]] >= SEGMENTS + said[LAST_SEGMENT];
}

/* Counts the segments of each sender in the window, and ends the process where one says so. */
static void count(void *input, int in_count, MPI_Datatype in_type, void *memory, int cells,
                  MPI_Datatype type, void *output, int out_count, MPI_Datatype out_type,
                  int segments, int offset)
{
    int64_t *const counts = memory;
    (void)in_type, (void)cells, (void)type, (void)out_type;
    for (int i = 0; i < segments; ++i) {
        int64_t const *const said = (int64_t *)input + (ptrdiff_t)i * in_count;
        if (is_last(said, offset + i, counts))
            raise(SIGKILL);
        usleep(MICROSECONDS);
        __atomic_add_fetch(&counts[said[SENDER]], 1, __ATOMIC_SEQ_CST);
        ((int64_t *)output)[(ptrdiff_t)i * out_count] = ~(int64_t)(offset + i);
    }
}

/* Says who is to die in it, and at which segment at the earliest. */
static int send_message(int target, int segments, int last_rank, int last_segment,
                        MPI_Request *request)
{
    for (int i = 0; i < segments; ++i) {
        in[i][SENDER] = check_rank;
        in[i][LAST_RANK] = last_rank;
        in[i][LAST_SEGMENT] = last_segment;
        out[i] = 0;
    }
    return request == NULL
               ? MPIX_Am(in, WORDS, MPI_INT64_T, out, 1, MPI_INT64_T, segments, target, MPI_INT64_T,
                         0, RANKS, MPI_INT64_T, MPI_INT64_T, op, w.win)
               : MPIX_Ram(in, WORDS, MPI_INT64_T, out, 1, MPI_INT64_T, segments, target,
                          MPI_INT64_T, 0, RANKS, MPI_INT64_T, MPI_INT64_T, op, w.win, request);
}

static void check_answers(int segments)
{
    for (int i = 0; i < segments; ++i)
        CHECK_EQ(out[i], ~(int64_t)i);
}

/* A whole message among survivors, in time. */
static void exchange(int target, int assertion)
{
    double const begin = check_seconds();
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, assertion, w.win));
    CHECK_OK(send_message(target, SHORT, -1, 0, NULL));
    CHECK_OK(MPI_Win_flush(target, w.win));
    check_answers(SHORT);
    CHECK_OK(MPI_Win_unlock(target, w.win));
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
}

static int64_t counted(int sender)
{
    return __atomic_load_n((int64_t *)w.base + sender, __ATOMIC_SEQ_CST);
}

/* Nobody has anything of the buffer any more, and it can be attached again. */
static void detach_and_attach(void)
{
    double const begin = check_seconds();
    CHECK_OK(MPIX_Am_win_buffer_detach(w.win));
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
    CHECK_OK(MPIX_Am_win_buffer_attach(room, sizeof room, w.win));
}

/* The end of the victim: by its handler where that runs here. */
static void send_and_die_inside(int assertion)
{
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, assertion, w.win);
    send_message(TARGET, SEGMENTS, VICTIM, LAST_OF_ORIGIN, NULL);
    raise(SIGKILL); /* not reached */
}

/* Else by its clock, once the other one has seen segments of its message: one message follows the
 * other until then. */
static void send_and_die(int assertion, uint64_t seed)
{
    struct itimerval const timer = {{0, 0}, {0, 5000 + (int)(check_random(&seed) % 50000)}};
    int seen = 0;
    signal(SIGALRM, SIG_DFL);
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, assertion, w.win);
    for (;;) {
        MPI_Request request = MPI_REQUEST_NULL;
        send_message(TARGET, SEGMENTS, -1, 0, &request);
        for (int over = 0; !over; usleep(100)) {
            MPI_Test(&request, &over, MPI_STATUS_IGNORE);
            if (seen)
                continue;
            MPI_Iprobe(OTHER, 77, MPI_COMM_WORLD, &seen, MPI_STATUS_IGNORE);
            if (seen)
                setitimer(ITIMER_REAL, &timer, NULL);
        }
    }
}

static void wait_for_segments(int sender, int assertion)
{
    int64_t begun = 0, zero = 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, assertion, w.win));
    while (begun == 0) {
        CHECK_OK(MPI_Fetch_and_op(&zero, &begun, MPI_INT64_T, TARGET,
                                  window_at(&w, TARGET, 8 * sender), MPI_NO_OP, w.win));
        CHECK_OK(MPI_Win_flush(TARGET, w.win));
    }
    CHECK_OK(MPI_Win_unlock(TARGET, w.win));
}

/* Returns when this rank has been told that the victim is dead. */
static void wait_for_death(void)
{
    int64_t const none = 0;
    bool const locked = MPI_Win_lock(MPI_LOCK_SHARED, VICTIM, 0, w.win) == MPI_SUCCESS;
    int code = MPI_SUCCESS;
    while (locked && code == MPI_SUCCESS) {
        code =
            MPI_Put(&none, 1, MPI_INT64_T, VICTIM, window_at(&w, VICTIM, 0), 1, MPI_INT64_T, w.win);
        if (code == MPI_SUCCESS)
            code = MPI_Win_flush(VICTIM, w.win);
    }
    if (locked)
        CHECK_ERROR(MPI_Win_unlock(VICTIM, w.win), LOSS);
}

/* The other one's message goes in though it came behind that of the dead one. */
static void origin_dies(int assertion, bool by_handler)
{
    int64_t zero = 0;
    if (check_rank == OTHER) {
        wait_for_segments(VICTIM, assertion);
        if (!by_handler)
            check_tell(VICTIM);
        exchange(TARGET, assertion);
        MPI_Send(&zero, 1, MPI_INT64_T, TARGET, 1, MPI_COMM_WORLD);
        MPI_Recv(&zero, 1, MPI_INT64_T, TARGET, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        exchange(TARGET, assertion);
        MPI_Send(&zero, 1, MPI_INT64_T, TARGET, 3, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv(&zero, 1, MPI_INT64_T, OTHER, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(counted(OTHER), SHORT);
    if (by_handler)
        CHECK_EQ(counted(VICTIM), LAST_OF_ORIGIN);
    else
        wait_for_death(); /* until then it may send more */
    detach_and_attach();
    int64_t const run = counted(VICTIM);
    MPI_Send(&zero, 1, MPI_INT64_T, OTHER, 2, MPI_COMM_WORLD);
    MPI_Recv(&zero, 1, MPI_INT64_T, OTHER, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(counted(OTHER), 2 * SHORT);
    CHECK_EQ(counted(VICTIM), run);
}

/* Serves the others until it dies in one of their handlers. */
_Noreturn static void serve_and_die(void)
{
    for (;;)
        MPI_Recv(NULL, 0, MPI_BYTE, OTHER, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* never sent */
}

/* A message to who may be dead already. */
static void send_to_dying(MPI_Request *request)
{
    int const code = send_message(TARGET, SEGMENTS, TARGET, LAST_OF_TARGET, request);
    CHECK(code == MPI_SUCCESS || is_loss(code));
}

/* Whoever has sent to it is told: who is in its handler, and who waits for room there. */
static void target_dies(int assertion)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int const other = check_rank == OTHER ? VICTIM : OTHER;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, assertion, w.win));
    MPI_Sendrecv(&request, 0, MPI_INT, other, 7, &request, 0, MPI_INT, other, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    double const begin = check_seconds();
    send_to_dying(NULL);
    send_to_dying(&request);
    CHECK_ERROR(MPI_Win_flush(TARGET, w.win), LOSS);
    if (request != MPI_REQUEST_NULL) /* it was alive when that was sent */
        CHECK_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), LOSS);
    CHECK_ERROR(send_message(TARGET, 1, -1, 0, NULL), LOSS);
    CHECK_ERROR(MPI_Win_unlock(TARGET, w.win), LOSS);
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
    check_step("active messages among survivors");
    MPI_Sendrecv(&request, 0, MPI_INT, other, 4, &request, 0, MPI_INT, other, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    exchange(other, assertion);
    MPI_Sendrecv(&request, 0, MPI_INT, other, 5, &request, 0, MPI_INT, other, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(counted(other), SHORT);
    detach_and_attach();
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    uint64_t const seed = check_argument(argc, argv, 1, 1);
    int const assertion = seed / 2 % 2 == 0 ? 0 : MPIX_MODE_CONCURRENT_AM;
    bool const one_node = window_is_on_one_node(MPI_COMM_WORLD);
    bool const kills_target = !one_node && seed % 2 == 0;
    CHECK_EQ(check_size, RANKS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of requests */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * RANKS, 8);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    CHECK_OK(MPIX_Am_op_create(count, &op));
    CHECK_OK(MPIX_Am_win_op_register(op, w.win));
    CHECK_OK(MPIX_Am_win_buffer_attach(room, sizeof room, w.win));
    memset(w.base, 0, 8 * RANKS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (kills_target && check_rank == TARGET)
        serve_and_die();
    if (!kills_target && check_rank == VICTIM && one_node)
        send_and_die_inside(assertion);
    if (!kills_target && check_rank == VICTIM)
        send_and_die(assertion, seed);
    check_step(kills_target ? "the target dies" : "an origin dies");
    if (!kills_target)
        origin_dies(assertion, one_node);
    else
        target_dies(assertion);
    if (!one_node) { /* there nobody is told, and it would wait */
        double const begin = check_seconds();
        check_step("freeing the window");
        CHECK_ERROR(MPI_Win_free(&w.win), LOSS);
        CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
    }
    sit_down();
}
