/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every predefined reduction with every predefined type that it is defined for, as accumulate,
 * get_accumulate and fetch_and_op. What MPI_Reduce_local makes of the same values is the model.
 */
#include "host_defects.h"
#include <complex.h>

enum kind { INTEGER, REAL, COMPLEX, LOGICAL, BYTES, PAIR };

struct type {
    MPI_Datatype type;
    enum kind kind;
    size_t size; /* of one element in memory, padding included */
    const char *name;
};

struct pair_double {
    double value;
    int index;
};
struct pair_float {
    float value;
    int index;
};
struct pair_long {
    long value;
    int index;
};
struct pair_int {
    int value;
    int index;
};
struct pair_short {
    short value;
    int index;
};
struct pair_long_double {
    long double value;
    int index;
};

enum { COUNT = 7, LARGEST = 32, MOST_BYTES = COUNT * LARGEST };

#define TYPE(mpi_type, kind, c_type)                                                               \
    {                                                                                              \
        mpi_type, kind, sizeof(c_type), #mpi_type                                                  \
    }

static int types(struct type *list)
{
    struct type const all[] = {TYPE(MPI_CHAR, INTEGER, char),
                               TYPE(MPI_SIGNED_CHAR, INTEGER, signed char),
                               TYPE(MPI_UNSIGNED_CHAR, INTEGER, char),
                               TYPE(MPI_SHORT, INTEGER, short),
                               TYPE(MPI_UNSIGNED_SHORT, INTEGER, short),
                               TYPE(MPI_INT, INTEGER, int),
                               TYPE(MPI_UNSIGNED, INTEGER, int),
                               TYPE(MPI_LONG, INTEGER, long),
                               TYPE(MPI_UNSIGNED_LONG, INTEGER, long),
                               TYPE(MPI_LONG_LONG, INTEGER, long long),
                               TYPE(MPI_UNSIGNED_LONG_LONG, INTEGER, long long),
                               TYPE(MPI_INT8_T, INTEGER, int8_t),
                               TYPE(MPI_INT16_T, INTEGER, int16_t),
                               TYPE(MPI_INT32_T, INTEGER, int32_t),
                               TYPE(MPI_INT64_T, INTEGER, int64_t),
                               TYPE(MPI_UINT8_T, INTEGER, uint8_t),
                               TYPE(MPI_UINT16_T, INTEGER, uint16_t),
                               TYPE(MPI_UINT32_T, INTEGER, uint32_t),
                               TYPE(MPI_UINT64_T, INTEGER, uint64_t),
                               TYPE(MPI_AINT, INTEGER, MPI_Aint),
                               TYPE(MPI_OFFSET, INTEGER, MPI_Offset),
                               TYPE(MPI_COUNT, INTEGER, MPI_Count),
                               TYPE(MPI_FLOAT, REAL, float),
                               TYPE(MPI_DOUBLE, REAL, double),
                               TYPE(MPI_LONG_DOUBLE, REAL, long double),
                               TYPE(MPI_C_FLOAT_COMPLEX, COMPLEX, float _Complex),
                               TYPE(MPI_C_DOUBLE_COMPLEX, COMPLEX, double _Complex),
                               TYPE(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, long double _Complex),
                               TYPE(MPI_C_BOOL, LOGICAL, _Bool),
                               TYPE(MPI_BYTE, BYTES, char),
                               TYPE(MPI_FLOAT_INT, PAIR, struct pair_float),
                               TYPE(MPI_DOUBLE_INT, PAIR, struct pair_double),
                               TYPE(MPI_LONG_INT, PAIR, struct pair_long),
                               TYPE(MPI_2INT, PAIR, struct pair_int),
                               TYPE(MPI_SHORT_INT, PAIR, struct pair_short),
                               TYPE(MPI_LONG_DOUBLE_INT, PAIR, struct pair_long_double)};
    memcpy(list, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

struct op {
    MPI_Op op;
    const char *name;
    unsigned kinds; /* a bit for each kind that it is defined for */
};

#define KIND(kind) (1u << (kind))
#define ANY_KIND (KIND(PAIR + 1) - 1)

#define OP(op, kinds)                                                                              \
    {                                                                                              \
        op, #op, kinds                                                                             \
    }

static int ops(struct op *list)
{
    unsigned const ordered = KIND(INTEGER) | KIND(REAL);
    struct op const all[] = {OP(MPI_MAX, ordered),
                             OP(MPI_MIN, ordered),
                             OP(MPI_SUM, ordered | KIND(COMPLEX)),
                             OP(MPI_PROD, ordered | KIND(COMPLEX)),
                             OP(MPI_LAND, KIND(INTEGER) | KIND(LOGICAL)),
                             OP(MPI_LOR, KIND(INTEGER) | KIND(LOGICAL)),
                             OP(MPI_LXOR, KIND(INTEGER) | KIND(LOGICAL)),
                             OP(MPI_BAND, KIND(INTEGER) | KIND(BYTES)),
                             OP(MPI_BOR, KIND(INTEGER) | KIND(BYTES)),
                             OP(MPI_BXOR, KIND(INTEGER) | KIND(BYTES)),
                             OP(MPI_MINLOC, KIND(PAIR)),
                             OP(MPI_MAXLOC, KIND(PAIR)),
                             OP(MPI_REPLACE, ANY_KIND),
                             OP(MPI_NO_OP, ANY_KIND)};
    memcpy(list, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

/* Small numbers: every result is exact in every type. Equal pair values are frequent. */
static int small_number(uint64_t *state) { return (int)(check_random(state) % 4); }

#define FILL_PAIR(mpi_type, c_type)                                                                \
    if (type == (mpi_type)) {                                                                      \
        struct c_type *const pair = (struct c_type *)at;                                           \
        pair->value = (__typeof__(pair->value))small_number(state);                                \
        pair->index = small_number(state);                                                         \
    }

static void fill_pair(MPI_Datatype type, unsigned char *at, uint64_t *state)
{
    FILL_PAIR(MPI_FLOAT_INT, pair_float)
    FILL_PAIR(MPI_DOUBLE_INT, pair_double)
    FILL_PAIR(MPI_LONG_INT, pair_long)
    FILL_PAIR(MPI_2INT, pair_int)
    FILL_PAIR(MPI_SHORT_INT, pair_short)
    FILL_PAIR(MPI_LONG_DOUBLE_INT, pair_long_double)
}

static void fill_real(size_t size, unsigned char *at, uint64_t *state)
{
    if (size == sizeof(float))
        *(float *)at = (float)small_number(state) - 1;
    else if (size == sizeof(double))
        *(double *)at = small_number(state) - 1;
    else
        *(long double *)at = small_number(state) - 1;
}

static void fill_element(const struct type *t, unsigned char *at, uint64_t *state)
{
    memset(at, 0, t->size);
    if (t->kind == PAIR)
        fill_pair(t->type, at, state);
    else if (t->kind == REAL)
        fill_real(t->size, at, state);
    else if (t->kind == COMPLEX)
        for (size_t part = 0; part < 2; ++part)
            fill_real(t->size / 2, at + part * t->size / 2, state);
    else if (t->kind == LOGICAL)
        at[0] = (unsigned char)(small_number(state) % 2);
    else
        at[0] = (unsigned char)small_number(state);
}

/* The padding of an element is nobody's: it is cleared before elements are compared. */
static void clear_padding(const struct type *t, unsigned char *values)
{
    size_t const extended = 10; /* bytes of an x87 number in its 16 */
    for (int i = 0; i < COUNT; ++i) {
        unsigned char *const at = values + (size_t)i * t->size;
        if (t->type == MPI_LONG_DOUBLE || t->type == MPI_C_LONG_DOUBLE_COMPLEX ||
            t->type == MPI_LONG_DOUBLE_INT)
            memset(at + extended, 0, sizeof(long double) - extended);
        if (t->type == MPI_C_LONG_DOUBLE_COMPLEX)
            memset(at + sizeof(long double) + extended, 0, sizeof(long double) - extended);
        if (t->type == MPI_LONG_DOUBLE_INT)
            memset(at + 20, 0, t->size - 20);
        if (t->type == MPI_DOUBLE_INT || t->type == MPI_LONG_INT)
            memset(at + 12, 0, 4);
        if (t->type == MPI_SHORT_INT)
            memset(at + 2, 0, 2);
    }
}

static void model(const struct type *t, MPI_Op op, void *origin, void *target)
{
    if (op == MPI_REPLACE)
        memcpy(target, origin, COUNT * t->size);
    else if (op != MPI_NO_OP)
        CHECK_OK(MPI_Reduce_local(origin, target, COUNT, t->type, op));
}

static void compare(const struct type *t, const struct op *op, const char *what,
                    unsigned char *actual, unsigned char *expected)
{
    clear_padding(t, actual);
    clear_padding(t, expected);
    if (!CHECK(memcmp(actual, expected, COUNT * t->size) == 0))
        fprintf(stderr, "    %s, %s with %s\n", what, t->name, op->name);
}

enum call { ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, CALLS };

static const char *const call_names[CALLS] = {"accumulate", "get_accumulate", "fetch_and_op"};

static void apply(struct window *w, enum call call, const struct type *t, MPI_Op op, void *origin,
                  void *result, int target)
{
    MPI_Aint const at = window_at(w, target, 0);
    if (call == ACCUMULATE)
        CHECK_OK(MPI_Accumulate(origin, COUNT, t->type, target, at, COUNT, t->type, op, w->win));
    if (call == GET_ACCUMULATE)
        CHECK_OK(MPI_Get_accumulate(origin, COUNT, t->type, result, COUNT, t->type, target, at,
                                    COUNT, t->type, op, w->win));
    for (int i = 0; call == FETCH_AND_OP && i < COUNT; ++i) {
        size_t const bytes = (size_t)i * t->size;
        CHECK_OK(MPI_Fetch_and_op((char *)origin + bytes, (char *)result + bytes, t->type, target,
                                  window_at(w, target, (MPI_Aint)bytes), op, w->win));
    }
    CHECK_OK(MPI_Win_flush(target, w->win));
}

static void one(struct window *w, enum call call, const struct type *t, const struct op *op,
                uint64_t *state)
{
    _Alignas(16) unsigned char origin[MOST_BYTES], result[MOST_BYTES] = {0};
    _Alignas(16) unsigned char before[MOST_BYTES], after[MOST_BYTES], actual[MOST_BYTES];
    int const target = (w->rank + 1) % w->size;
    for (int i = 0; i < COUNT; ++i) {
        fill_element(t, origin + (size_t)i * t->size, state);
        fill_element(t, before + (size_t)i * t->size, state);
    }
    memcpy(after, before, sizeof after);
    memset(actual, 0, sizeof actual);
    CHECK_OK(
        MPI_Put(before, COUNT, t->type, target, window_at(w, target, 0), COUNT, t->type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    apply(w, call, t, op->op, origin, result, target);
    model(t, op->op, origin, after);
    CHECK_OK(
        MPI_Get(actual, COUNT, t->type, target, window_at(w, target, 0), COUNT, t->type, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    compare(t, op, call_names[call], actual, after);
    if (call != ACCUMULATE)
        compare(t, op, "the fetched value", result, before);
}

/* MPI_NO_OP is for the calls that fetch. */
static bool defined(int call, const struct op *op, const struct type *t)
{
    return (op->kinds & KIND(t->kind)) && (call != ACCUMULATE || op->op != MPI_NO_OP);
}

static void all_pairs(struct window *w)
{
    struct type type_list[64];
    struct op op_list[16];
    int const type_count = types(type_list), op_count = ops(op_list);
    uint64_t state = 1 + (uint64_t)w->rank;
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int t = 0; t < type_count; ++t)
        for (int o = 0; o < op_count; ++o)
            for (int call = 0; call < CALLS; ++call)
                if (defined(call, &op_list[o], &type_list[t]))
                    one(w, (enum call)call, &type_list[t], &op_list[o], &state);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        if (host_cannot("reductions", (enum flavor)flavor, check_size))
            continue;
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD, MOST_BYTES, 1);
        check_step(flavor_names[flavor]);
        all_pairs(&w);
        window_close(&w);
    }
    return check_end();
}
