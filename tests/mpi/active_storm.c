/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank sends small active messages to rank 0, which write down in lists there who has run
 * them: with every value of am_ordering, by handles of their own; with two handlers; about one list
 * or about all memory; with and without output. After each round the lists are compared with what
 * must hold: every segment is there once, the segments of a message in their order with nothing of
 * another one between them, messages in the order that their handle asks for. In every fourth round
 * epochs assert that messages may run beside one another, all but those of rank 1.
 *
 * active_storm [messages of all together [threads of each rank]]
 */
#include <pthread.h>

#include "windows.h"
#include <sidelight.h>
#include <stddef.h>

enum { LISTS = 3, ORDERS = 5, MOST_THREADS = 8, MOST_SEGMENTS = 3, PER_ROUND = 400 };
enum { MOST_SENDERS = 64, LIST_WORDS = 1 << 16 };

static const char *const orders[ORDERS] = {"sameop,diffop,sameam", "sameop", "diffop", "none",
                                           "sameop,sameam"};
static const bool keeps_same[ORDERS] = {true, true, false, false, true};
static const bool keeps_other[ORDERS] = {true, false, true, false, false};

/* The window: some words, then lists, each with its length first. */
enum { EXCLUSIVE, BESIDE, BROKEN, HEAD = 8, WORDS = HEAD + LISTS * LIST_WORDS };

/* What a segment says; of its message all but `segment` is the same. */
struct said {
    int32_t sender, order, handler, list, number, segment, segments, concurrent;
    int64_t first; /* where the words of the window begin, before the list */
};

static struct window w;
static MPI_Win by_order[ORDERS];
static MPI_Op ops[2];
static int threads = 1;
static int round_number;

/* --- At the target ---------------------------------------------------------------------------- */

static int64_t packed(const struct said *s, int segment)
{
    return (int64_t)s->number << 24 | s->sender << 16 | s->order << 12 | s->handler << 8 |
           segment << 4 | s->segments;
}

/* Messages that exclude all others write plainly: if they do not, the lists show it. */
static void write_down(const struct said *s, int64_t *words, int segment)
{
    int64_t *const list = words + HEAD + (ptrdiff_t)s->list * LIST_WORDS;
    int64_t place;
    if (s->concurrent) {
        __atomic_add_fetch(&words[BESIDE], 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&words[EXCLUSIVE], __ATOMIC_SEQ_CST) != 0)
            __atomic_add_fetch(&words[BROKEN], 1, __ATOMIC_RELAXED);
        place = __atomic_add_fetch(list, 1, __ATOMIC_RELAXED);
        list[place] = packed(s, segment);
        __atomic_sub_fetch(&words[BESIDE], 1, __ATOMIC_SEQ_CST);
        return;
    }
    int64_t const me = (int64_t)s->number << 8 | (s->sender + 1);
    if (words[EXCLUSIVE] != (segment == 0 ? 0 : me) || words[BESIDE] != 0)
        ++words[BROKEN];
    words[EXCLUSIVE] = segment == s->segments - 1 ? 0 : me;
    list[++list[0]] = packed(s, segment);
}

static void run(const struct said *s, int64_t *memory, int64_t *out, int out_count, int segments,
                int offset)
{
    for (int i = 0; i < segments; ++i) {
        write_down(&s[i], memory - s[i].first, offset + i);
        if (s[i].segment != offset + i)
            ++(memory - s[i].first)[BROKEN];
        if (out_count > 0)
            out[i * out_count] = ~packed(&s[i], offset + i);
    }
}

static void first_handler(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                          MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                          int segments, int offset)
{
    (void)in_count, (void)in_type, (void)count, (void)type, (void)out_type;
    run(in, memory, out, out_count, segments, offset);
}

static void second_handler(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                           MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                           int segments, int offset)
{
    first_handler(in, in_count, in_type, memory, count, type, out, out_count, out_type, segments,
                  offset);
}

/* --- At the origins --------------------------------------------------------------------------- */

struct sender {
    pthread_t thread;
    int number;
    bool concurrent;
    uint64_t random;
    struct said in[PER_ROUND][MOST_SEGMENTS];
    int64_t out[PER_ROUND][MOST_SEGMENTS];
    bool has_output[PER_ROUND];
};

static void send_one(struct sender *me, int number)
{
    int const list = (int)(check_random(&me->random) % LISTS);
    bool const whole = check_random(&me->random) % 8 == 0;
    int const segments = 1 + (int)(check_random(&me->random) % MOST_SEGMENTS);
    int const order = (int)(check_random(&me->random) % ORDERS);
    int const handler = (int)(check_random(&me->random) % 2);
    bool const output = check_random(&me->random) % 3 == 0;
    int const first = whole ? 0 : HEAD + list * LIST_WORDS;
    me->has_output[number] = output;
    for (int i = 0; i < segments; ++i) {
        me->in[number][i] = (struct said){.sender = me->number,
                                          .order = order,
                                          .handler = handler,
                                          .list = list,
                                          .number = number,
                                          .segment = i,
                                          .segments = segments,
                                          .concurrent = me->concurrent,
                                          .first = first};
        me->out[number][i] = 0;
    }
    CHECK_OK(MPIX_Am(me->in[number], sizeof(struct said), MPI_BYTE, output ? me->out[number] : NULL,
                     output, MPI_INT64_T, segments, 0, MPI_BYTE,
                     window_at(&w, 0, 8 * (MPI_Aint)first), whole ? WORDS : LIST_WORDS, MPI_INT64_T,
                     MPI_INT64_T, ops[handler], by_order[order]));
}

static void *send_round(void *argument)
{
    struct sender *const me = argument;
    for (int number = 0; number < PER_ROUND; ++number) {
        send_one(me, number);
        if (check_random(&me->random) % 32 == 0)
            CHECK_OK(check_random(&me->random) % 2 == 0 ? MPI_Win_flush(0, w.win)
                                                        : MPI_Win_flush_local(0, w.win));
    }
    CHECK_OK(MPI_Win_flush(0, w.win));
    for (int number = 0; number < PER_ROUND; ++number)
        for (int i = 0; i < me->in[number][0].segments; ++i)
            if (me->has_output[number])
                CHECK_EQ(me->out[number][i], ~packed(&me->in[number][i], i));
    return NULL;
}

/* --- What must hold --------------------------------------------------------------------------- */

/* The latest that was seen of a sender by one handle. */
struct seen {
    int latest[2]; /* by handler */
};

static bool beside_others(int sender) { return round_number % 4 == 3 && sender / threads != 1; }

static void check_order(int sender, int order, int handler, int number, struct seen *seen)
{
    if (keeps_same[order])
        CHECK(number > seen->latest[handler]);
    if (keeps_other[order])
        CHECK(number > seen->latest[1 - handler]);
    if (number > seen->latest[handler])
        seen->latest[handler] = number;
    (void)sender;
}

static void check_list(const int64_t *list, unsigned char (*times)[PER_ROUND][MOST_SEGMENTS])
{
    static struct seen seen[MOST_SENDERS][ORDERS];
    memset(seen, -1, sizeof seen);
    for (int64_t i = 1; i <= list[0]; ++i) {
        int const number = (int)(list[i] >> 24), sender = (int)(list[i] >> 16 & 255);
        int const order = (int)(list[i] >> 12 & 15), handler = (int)(list[i] >> 8 & 15);
        int const segment = (int)(list[i] >> 4 & 15), segments = (int)(list[i] & 15);
        if (!CHECK(sender < w.size * threads && number < PER_ROUND && segment < segments &&
                   order < ORDERS && handler < 2))
            return;
        ++times[sender][number][segment];
        if (segment == 0)
            check_order(sender, order, handler, number, &seen[sender][order]);
        else if (!beside_others(sender))
            CHECK_EQ(list[i], list[i - 1] + 16);
    }
}

static void check_round(struct sender *mine)
{
    static unsigned char times[MOST_SENDERS][PER_ROUND][MOST_SEGMENTS];
    static int32_t segments[MOST_SENDERS][PER_ROUND];
    static int32_t own[MOST_THREADS][PER_ROUND];
    for (int t = 0; t < threads; ++t)
        for (int number = 0; number < PER_ROUND; ++number)
            own[t][number] = mine[t].in[number][0].segments;
    MPI_Gather(own, threads * PER_ROUND, MPI_INT32_T, segments, threads * PER_ROUND, MPI_INT32_T, 0,
               w.comm);
    if (w.rank == 0) {
        CHECK_OK(MPI_Win_sync(w.win));
        int64_t *const words = (int64_t *)w.base;
        memset(times, 0, sizeof times);
        for (int list = 0; list < LISTS; ++list)
            check_list(words + HEAD + (ptrdiff_t)list * LIST_WORDS, times);
        for (int sender = 0; sender < w.size * threads; ++sender)
            for (int number = 0; number < PER_ROUND; ++number)
                for (int i = 0; i < MOST_SEGMENTS; ++i)
                    CHECK_EQ(times[sender][number][i], i < segments[sender][number]);
        CHECK_EQ(words[BROKEN], 0);
        CHECK(words[EXCLUSIVE] == 0 && words[BESIDE] == 0);
        for (int list = 0; list < LISTS; ++list)
            words[HEAD + (ptrdiff_t)list * LIST_WORDS] = 0;
        words[BROKEN] = 0;
        CHECK_OK(MPI_Win_sync(w.win));
    }
    MPI_Barrier(w.comm);
}

static void one_round(struct sender *mine)
{
    bool const beside = beside_others(w.rank * threads);
    check_step("a round");
    CHECK_OK(MPI_Win_lock_all(beside ? MPIX_MODE_CONCURRENT_AM : 0, w.win));
    for (int t = 0; t < threads; ++t)
        mine[t].concurrent = beside;
    for (int t = 1; t < threads; ++t)
        CHECK_EQ(pthread_create(&mine[t].thread, NULL, send_round, &mine[t]), 0);
    send_round(&mine[0]);
    for (int t = 1; t < threads; ++t)
        pthread_join(mine[t].thread, NULL);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    check_step("the end of a round");
    MPI_Barrier(w.comm);
    check_round(mine);
    ++round_number;
}

int main(int argc, char **argv)
{
    long const messages = argc > 1 ? atol(argv[1]) : 20000;
    threads = argc > 2 ? atoi(argv[2]) : 1;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    check_begin_initialised();
    if (threads > 1 && provided < MPI_THREAD_MULTIPLE)
        return check_skip("the host has no MPI_THREAD_MULTIPLE");
    w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * WORDS, 8);
    static unsigned char room[4096];
    CHECK_OK(MPIX_Am_win_buffer_attach(room, sizeof room, w.win));
    CHECK_OK(MPIX_Am_op_create(first_handler, &ops[0]));
    CHECK_OK(MPIX_Am_op_create(second_handler, &ops[1]));
    for (int i = 0; i < 2; ++i)
        CHECK_OK(MPIX_Am_win_op_register(ops[i], w.win));
    for (int order = 0; order < ORDERS; ++order) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "am_ordering", orders[order]);
        CHECK_OK(MPIX_Win_dup_with_info(w.win, info, &by_order[order]));
        MPI_Info_free(&info);
    }
    struct sender *const mine = calloc((size_t)threads, sizeof *mine);
    for (int t = 0; t < threads; ++t) {
        mine[t].number = w.rank * threads + t;
        mine[t].random = (uint64_t)(7919 * (mine[t].number + 1));
    }
    long const each = (long)PER_ROUND * threads * w.size;
    MPI_Barrier(w.comm);
    for (long sent = 0; sent < messages; sent += each)
        one_round(mine);
    free(mine);
    for (int order = 0; order < ORDERS; ++order)
        CHECK_OK(MPI_Win_free(&by_order[order]));
    CHECK_OK(MPIX_Am_win_buffer_detach(w.win));
    window_close(&w);
    for (int i = 0; i < 2; ++i)
        CHECK_OK(MPI_Op_free(&ops[i]));
    return check_end();
}
