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

enum { ELEMENTS_MOST = 96 };

static struct element element_table[ELEMENTS_MOST];
static int element_count;

/* Whether what is made of it has its size: of MPI_CXX_FLOAT_COMPLEX not, in an MPICH that was built
 * without C++. */
static inline int element_is_whole(MPI_Datatype type)
{
    int size = 0, of_copy = 0;
    MPI_Datatype copy;
    MPI_Type_size(type, &size);
    MPI_Type_dup(type, &copy);
    MPI_Type_size(copy, &of_copy);
    MPI_Type_free(&copy);
    return size == of_copy;
}

/* A host may lack a type, or have another one under its name than C or Fortran have here. */
static inline void element_add(MPI_Datatype type, struct element e)
{
    MPI_Aint lb = 0, extent = 0;
    if (type == MPI_DATATYPE_NULL || !element_is_whole(type))
        return;
    MPI_Type_get_extent(type, &lb, &extent);
    e.type = type;
    if (extent == (MPI_Aint)e.size && element_count < ELEMENTS_MOST)
        element_table[element_count++] = e;
}

#define ADD(mpi_type, of_kind, c_type, of_name)                                                    \
    element_add(mpi_type, (struct element){.name = #mpi_type,                                      \
                                           .size = sizeof(c_type),                                 \
                                           .kind = (of_kind),                                      \
                                           .set = set_##of_name,                                   \
                                           .reduce = reduce_##of_name})

static inline void elements_of_c(void)
{
    ADD(MPI_SIGNED_CHAR, SIGNED, signed char, int8);
    ADD(MPI_UNSIGNED_CHAR, UNSIGNED, unsigned char, uint8);
    ADD(MPI_SHORT, SIGNED, short, int16);
    ADD(MPI_UNSIGNED_SHORT, UNSIGNED, unsigned short, uint16);
    ADD(MPI_INT, SIGNED, int, int32);
    ADD(MPI_UNSIGNED, UNSIGNED, unsigned, uint32);
    ADD(MPI_LONG, SIGNED, long, int64);
    ADD(MPI_UNSIGNED_LONG, UNSIGNED, unsigned long, uint64);
    ADD(MPI_LONG_LONG, SIGNED, long long, int64);
    ADD(MPI_UNSIGNED_LONG_LONG, UNSIGNED, unsigned long long, uint64);
    ADD(MPI_INT8_T, SIGNED, int8_t, int8);
    ADD(MPI_INT16_T, SIGNED, int16_t, int16);
    ADD(MPI_INT32_T, SIGNED, int32_t, int32);
    ADD(MPI_INT64_T, SIGNED, int64_t, int64);
    ADD(MPI_UINT8_T, UNSIGNED, uint8_t, uint8);
    ADD(MPI_UINT16_T, UNSIGNED, uint16_t, uint16);
    ADD(MPI_UINT32_T, UNSIGNED, uint32_t, uint32);
    ADD(MPI_UINT64_T, UNSIGNED, uint64_t, uint64);
    ADD(MPI_AINT, SIGNED, MPI_Aint, int64);
    ADD(MPI_OFFSET, SIGNED, MPI_Offset, int64);
    ADD(MPI_COUNT, SIGNED, MPI_Count, int64);
    ADD(MPI_FLOAT, REAL, float, float);
    ADD(MPI_DOUBLE, REAL, double, double);
    ADD(MPI_LONG_DOUBLE, REAL, long double, long_double);
    ADD(MPI_C_FLOAT_COMPLEX, COMPLEX, float _Complex, float_complex);
    ADD(MPI_C_DOUBLE_COMPLEX, COMPLEX, double _Complex, double_complex);
    ADD(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, long double _Complex, long_double_complex);
    ADD(MPI_C_BOOL, LOGICAL, _Bool, uint8);
    ADD(MPI_BYTE, BYTES, char, uint8);
    ADD(MPI_PACKED, TEXT, char, uint8);
    ADD(MPI_CHAR, TEXT, char, uint8);
    ADD(MPI_WCHAR, TEXT, wchar_t, uint32);
    ADD(MPI_FLOAT_INT, PAIR, struct float_int, float_int);
    ADD(MPI_DOUBLE_INT, PAIR, struct double_int, double_int);
    ADD(MPI_LONG_INT, PAIR, struct long_int, long_int);
    ADD(MPI_2INT, PAIR, struct int_int, int_int);
    ADD(MPI_SHORT_INT, PAIR, struct short_int, short_int);
    ADD(MPI_LONG_DOUBLE_INT, PAIR, struct long_double_int, long_double_int);
}

static inline void elements_of_cxx(void)
{
    ADD(MPI_CXX_BOOL, LOGICAL, _Bool, uint8);
    ADD(MPI_CXX_FLOAT_COMPLEX, COMPLEX, float _Complex, float_complex);
    ADD(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, double _Complex, double_complex);
    ADD(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, long double _Complex, long_double_complex);
}

/* As gfortran has them without options. */
static inline void elements_of_fortran(void)
{
    ADD(MPI_CHARACTER, TEXT, char, uint8);
    ADD(MPI_INTEGER, SIGNED, int32_t, int32);
    ADD(MPI_INTEGER1, SIGNED, int8_t, int8);
    ADD(MPI_INTEGER2, SIGNED, int16_t, int16);
    ADD(MPI_INTEGER4, SIGNED, int32_t, int32);
    ADD(MPI_INTEGER8, SIGNED, int64_t, int64);
    ADD(MPI_LOGICAL, LOGICAL, int32_t, int32);
    ADD(MPI_REAL, REAL, float, float);
    ADD(MPI_REAL4, REAL, float, float);
    ADD(MPI_REAL8, REAL, double, double);
    ADD(MPI_DOUBLE_PRECISION, REAL, double, double);
    ADD(MPI_COMPLEX, COMPLEX, float _Complex, float_complex);
    ADD(MPI_COMPLEX8, COMPLEX, float _Complex, float_complex);
    ADD(MPI_COMPLEX16, COMPLEX, double _Complex, double_complex);
    ADD(MPI_DOUBLE_COMPLEX, COMPLEX, double _Complex, double_complex);
    ADD(MPI_2INTEGER, PAIR, struct int_int, int_int);
    ADD(MPI_2REAL, PAIR, struct float_float, float_float);
    ADD(MPI_2DOUBLE_PRECISION, PAIR, struct double_double, double_double);
}

/* Those that a header may lack. */
static inline void elements_optional(void)
{
#ifdef MPI_INTEGER16
    ADD(MPI_INTEGER16, SIGNED, int128, int128);
#endif
#ifdef MPI_REAL16
    ADD(MPI_REAL16, REAL, float128, float128);
#endif
#ifdef MPI_COMPLEX32
    ADD(MPI_COMPLEX32, COMPLEX, float128[2], float128_complex);
#endif
#ifdef MPI_LOGICAL1
    ADD(MPI_LOGICAL1, LOGICAL, int8_t, int8);
#endif
#ifdef MPI_LOGICAL2
    ADD(MPI_LOGICAL2, LOGICAL, int16_t, int16);
#endif
#ifdef MPI_LOGICAL4
    ADD(MPI_LOGICAL4, LOGICAL, int32_t, int32);
#endif
#ifdef MPI_LOGICAL8
    ADD(MPI_LOGICAL8, LOGICAL, int64_t, int64);
#endif
#if defined(MPI_REAL2) && defined(__FLT16_MANT_DIG__)
    ADD(MPI_REAL2, REAL, float16, float16);
#endif
#if defined(MPI_COMPLEX4) && defined(__FLT16_MANT_DIG__)
    ADD(MPI_COMPLEX4, COMPLEX, float16[2], float16_complex);
#endif
}

#undef ADD

static inline void elements_begin(void)
{
    element_count = 0;
    elements_of_c();
    elements_of_cxx();
    elements_of_fortran();
    elements_optional();
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
