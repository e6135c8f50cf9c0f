/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined types and operations: what values of a type are drawn, what an operation makes of
 * two of them, and which of their bytes are padding. Values are such that every result is exact.
 */
#ifndef SIDELIGHT_TESTS_ELEMENTS_H
#define SIDELIGHT_TESTS_ELEMENTS_H

#include "c_types.h"
#include <float.h>
#include <wchar.h>

enum kind { SIGNED, UNSIGNED, REAL, COMPLEX, LOGICAL, BYTES, PAIR, TEXT };

enum { ELEMENT_LARGEST = 32 };

struct element {
    MPI_Datatype type;
    const char *name;
    size_t size; /* its extent, padding included */
    enum kind kind;
    void (*set)(unsigned char *at, int64_t number, int64_t second);
    void (*reduce)(enum operator op, unsigned char *target, const unsigned char *origin);
};

#define KIND(kind) (1u << (kind))
#define NUMBERS (KIND(SIGNED) | KIND(UNSIGNED))

static const unsigned operator_kinds[OPERATORS] = {
    [SUM] = NUMBERS | KIND(REAL) | KIND(COMPLEX),
    [PROD] = NUMBERS | KIND(REAL) | KIND(COMPLEX),
    [MAX] = NUMBERS | KIND(REAL),
    [MIN] = NUMBERS | KIND(REAL),
    [LAND] = NUMBERS | KIND(LOGICAL),
    [LOR] = NUMBERS | KIND(LOGICAL),
    [LXOR] = NUMBERS | KIND(LOGICAL),
    [BAND] = NUMBERS | KIND(BYTES),
    [BOR] = NUMBERS | KIND(BYTES),
    [BXOR] = NUMBERS | KIND(BYTES),
    [MINLOC] = KIND(PAIR),
    [MAXLOC] = KIND(PAIR),
    [REPLACE] = KIND(TEXT + 1) - 1,
    [NO_OP] = KIND(TEXT + 1) - 1,
};

static const char *const operator_names[OPERATORS] = {"sum",    "prod",   "max",     "min",  "land",
                                                      "lor",    "lxor",   "band",    "bor",  "bxor",
                                                      "minloc", "maxloc", "replace", "no_op"};

static inline MPI_Op operator_handle(enum operator op)
{
    MPI_Op const handles[OPERATORS] = {MPI_SUM,    MPI_PROD,   MPI_MAX,     MPI_MIN,  MPI_LAND,
                                       MPI_LOR,    MPI_LXOR,   MPI_BAND,    MPI_BOR,  MPI_BXOR,
                                       MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    return handles[op];
}

/* --- The table -------------------------------------------------------------------------------- */

#define ELEMENT(mpi_type, kind, c_type, name)                                                      \
    {                                                                                              \
        mpi_type, #mpi_type, sizeof(c_type), kind, set_##name, reduce_##name                       \
    }

enum { ELEMENTS_MOST = 64 };

static struct element element_table[ELEMENTS_MOST];
static int element_count;

static inline void elements_begin(void)
{
    struct element const all[] = {
        ELEMENT(MPI_SIGNED_CHAR, SIGNED, signed char, int8),
        ELEMENT(MPI_UNSIGNED_CHAR, UNSIGNED, unsigned char, uint8),
        ELEMENT(MPI_SHORT, SIGNED, short, int16),
        ELEMENT(MPI_UNSIGNED_SHORT, UNSIGNED, unsigned short, uint16),
        ELEMENT(MPI_INT, SIGNED, int, int32),
        ELEMENT(MPI_UNSIGNED, UNSIGNED, unsigned, uint32),
        ELEMENT(MPI_LONG_LONG, SIGNED, long long, int64),
        ELEMENT(MPI_UNSIGNED_LONG_LONG, UNSIGNED, unsigned long long, uint64),
        ELEMENT(MPI_INT8_T, SIGNED, int8_t, int8),
        ELEMENT(MPI_INT16_T, SIGNED, int16_t, int16),
        ELEMENT(MPI_INT32_T, SIGNED, int32_t, int32),
        ELEMENT(MPI_INT64_T, SIGNED, int64_t, int64),
        ELEMENT(MPI_UINT8_T, UNSIGNED, uint8_t, uint8),
        ELEMENT(MPI_UINT16_T, UNSIGNED, uint16_t, uint16),
        ELEMENT(MPI_UINT32_T, UNSIGNED, uint32_t, uint32),
        ELEMENT(MPI_UINT64_T, UNSIGNED, uint64_t, uint64),
        ELEMENT(MPI_AINT, SIGNED, MPI_Aint, int64),
        ELEMENT(MPI_OFFSET, SIGNED, MPI_Offset, int64),
        ELEMENT(MPI_COUNT, SIGNED, MPI_Count, int64),
        ELEMENT(MPI_FLOAT, REAL, float, float),
        ELEMENT(MPI_DOUBLE, REAL, double, double),
        ELEMENT(MPI_LONG_DOUBLE, REAL, long double, long_double),
        ELEMENT(MPI_C_FLOAT_COMPLEX, COMPLEX, float _Complex, float_complex),
        ELEMENT(MPI_C_DOUBLE_COMPLEX, COMPLEX, double _Complex, double_complex),
        ELEMENT(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, long double _Complex, long_double_complex),
        ELEMENT(MPI_C_BOOL, LOGICAL, _Bool, uint8),
        ELEMENT(MPI_BYTE, BYTES, char, uint8),
        ELEMENT(MPI_CHAR, TEXT, char, uint8),
        ELEMENT(MPI_WCHAR, TEXT, wchar_t, uint32),
        ELEMENT(MPI_FLOAT_INT, PAIR, struct float_int, float_int),
        ELEMENT(MPI_DOUBLE_INT, PAIR, struct double_int, double_int),
        ELEMENT(MPI_LONG_INT, PAIR, struct long_int, long_int),
        ELEMENT(MPI_2INT, PAIR, struct int_int, int_int),
        ELEMENT(MPI_SHORT_INT, PAIR, struct short_int, short_int),
        ELEMENT(MPI_LONG_DOUBLE_INT, PAIR, struct long_double_int, long_double_int)};
    memcpy(element_table, all, sizeof all);
    element_count = (int)(sizeof all / sizeof *all);
}

static inline bool element_allows(const struct element *e, enum operator op)
{
    return (operator_kinds[op] & KIND(e->kind)) != 0;
}

/* Integers and bytes: any bits are a value. */
static inline bool element_takes_any_bits(const struct element *e)
{
    return (KIND(e->kind) & (NUMBERS | KIND(BYTES) | KIND(TEXT))) != 0;
}

/* Compare and swap is for integers, logical values and bytes. */
static inline bool element_swaps(const struct element *e)
{
    return (KIND(e->kind) & (NUMBERS | KIND(LOGICAL) | KIND(BYTES))) != 0;
}

static inline void element_clear_padding(const struct element *e, unsigned char *at)
{
    bool const x87 = LDBL_MANT_DIG == 64;
    size_t const real = sizeof(long double), half = 10;
    if (x87 && e->reduce == reduce_long_double)
        memset(at + half, 0, real - half);
    if (x87 && e->reduce == reduce_long_double_complex) {
        memset(at + half, 0, real - half);
        memset(at + real + half, 0, real - half);
    }
    if (e->reduce == reduce_long_double_int) {
        if (x87)
            memset(at + half, 0, real - half);
        memset(at + real + sizeof(int), 0, e->size - real - sizeof(int));
    }
    if (e->reduce == reduce_double_int || e->reduce == reduce_long_int)
        memset(at + 12, 0, 4);
    if (e->reduce == reduce_short_int)
        memset(at + 2, 0, 2);
}

/* Adding nothing makes the negative zero that a product may have left a positive one. */
static inline void element_clear_sign_of_zero(const struct element *e, unsigned char *at)
{
    unsigned char zero[ELEMENT_LARGEST];
    memset(zero, 0, sizeof zero);
    e->reduce(SUM, at, zero);
}

/* Before values are compared: padding is nobody's, and which zero is the larger one is open. */
static inline void element_normalise(const struct element *e, unsigned char *at)
{
    if (e->kind == REAL || e->kind == COMPLEX)
        element_clear_sign_of_zero(e, at);
    element_clear_padding(e, at);
}

static inline bool element_has_normal_form(const struct element *e)
{
    return e->kind == REAL || e->kind == COMPLEX || e->kind == PAIR;
}

static inline void element_set(const struct element *e, unsigned char *at, int64_t number,
                               int64_t second)
{
    memset(at, 0, e->size);
    e->set(at, number, second);
    element_clear_padding(e, at);
}

/* A value to be combined by op. A wide one has any bits; the others stay small, so that dozens of
 * sums fit into eight bits and every product is exact. */
static inline void element_draw(const struct element *e, enum operator op, bool wide,
                                unsigned char *at, uint64_t *seed)
{
    uint64_t const r = check_random(seed);
    int64_t number = (int64_t)(r % 4), second = (int64_t)(r / 4 % 4);
    if (e->kind == LOGICAL)
        number = (int64_t)(r % 2);
    else if (wide && element_takes_any_bits(e))
        number = (int64_t)check_random(seed);
    else if (op == PROD && e->kind == COMPLEX) {
        number = r % 2 == 0 ? 0 : r / 2 % 2 == 0 ? 1 : -1;
        second = r % 2 != 0 ? 0 : r / 2 % 2 == 0 ? 1 : -1;
    } else if (op == PROD)
        number = e->kind == SIGNED || r % 3 == 0 ? (e->kind == UNSIGNED ? 1
                                                    : r / 4 % 2         ? 1
                                                                        : -1)
                                                 : 2;
    else if (e->kind == REAL || e->kind == SIGNED || e->kind == COMPLEX)
        number = (int64_t)(r % 7) - 3;
    element_set(e, at, number, second);
}

/* What the target becomes. */
static inline void element_combine(const struct element *e, enum operator op, unsigned char *target,
                                   const unsigned char *origin)
{
    if (op == REPLACE)
        memcpy(target, origin, e->size);
    else if (op != NO_OP)
        e->reduce(op, target, origin);
}

#endif /* SIDELIGHT_TESTS_ELEMENTS_H */
