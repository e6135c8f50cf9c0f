/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes at the edges: mixed members, nothing at all, exactly the window, freed at once. */
#include "host_defects.h"
#include <float.h>
#include <stddef.h>

enum { BYTES = 4096 };

struct record {
    char tag;
    double value;
    short parts[3];
    int64_t number;
};

static MPI_Datatype record_type(void)
{
    int const lengths[] = {1, 1, 3, 1};
    MPI_Aint const at[] = {offsetof(struct record, tag), offsetof(struct record, value),
                           offsetof(struct record, parts), offsetof(struct record, number)};
    MPI_Datatype const members[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT64_T};
    MPI_Datatype plain, type;
    MPI_Type_create_struct(4, lengths, at, members, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct record), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&plain);
    return type;
}

static bool same(const struct record *a, const struct record *b)
{
    return a->tag == b->tag && a->value == b->value && a->number == b->number &&
           memcmp(a->parts, b->parts, sizeof a->parts) == 0;
}

/* Members of several types; the type is freed while the operation may still be on its way. */
static void records(struct window *w)
{
    struct record out[10], in[10];
    int const target = (w->rank + 1) % w->size;
    for (int i = 0; i < 10; ++i)
        out[i] = (struct record){(char)('a' + i), i / 4.0, {(short)i, -1, 7}, w->rank - 1000 * i};
    MPI_Datatype type = record_type();
    CHECK_OK(MPI_Put(out, 10, type, target, window_at(w, target, 0), 10, type, w->win));
    MPI_Type_free(&type);
    CHECK_OK(MPI_Win_flush(target, w->win));
    type = record_type();
    CHECK_OK(MPI_Get(in, 10, type, target, window_at(w, target, 0), 10, type, w->win));
    MPI_Type_free(&type);
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < 10; ++i)
        CHECK(same(&in[i], &out[i]));
}

struct headed {
    int64_t length;
    struct record records[60];
};

static MPI_Datatype headed_type(void)
{
    int const lengths[] = {1, 60};
    MPI_Aint const at[] = {offsetof(struct headed, length), offsetof(struct headed, records)};
    MPI_Datatype members[] = {MPI_INT64_T, record_type()};
    MPI_Datatype type;
    MPI_Type_create_struct(2, lengths, at, members, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&members[1]);
    return type;
}

/* A header and many records are one element; what comes may be less than what there is room for. */
static void headed(struct window *w)
{
    static struct headed out, in;
    int const target = (w->rank + 1) % w->size;
    MPI_Aint const there = window_at(w, target, 0);
    MPI_Datatype type = headed_type(), record = record_type();
    out.length = 60 + w->rank;
    for (int i = 0; i < 60; ++i)
        out.records[i] = (struct record){(char)i, -i / 8.0, {4, (short)-i, 9}, w->rank + 77 * i};
    CHECK_OK(MPI_Put(&out, 1, type, target, there, 1, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(&in, 1, type, target, there, 1, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_EQ(in.length, out.length);
    for (int i = 0; i < 60; ++i)
        CHECK(same(&in.records[i], &out.records[i]));
    if (!host_is_alone()) { /* MPICH adds what lies behind what is sent, too */
        for (int i = 0; i < 60; ++i)
            out.records[i].number = -i;
        CHECK_OK(MPI_Put(&out.length, 1, MPI_INT64_T, target, there, 1, type, w->win));
        CHECK_OK(MPI_Put(out.records, 40, record, target, there + 8, 60, record, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_OK(MPI_Get(&in, 1, type, target, there, 1, type, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        for (int i = 0; i < 60; ++i)
            CHECK_EQ(in.records[i].number, i < 40 ? -i : w->rank + 77 * i);
    }
    MPI_Type_free(&type);
    MPI_Type_free(&record);
}

/* Members scattered at the origin, packed at the target: the signature alone counts. */
static void packed(struct window *w)
{
    struct record const out = {'x', 2.5, {1, 2, 3}, -9};
    int const lengths[] = {1, 1, 3, 1};
    MPI_Aint const at[] = {0, 1, 9, 15};
    MPI_Datatype const members[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT64_T};
    MPI_Datatype tight, type = record_type();
    int const target = (w->rank + 1) % w->size;
    unsigned char expected[24] = {0}, in[24] = {0};
    MPI_Type_create_struct(4, lengths, at, members, &tight);
    MPI_Type_commit(&tight);
    CHECK_OK(MPI_Put(&out, 1, type, target, window_at(w, target, 1001), 1, tight, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(in, 23, MPI_BYTE, target, window_at(w, target, 1001), 23, MPI_BYTE, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    memcpy(expected, &out.tag, 1);
    memcpy(expected + 1, &out.value, 8);
    memcpy(expected + 9, out.parts, 6);
    memcpy(expected + 15, &out.number, 8);
    CHECK(memcmp(in, expected, sizeof in) == 0);
    MPI_Type_free(&tight);
    MPI_Type_free(&type);
}

/* Types without bytes, anywhere, even at the end of the window. */
static void nothing(struct window *w)
{
    int const zero = 0, far = 1 << 20;
    MPI_Datatype none, empty;
    int value = 7;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_indexed(1, &zero, &far, MPI_INT, &empty);
    MPI_Type_commit(&none);
    MPI_Type_commit(&empty);
    for (int target = 0; target < w->size; ++target) {
        MPI_Aint const end = window_at(w, target, BYTES);
        CHECK_OK(MPI_Put(&value, 3, none, target, end, 5, none, w->win));
        CHECK_OK(MPI_Put(&value, 0, MPI_INT, target, end, 2, empty, w->win));
        CHECK_OK(MPI_Get(&value, 1, none, target, end, 0, MPI_INT, w->win));
        CHECK_OK(MPI_Accumulate(&value, 1, none, target, end, 1, none, MPI_SUM, w->win));
        CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, target, end, 0, MPI_INT,
                                    MPI_NO_OP, w->win));
    }
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_EQ(value, 7);
    MPI_Type_free(&none);
    MPI_Type_free(&empty);
}

/* No elements of predefined types, inside of the memory and at its end, which change nothing; and
 * ranks, counts, types and operators are looked at as ever. */
static void no_elements(struct window *w)
{
    int const target = (w->rank + 1) % w->size, offsets[] = {0, 8, BYTES};
    int value = 7;
    for (int i = 0; i < 3; ++i) {
        MPI_Aint const at = window_at(w, target, offsets[i]);
        CHECK_OK(MPI_Put(NULL, 0, MPI_INT, target, at, 0, MPI_DOUBLE, w->win));
        CHECK_OK(MPI_Get(&value, 0, MPI_INT, target, at, 0, MPI_INT, w->win));
        CHECK_OK(MPI_Accumulate(NULL, 0, MPI_INT, target, at, 0, MPI_INT, MPI_BAND, w->win));
        CHECK_OK(MPI_Get_accumulate(&value, 0, MPI_INT, &value, 0, MPI_INT, target, at, 0, MPI_INT,
                                    MPI_SUM, w->win));
        CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
        CHECK_ERROR(MPI_Accumulate(&value, 0, MPI_INT, target, at, 0, MPI_INT, MPI_OP_NULL, w->win),
                    MPI_ERR_OP);
        CHECK_ERROR(MPI_Put(&value, 0, MPI_INT, w->size, at, 0, MPI_INT, w->win), MPI_ERR_RANK);
        CHECK_ERROR(MPI_Put(&value, 0, MPI_INT, target, at, -1, MPI_INT, w->win), MPI_ERR_COUNT);
        CHECK_ERROR(MPI_Put(&value, 0, MPI_DATATYPE_NULL, target, at, 0, MPI_INT, w->win),
                    MPI_ERR_TYPE);
        CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL));
    }
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_EQ(value, 7);
}

/* The last bytes of the window, and a type that reaches below its origin down to the first. */
static void bounds(struct window *w)
{
    int const target = (w->rank + 1) % w->size;
    int const lengths[] = {1, 1}, at[] = {-(BYTES / 4 - 1), 0};
    int ends[2] = {17, 18}, seen[2] = {0, 0};
    MPI_Datatype type;
    MPI_Type_indexed(2, lengths, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Put(ends, 2, MPI_INT, target, window_at(w, target, BYTES - 4), 1, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(&seen[0], 1, MPI_INT, target, window_at(w, target, 0), 1, MPI_INT, w->win));
    CHECK_OK(
        MPI_Get(&seen[1], 1, MPI_INT, target, window_at(w, target, BYTES - 4), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_EQ(seen[0], 17);
    CHECK_EQ(seen[1], 18);
    MPI_Type_free(&type);
}

/* Elements that touch, the last one first, under any bounds. */
static void backwards(struct window *w)
{
    int8_t out[4] = {1, 2, 3, 4}, in[4] = {0};
    int const target = (w->rank + 1) % w->size;
    MPI_Datatype shifted, type;
    MPI_Type_create_resized(MPI_INT8_T, -2, 1, &shifted);
    MPI_Type_vector(4, 1, -1, shifted, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Put(out, 4, MPI_INT8_T, target, window_at(w, target, 103), 1, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(in, 4, MPI_INT8_T, target, window_at(w, target, 100), 4, MPI_INT8_T, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < 4; ++i)
        CHECK_EQ(in[i], 4 - i);
    MPI_Type_free(&shifted);
    MPI_Type_free(&type);
}

/* MPI_BOTTOM with absolute addresses at the origin. */
static void absolute(struct window *w)
{
    int out[2] = {31, 32}, in[2] = {0, 0};
    int const target = (w->rank + 1) % w->size, length = 2;
    MPI_Aint address;
    MPI_Datatype type;
    MPI_Get_address(out, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Put(MPI_BOTTOM, 1, type, target, window_at(w, target, 64), 2, MPI_INT, w->win));
    MPI_Type_free(&type);
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(in, 2, MPI_INT, target, window_at(w, target, 64), 2, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_EQ(in[0], 31);
    CHECK_EQ(in[1], 32);
}

/* The same for the old values of an accumulate, whose place is then the address zero. */
static void absolute_result(struct window *w)
{
    int const before[2] = {41, 42}, add[2] = {100, 200};
    int old[2] = {0, 0}, after[2] = {0, 0};
    int const target = (w->rank + 1) % w->size, length = 2;
    MPI_Aint const at = window_at(w, target, 128);
    MPI_Aint address;
    MPI_Datatype type;
    MPI_Get_address(old, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Put(before, 2, MPI_INT, target, at, 2, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get_accumulate(add, 2, MPI_INT, MPI_BOTTOM, 1, type, target, at, 2, MPI_INT,
                                MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(after, 2, MPI_INT, target, at, 2, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < 2; ++i) {
        CHECK_EQ(old[i], before[i]);
        CHECK_EQ(after[i], before[i] + add[i]);
    }
    MPI_Type_free(&type);
}

enum { ROOM = 12 };

/* What lies at the target is read whole and compared, its first numbers with `expected`. */
static void holds(struct window *w, int target, MPI_Aint at, int const expected[ROOM])
{
    int in[ROOM];
    CHECK_OK(MPI_Get(in, ROOM, MPI_INT, target, at, ROOM, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < ROOM; ++i)
        CHECK_EQ(in[i], expected[i]);
}

/* What is sent has to fit where it goes, and need not fill it: as with messages (MPI-4.1, 12.3).
 * The types are two of each three numbers, so that seven of them end within an element. */
static void fits(struct window *w)
{
    int const target = (w->rank + 1) % w->size, sent[] = {1, 2, 3, 4, 5, 6, 7};
    MPI_Aint const at = window_at(w, target, 512 + 64 * w->rank);
    int none[ROOM] = {0}, in[ROOM] = {0}, old[ROOM] = {0};
    MPI_Datatype gaps, type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_create_resized(gaps, 0, 4 * sizeof(int), &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Put(none, ROOM, MPI_INT, target, at, ROOM, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));

    CHECK_OK(MPI_Put(sent, 5, MPI_INT, target, at, ROOM, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    holds(w, target, at, (int[ROOM]){1, 2, 3, 4, 5});
    CHECK_OK(MPI_Accumulate(sent, 2, MPI_INT, target, at, 4, MPI_INT, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    holds(w, target, at, (int[ROOM]){2, 4, 3, 4, 5});
    CHECK_OK(MPI_Put(none, ROOM, MPI_INT, target, at, ROOM, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));

    /* 1 . 2 . 3 . 4 . 5 . . . */
    CHECK_OK(MPI_Put(sent, 5, MPI_INT, target, at, 3, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    holds(w, target, at, (int[ROOM]){1, 0, 2, 0, 3, 0, 4, 0, 5});
    CHECK_OK(MPI_Accumulate(sent, 3, MPI_INT, target, at, 3, type, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    holds(w, target, at, (int[ROOM]){2, 0, 4, 0, 6, 0, 4, 0, 5});

    CHECK_OK(MPI_Get(in, 3, type, target, at, 5, MPI_INT, w->win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, old, ROOM, MPI_INT, target, at, 5, MPI_INT,
                                MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get_accumulate(sent, 0, MPI_INT, old, 5, MPI_INT, target, at, 5, MPI_INT, MPI_SUM,
                                w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    int const got[ROOM] = {2, 0, 0, 0, 4, 0, 0, 0, 6}, fetched[ROOM] = {2, 0, 4, 0, 6};
    for (int i = 0; i < ROOM; ++i) {
        CHECK_EQ(in[i], got[i]);
        CHECK_EQ(old[i], fetched[i]);
    }
    MPI_Type_free(&gaps);
    MPI_Type_free(&type);
}

/* Pairs without the bytes that a compiler leaves behind them, the last one at the window's end. */
static void packed_pairs(struct window *w)
{
    enum { PAIRS = 3, PACKED = sizeof(double) + sizeof(int) };
    int const target = (w->rank + 1) % w->size;
    MPI_Aint const at = window_at(w, target, BYTES - PAIRS * PACKED);
    unsigned char sent[PAIRS * PACKED], in[PAIRS * PACKED];
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_DOUBLE_INT, 0, PACKED, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < PAIRS; ++i) {
        double const value = 2.5 + i;
        int const index = 7 - i;
        memcpy(sent + i * PACKED, &value, sizeof value);
        memcpy(sent + i * PACKED + sizeof value, &index, sizeof index);
    }
    memset(in, 0, sizeof in);
    CHECK_OK(MPI_Put(in, PAIRS, type, target, at, PAIRS, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Accumulate(sent, 1, type, target, at, 1, type, MPI_MAXLOC, w->win));
    CHECK_OK(MPI_Accumulate(sent + PACKED, PAIRS - 1, type, target, at + PACKED / w->unit,
                            PAIRS - 1, type, MPI_MAXLOC, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Get(in, PAIRS, type, target, at, PAIRS, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK(memcmp(in, sent, sizeof in) == 0);
    MPI_Type_free(&type);
}

/* More of Fortran's types of some precision and range than a program is expected to have: of each
 * the host makes a handle. MPICH makes no more than 64. */
static void precise(struct window *w)
{
    int const target = (w->rank + 1) % w->size;
    MPI_Aint const at = window_at(w, target, 256 + 8 * w->rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int precision = 15; precision >= 1; --precision)
        for (int range = 1; range <= 30; ++range) {
            MPI_Datatype type;
            int size = 0;
            double const out = precision + range / 100.0;
            double in = 0;
            if (MPI_Type_create_f90_real(precision, range, &type) != MPI_SUCCESS)
                return;
            MPI_Type_size(type, &size);
            if (size != (int)sizeof out)
                continue;
            CHECK_OK(MPI_Put(&out, 1, type, target, at, 1, type, w->win));
            CHECK_OK(MPI_Win_flush(target, w->win));
            CHECK_OK(MPI_Get(&in, 1, type, target, at, 1, type, w->win));
            CHECK_OK(MPI_Win_flush(target, w->win));
            CHECK(in == out);
        }
}

/* More digits than a double has: computed as the host's compilers do. */
static void extended(struct window *w)
{
    int const target = (w->rank + 1) % w->size;
    MPI_Aint const at = window_at(w, target, 1024 + 32 * w->rank);
    long double const out[2] = {1.0L, -3.0L};
    long double in[2] = {0, 0};
    int size = 0;
    MPI_Datatype type;
    if (MPI_Type_create_f90_complex(LDBL_DIG, MPI_UNDEFINED, &type) != MPI_SUCCESS ||
        MPI_Type_size(type, &size) != MPI_SUCCESS || size != (int)sizeof out)
        return;
    CHECK_OK(MPI_Put(out, 1, type, target, at, 1, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Accumulate(out, 1, type, target, at, 1, type, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK_OK(MPI_Type_create_f90_real(LDBL_DIG, MPI_UNDEFINED, &type));
    CHECK_OK(MPI_Accumulate(out, 2, type, target, at, 2, type, MPI_SUM, w->win));
    CHECK_OK(MPI_Get(in, 2, type, target, at, 2, type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    CHECK(in[0] == 3.0L);
    CHECK(in[1] == -9.0L);
}

static void everything(struct window *w)
{
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    records(w);
    headed(w);
    packed(w);
    nothing(w);
    no_elements(w);
    bounds(w);
    if (!host_is_alone()) {
        backwards(w); /* Open MPI takes its own bounds of such a type for true */
        packed_pairs(w);
        fits(w); /* MPICH adds what lies behind what is sent, too */
    }
    absolute(w);
    absolute_result(w);
    precise(w);
    extended(w);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run_everywhere("datatype_edges", everything, BYTES, 1);
    return check_end();
}
