/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks hammer the same elements of rank 0, with every accumulating call and types of every
 * width: no update may be lost, and no value may be seen half written. Argument: rounds per rank.
 */
#include "host_defects.h"
#include <complex.h>

enum { COUNT = 5, STRIDE = 32 };

static int rounds = 400;

/* What one type needs: how to make the number one, and how to read a sum back. */
struct type {
    MPI_Datatype type;
    size_t size;
    const char *name;
};

static long double value_of(const struct type *t, const unsigned char *at)
{
    if (t->type == MPI_INT32_T)
        return *(const int32_t *)at;
    if (t->type == MPI_INT64_T)
        return (long double)*(const int64_t *)at;
    if (t->type == MPI_INT16_T)
        return *(const int16_t *)at;
    if (t->type == MPI_FLOAT)
        return *(const float *)at;
    if (t->type == MPI_LONG_DOUBLE)
        return *(const long double *)at;
    return *(const double *)at; /* and the real part of a complex number */
}

static void set_one(const struct type *t, unsigned char *at)
{
    memset(at, 0, t->size);
    if (t->type == MPI_INT32_T)
        *(int32_t *)at = 1;
    else if (t->type == MPI_INT64_T)
        *(int64_t *)at = 1;
    else if (t->type == MPI_INT16_T)
        *(int16_t *)at = 1;
    else if (t->type == MPI_FLOAT)
        *(float *)at = 1;
    else if (t->type == MPI_LONG_DOUBLE)
        *(long double *)at = 1;
    else if (t->type == MPI_DOUBLE)
        *(double *)at = 1;
    else
        *(double complex *)at = 1 + I;
}

/* Adds one to all elements, in one of the three ways. */
static void add_one(struct window *w, const struct type *t, int way)
{
    _Alignas(16) unsigned char ones[COUNT * STRIDE], before[COUNT * STRIDE];
    MPI_Aint const at = window_at(w, 0, 0);
    for (int i = 0; i < COUNT; ++i)
        set_one(t, ones + (size_t)i * t->size);
    if (way == 0)
        CHECK_OK(MPI_Accumulate(ones, COUNT, t->type, 0, at, COUNT, t->type, MPI_SUM, w->win));
    if (way == 1)
        CHECK_OK(MPI_Get_accumulate(ones, COUNT, t->type, before, COUNT, t->type, 0, at, COUNT,
                                    t->type, MPI_SUM, w->win));
    for (int i = 0; way == 2 && i < COUNT; ++i)
        CHECK_OK(MPI_Fetch_and_op(ones, before + (size_t)i * t->size, t->type, 0,
                                  window_at(w, 0, (MPI_Aint)((size_t)i * t->size)), MPI_SUM,
                                  w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
}

static void start_from_zero(struct window *w)
{
    window_meet(w);
    memset(w->base, 0, (size_t)w->bytes);
    window_meet(w);
}

static void sums(struct window *w, const struct type *t)
{
    start_from_zero(w);
    for (int k = 0; k < rounds; ++k)
        add_one(w, t, (w->rank + k) % 3);
    window_meet(w);
    for (int i = 0; w->rank == 0 && i < COUNT; ++i)
        if (!CHECK_EQ(value_of(t, w->base + (size_t)i * t->size), rounds * w->size))
            fprintf(stderr, "    type %s\n", t->name);
}

static void all_sums(struct window *w)
{
    struct type const types[] = {{MPI_INT32_T, sizeof(int32_t), "int32"},
                                 {MPI_INT64_T, sizeof(int64_t), "int64"},
                                 {MPI_INT16_T, sizeof(int16_t), "int16"},
                                 {MPI_FLOAT, sizeof(float), "float"},
                                 {MPI_DOUBLE, sizeof(double), "double"},
                                 {MPI_LONG_DOUBLE, sizeof(long double), "long double"},
                                 {MPI_C_DOUBLE_COMPLEX, sizeof(double complex), "complex"}};
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
        sums(w, &types[t]);
}

/* Every ticket is given once, and tickets of one rank grow. */
static void tickets(struct window *w)
{
    int64_t const one = 1;
    int64_t last = -1, mine = 0, all = 0;
    int64_t const given = (int64_t)rounds * w->size;
    start_from_zero(w);
    for (int k = 0; k < rounds; ++k) {
        int64_t ticket = -1;
        CHECK_OK(
            MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, window_at(w, 0, 8), MPI_SUM, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        CHECK(ticket > last && ticket < given);
        last = ticket;
        mine += ticket;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, w->comm);
    CHECK_EQ(all, given * (given - 1) / 2);
}

/* One more, by compare and swap until it succeeds. */
static void increment(struct window *w, MPI_Datatype type, MPI_Aint offset)
{
    int64_t expected = 0, found = -1;
    int32_t found32 = -1;
    bool const narrow = type == MPI_INT32_T;
    for (bool done = false; !done;) {
        int64_t const next = expected + 1;
        int32_t const next32 = (int32_t)next, expected32 = (int32_t)expected;
        CHECK_OK(MPI_Compare_and_swap(
            narrow ? (const void *)&next32 : &next, narrow ? (const void *)&expected32 : &expected,
            narrow ? (void *)&found32 : &found, type, 0, window_at(w, 0, offset), w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        if (narrow)
            found = found32;
        done = found == expected;
        expected = found;
    }
}

static void swaps(struct window *w)
{
    int64_t const one = 1;
    start_from_zero(w);
    for (int k = 0; k < rounds / 2; ++k) {
        increment(w, MPI_INT64_T, 0);
        increment(w, MPI_INT32_T, 12);
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, window_at(w, 0, 0), 1, MPI_INT64_T,
                                MPI_SUM, w->win));
    }
    window_meet(w);
    if (w->rank == 0) {
        int32_t const *const narrow = (const int32_t *)(w->base + 12);
        CHECK_EQ(*(const int64_t *)w->base, 2 * (rounds / 2) * w->size);
        CHECK_EQ(*narrow, rounds / 2 * w->size);
    }
}

/* Elements of one byte that share a word: neighbours must not write each other back. */
static void neighbours(struct window *w)
{
    int8_t const one = 1;
    int8_t before;
    start_from_zero(w);
    for (int k = 0; k < 100; ++k) {
        MPI_Aint const at = window_at(w, 0, w->rank);
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT8_T, 0, at, 1, MPI_INT8_T, MPI_SUM, w->win));
        CHECK_OK(
            MPI_Fetch_and_op(&one, &before, MPI_INT8_T, 0, window_at(w, 0, 16), MPI_BXOR, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
    }
    window_meet(w);
    for (int i = 0; w->rank == 0 && i < w->size; ++i)
        CHECK_EQ((int8_t)w->base[i], 100);
}

struct wide {
    double value;
    int index;
};

/* Both halves of a wide element always come from one writer. */
static void halves(struct window *w)
{
    struct wide mine = {0, 0}, seen;
    double complex number, other;
    MPI_Aint const first = window_at(w, 0, 0), second = window_at(w, 0, 32);
    start_from_zero(w);
    for (int k = 0; k < rounds; ++k) {
        mine.index = k * w->size + w->rank;
        mine.value = mine.index;
        number = mine.value + mine.value * I;
        CHECK_OK(MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, first, 1, MPI_DOUBLE_INT, MPI_REPLACE,
                                w->win));
        CHECK_OK(MPI_Fetch_and_op(NULL, &seen, MPI_DOUBLE_INT, 0, first, MPI_NO_OP, w->win));
        CHECK_OK(MPI_Get_accumulate(&number, 1, MPI_C_DOUBLE_COMPLEX, &other, 1,
                                    MPI_C_DOUBLE_COMPLEX, 0, second, 1, MPI_C_DOUBLE_COMPLEX,
                                    MPI_REPLACE, w->win));
        CHECK_OK(MPI_Win_flush(0, w->win));
        CHECK(seen.value == seen.index);
        CHECK(creal(other) == cimag(other));
    }
}

static void everything(struct window *w)
{
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    all_sums(w);
    tickets(w);
    swaps(w);
    neighbours(w);
    halves(w);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    rounds = (int)check_argument(argc, argv, 1, 400);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        check_step(flavor_names[flavor]);
        if (host_cannot("atomicity", (enum flavor)flavor, check_size))
            continue;
        struct window w =
            window_open((enum flavor)flavor, MPI_COMM_WORLD, COUNT * (MPI_Aint)STRIDE, 1);
        everything(&w);
        window_close(&w);
    }
    return check_end();
}
