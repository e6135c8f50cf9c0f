/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates of rows, long and short, beside accumulates of single elements, on the same memory of
 * rank 0: no update is lost, whatever turns they come in. Rows lie one after the other or apart;
 * what a fetching call brings back never decreases. Argument: rounds per rank.
 */
#include "windows.h"
#include <complex.h>

enum { ELEMENTS = 4096, LARGEST = 16, SINGLES = 200, LONGEST_SHORT = 40, WAYS = 6 };

static int rounds = 200;

struct type {
    const char *name;
    MPI_Datatype type;
    size_t size;
};

static double read_number(const struct type *t, const void *memory, int index)
{
    if (t->type == MPI_INT64_T)
        return (double)((const int64_t *)memory)[index];
    if (t->type == MPI_INT32_T)
        return ((const int32_t *)memory)[index];
    if (t->type == MPI_DOUBLE)
        return ((const double *)memory)[index];
    if (t->type == MPI_FLOAT)
        return ((const float *)memory)[index];
    return creal(((const double complex *)memory)[index]);
}

static void write_number(const struct type *t, void *memory, int index, int value)
{
    if (t->type == MPI_INT64_T)
        ((int64_t *)memory)[index] = value;
    else if (t->type == MPI_INT32_T)
        ((int32_t *)memory)[index] = value;
    else if (t->type == MPI_DOUBLE)
        ((double *)memory)[index] = value;
    else if (t->type == MPI_FLOAT)
        ((float *)memory)[index] = (float)value;
    else
        ((double complex *)memory)[index] = value;
}

struct storm {
    struct window *w;
    const struct type *t;
    MPI_Datatype every_other; /* half of the elements: long rows of short pieces */
    int64_t added[2];         /* by this rank: to all elements, to single ones and others */
    unsigned random;
    _Alignas(16) unsigned char ones[ELEMENTS * LARGEST];
    _Alignas(16) unsigned char before[ELEMENTS * LARGEST];
    double seen; /* of element 0 */
};

static unsigned draw(struct storm *s, unsigned below)
{
    s->random = s->random * 1103515245U + 12345U;
    return s->random / 65536U % below;
}

static void add_row(struct storm *s, bool fetch)
{
    MPI_Aint const at = window_at(s->w, 0, 0);
    MPI_Datatype const type = s->t->type;
    s->added[0] += 1;
    if (!fetch) {
        CHECK_OK(
            MPI_Accumulate(s->ones, ELEMENTS, type, 0, at, ELEMENTS, type, MPI_SUM, s->w->win));
        return;
    }
    CHECK_OK(MPI_Get_accumulate(s->ones, ELEMENTS, type, s->before, ELEMENTS, type, 0, at, ELEMENTS,
                                type, MPI_SUM, s->w->win));
    CHECK_OK(MPI_Win_flush(0, s->w->win));
    double const now = read_number(s->t, s->before, 0);
    if (now < s->seen)
        CHECK_EQ((long)now, (long)s->seen);
    s->seen = now;
}

static void add_every_other(struct storm *s)
{
    s->added[1] += ELEMENTS / 2;
    CHECK_OK(MPI_Accumulate(s->ones, ELEMENTS / 2, s->t->type, 0, window_at(s->w, 0, 0), 1,
                            s->every_other, MPI_SUM, s->w->win));
}

static void add_singles(struct storm *s, bool fetch)
{
    for (int i = 0; i < SINGLES; ++i) {
        MPI_Aint const at = window_at(s->w, 0, (MPI_Aint)(draw(s, ELEMENTS) * s->t->size));
        if (fetch)
            CHECK_OK(MPI_Fetch_and_op(s->ones, s->before, s->t->type, 0, at, MPI_SUM, s->w->win));
        else
            CHECK_OK(
                MPI_Accumulate(s->ones, 1, s->t->type, 0, at, 1, s->t->type, MPI_SUM, s->w->win));
    }
    s->added[1] += SINGLES;
}

static void add_short_rows(struct storm *s)
{
    for (int i = 0; i < SINGLES; ++i) {
        int const count = 2 + (int)draw(s, LONGEST_SHORT - 1);
        int const first = (int)draw(s, (unsigned)(ELEMENTS - count));
        MPI_Aint const at = window_at(s->w, 0, (MPI_Aint)((size_t)first * s->t->size));
        MPI_Datatype const type = s->t->type;
        if (draw(s, 2) == 0)
            CHECK_OK(MPI_Accumulate(s->ones, count, type, 0, at, count, type, MPI_SUM, s->w->win));
        else
            CHECK_OK(MPI_Get_accumulate(s->ones, count, type, s->before, count, type, 0, at, count,
                                        type, MPI_SUM, s->w->win));
        s->added[1] += count;
    }
}

static void add(struct storm *s)
{
    switch (draw(s, WAYS)) {
    case 0:
        add_singles(s, false);
        break;
    case 1:
        add_singles(s, true);
        break;
    case 2:
        add_every_other(s);
        break;
    case 3:
        add_short_rows(s);
        break;
    default:
        for (unsigned rows = draw(s, 4); rows > 0; --rows)
            add_row(s, draw(s, 2) == 0);
    }
    CHECK_OK(MPI_Win_flush(0, s->w->win));
}

static void compare(struct storm *s)
{
    int64_t all[2];
    MPI_Allreduce(s->added, all, 2, MPI_INT64_T, MPI_SUM, s->w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, s->w->win));
    for (int i = 0; s->w->rank == 0 && i < ELEMENTS; ++i) {
        double const now = read_number(s->t, s->w->base, i);
        all[1] -= (int64_t)now - all[0];
    }
    CHECK_OK(MPI_Win_unlock(0, s->w->win));
    if (s->w->rank == 0 && all[1] != 0)
        fprintf(stderr, "%s, %s: %ld updates are lost, %ld rows\n", flavor_names[s->w->flavor],
                s->t->name, (long)all[1], (long)all[0]);
    CHECK_EQ(s->w->rank == 0 ? all[1] : 0, 0);
}

static void test(enum flavor flavor, const struct type *t)
{
    static struct storm s;
    check_step(t->name);
    struct window w = window_open(flavor, MPI_COMM_WORLD, ELEMENTS * LARGEST, 1);
    s = (struct storm){.w = &w, .t = t, .random = (unsigned)check_rank + 1};
    for (int i = 0; i < ELEMENTS; ++i)
        write_number(t, s.ones, i, 1);
    MPI_Type_vector(ELEMENTS / 128, 64, 128, t->type, &s.every_other);
    MPI_Type_commit(&s.every_other);
    MPI_Barrier(w.comm);
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    for (int round = 0; round < rounds; ++round)
        add(&s);
    CHECK_OK(MPI_Win_unlock_all(w.win));
    MPI_Barrier(w.comm);
    compare(&s);
    MPI_Barrier(w.comm);
    MPI_Type_free(&s.every_other);
    window_close(&w);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {{"int64", 8}, {"int32", 4}, {"double", 8}, {"float", 4}, {"complex", 16}};
    check_begin(&argc, &argv);
    if (argc > 1)
        rounds = atoi(argv[1]);
    MPI_Datatype const types[] = {MPI_INT64_T, MPI_INT32_T, MPI_DOUBLE, MPI_FLOAT,
                                  MPI_C_DOUBLE_COMPLEX};
    for (enum flavor flavor = 0; flavor < FLAVORS; ++flavor)
        for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
            test(flavor, &(struct type){sizes[i].name, types[i], sizes[i].size});
    return check_end();
}
