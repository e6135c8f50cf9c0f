/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages whose datatypes differ at origin and target, drawn at random: what a handler gets
 * must be what was sent, and what it leaves what comes back, with nothing written beside it. And
 * its buffers are aligned, and holes of the target's memory need not be attached.
 *
 * active_layouts [cases [seed]]
 */
#include "windows.h"
#include <sidelight.h>
#include <stddef.h>
#include <stdint.h>

enum { KINDS = 6, MOST = 3, BYTES = 1 << 16, BEFORE = 64, CELLS = 64 };

/* Of ints: where each of an element lies. */
struct kind {
    int ints, at[MOST], extent;
    MPI_Datatype type;
};

static struct kind kinds[KINDS] = {
    {1, {0}, 4, MPI_DATATYPE_NULL},        {2, {0, 4}, 8, MPI_DATATYPE_NULL},
    {2, {0, 8}, 12, MPI_DATATYPE_NULL},    {1, {0}, 8, MPI_DATATYPE_NULL},
    {3, {8, 0, 4}, 12, MPI_DATATYPE_NULL}, {2, {-4, 4}, 12, MPI_DATATYPE_NULL},
};

static void make_types(void)
{
    for (int k = 0; k < KINDS; ++k) {
        MPI_Aint at[MOST];
        MPI_Datatype ints;
        int least = 0;
        for (int i = 0; i < kinds[k].ints; ++i) {
            at[i] = kinds[k].at[i];
            least = kinds[k].at[i] < least ? kinds[k].at[i] : least;
        }
        CHECK_OK(MPI_Type_create_hindexed_block(kinds[k].ints, 1, at, MPI_INT, &ints));
        CHECK_OK(MPI_Type_create_resized(ints, least, kinds[k].extent, &kinds[k].type));
        CHECK_OK(MPI_Type_commit(&kinds[k].type));
        MPI_Type_free(&ints);
    }
}

/* The int of that number in a row of elements. */
static int *int_at(void *row, const struct kind *kind, int number)
{
    return (int *)(void *)((char *)row + (number / kind->ints) * kind->extent +
                           kind->at[number % kind->ints]);
}

static int answer(int sum, int segment, int number)
{
    return (int)((unsigned)sum * 31 + (unsigned)segment * 7 + (unsigned)number);
}

/* Which kinds it gets is in the count of persistent elements. */
static void handler(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                    MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                    int segments, int offset)
{
    const struct kind *const from = &kinds[(count - 1) / 8], *const to = &kinds[(count - 1) % 8];
    (void)in_type, (void)memory, (void)type, (void)out_type;
    for (int s = 0; s < segments; ++s) {
        int sum = 0;
        for (int i = 0; i < in_count * from->ints; ++i)
            sum = (int)((unsigned)sum * 5 +
                        (unsigned)*int_at(in, from, s * in_count * from->ints + i));
        for (int i = 0; i < out_count * to->ints; ++i)
            *int_at(out, to, s * out_count * to->ints + i) = answer(sum, offset + s, i);
    }
}

/* One side: so many elements of a kind at the target, and as many ints of another here. */
struct side {
    int target_kind, kind, count, ints;
};

static struct side draw_side(uint64_t *random, bool may_be_none)
{
    struct side side = {0};
    side.target_kind = (int)(check_random(random) % KINDS);
    int const elements = (int)(check_random(random) % 5);
    side.ints = elements * kinds[side.target_kind].ints;
    if (side.ints == 0 && !may_be_none)
        side.ints = kinds[side.target_kind].ints;
    do
        side.kind = (int)(check_random(random) % KINDS);
    while (side.ints % kinds[side.kind].ints != 0);
    side.count = side.ints / kinds[side.kind].ints;
    return side;
}

static void run_case(const struct window *w, MPI_Op op, uint64_t *random)
{
    static _Alignas(16) char in[BYTES], out[BYTES], expected[BYTES];
    struct side const input = draw_side(random, true), output = draw_side(random, true);
    int const segments = 1 + (int)(check_random(random) % (check_random(random) % 8 == 0 ? 90 : 5));
    int const target = (int)(check_random(random) % (unsigned)w->size);
    memset(in, 0x33, sizeof in);
    memset(out, 0x5a, sizeof out);
    memset(expected, 0x5a, sizeof expected);
    for (int s = 0; s < segments; ++s) {
        int sum = 0;
        for (int i = 0; i < input.ints; ++i) {
            int const value = (int)(check_random(random) % 100000);
            *int_at(in + BEFORE, &kinds[input.kind], s * input.ints + i) = value;
            sum = (int)((unsigned)sum * 5 + (unsigned)value);
        }
        for (int i = 0; i < output.ints; ++i)
            *int_at(expected + BEFORE, &kinds[output.kind], s * output.ints + i) =
                answer(sum, s, i);
    }
    CHECK_OK(MPIX_Am(in + BEFORE, input.count, kinds[input.kind].type, out + BEFORE, output.count,
                     kinds[output.kind].type, segments, target, kinds[input.target_kind].type,
                     window_at(w, target, 0), input.target_kind * 8 + output.target_kind + 1,
                     MPI_INT, kinds[output.target_kind].type, op, w->win));
    CHECK_OK(MPI_Win_flush_local(target, w->win));
    CHECK(memcmp(out, expected, sizeof out) == 0);
}

/* Its first member stays at home. */
struct sparse {
    int unsent, sent;
    double value;
};

/* Says where its buffers lie. */
static void where(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                  MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                  int offset)
{
    (void)in_count, (void)in_type, (void)count, (void)type, (void)out_count, (void)out_type;
    (void)segments, (void)offset;
    ((int *)memory)[0] = (int)((uintptr_t)in % _Alignof(struct sparse));
    ((int *)memory)[1] = (int)((uintptr_t)out % _Alignof(struct sparse));
}

static void check_where(const struct window *w, int target, const void *in, void *out,
                        MPI_Datatype type, MPI_Op op)
{
    int found[2] = {1, 1};
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
    CHECK_OK(MPIX_Am(in, 1, type, out, 1, type, 1, target, type, window_at(w, target, 0), 2,
                     MPI_INT, type, op, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(found, 2, MPI_INT, target, window_at(w, target, 0), 2, MPI_INT, w->win));
    CHECK_OK(MPI_Win_unlock(target, w->win));
    CHECK(found[0] == 0 && found[1] == 0);
}

/* The buffers of handlers, wherever those of the program lie. */
static void check_alignment(const struct window *w, MPI_Op op)
{
    static _Alignas(struct sparse) char in[64], out[64];
    int const lengths[2] = {1, 1};
    MPI_Aint const at[2] = {offsetof(struct sparse, sent), offsetof(struct sparse, value)};
    MPI_Datatype const members[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype data, type;
    CHECK_OK(MPI_Type_create_struct(2, lengths, at, members, &data));
    CHECK_OK(MPI_Type_create_resized(data, 0, sizeof(struct sparse), &type));
    CHECK_OK(MPI_Type_commit(&type));
    for (int target = 0; target < w->size; ++target) {
        check_where(w, target, in, out, type, op);
        check_where(w, target, in, out, MPI_DOUBLE, op);
        check_where(w, target, in + 1, out + 1, MPI_DOUBLE, op);
    }
    MPI_Type_free(&data);
    MPI_Type_free(&type);
}

/* Adds what it gets to an int on either side of memory that is not attached. */
static void add_apart(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                      MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                      int segments, int offset)
{
    (void)in_count, (void)in_type, (void)count, (void)type, (void)out, (void)out_count;
    (void)out_type, (void)segments, (void)offset;
    ((int *)memory)[0] += ((int *)in)[0];
    ((int *)memory)[CELLS] += ((int *)in)[1];
}

/* A third piece, between them, where nothing is attached: no handler may see it. */
static void check_third_piece(MPI_Win win, MPI_Op op, const MPI_Aint *at, int size)
{
    int const lengths[3] = {1, 1, 1}, places[3] = {0, CELLS / 2, CELLS}, sent[3] = {3, 4, 5};
    MPI_Datatype type;
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int target = 0; target < size; ++target) {
        int const code = MPIX_Am(sent, 3, MPI_INT, NULL, 0, MPI_INT, 1, target, MPI_INT, at[target],
                                 1, type, MPI_INT, op, win);
        CHECK_ERROR(code != MPI_SUCCESS ? code : MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE);
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Type_free(&type);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A target datatype over two attached regions, with a hole between them that is not. */
static void check_apart(MPI_Op op)
{
    static int cells[CELLS + 1];
    int const lengths[2] = {1, 1}, places[2] = {0, CELLS}, sent[2] = {3, 5};
    int size;
    MPI_Aint at[WINDOW_MOST_RANKS], here;
    MPI_Datatype type;
    MPI_Win win;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPIX_Am_win_op_register(op, win));
    CHECK_OK(MPI_Win_attach(win, &cells[0], sizeof(int)));
    CHECK_OK(MPI_Win_attach(win, &cells[CELLS], sizeof(int)));
    MPI_Get_address(cells, &here);
    MPI_Allgather(&here, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    CHECK_OK(MPI_Type_indexed(2, lengths, places, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int target = 0; target < size; ++target)
        CHECK_OK(MPIX_Am(sent, 2, MPI_INT, NULL, 0, MPI_INT, 1, target, MPI_INT, at[target], 1,
                         type, MPI_INT, op, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(cells[0], 3 * size);
    CHECK_EQ(cells[CELLS], 5 * size);
    MPI_Type_free(&type);
    check_third_piece(win, op, at, size);
    CHECK_EQ(cells[0], 3 * size);
    CHECK_EQ(cells[CELLS], 5 * size);
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MPI_Op op, where_op, apart_op;
    check_begin(&argc, &argv);
    long const cases = argc > 1 ? atol(argv[1]) : 1000;
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    random += (uint64_t)check_rank * 1000003;
    make_types();
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 4 * CELLS, 4);
    CHECK_OK(MPIX_Am_op_create(handler, &op));
    CHECK_OK(MPIX_Am_win_op_register(op, w.win));
    CHECK_OK(MPIX_Am_op_create(where, &where_op));
    CHECK_OK(MPIX_Am_win_op_register(where_op, w.win));
    check_step("alignment");
    check_alignment(&w, where_op);
    check_step("random layouts");
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    for (long number = 0; number < cases && check_failures == 0; ++number)
        run_case(&w, op, &random);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    window_close(&w);
    check_step("regions that are apart");
    CHECK_OK(MPIX_Am_op_create(add_apart, &apart_op));
    check_apart(apart_op);
    for (int k = 0; k < KINDS; ++k)
        MPI_Type_free(&kinds[k].type);
    return check_end();
}
