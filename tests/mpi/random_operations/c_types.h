/* SPDX-License-Identifier: BSD-3-Clause */
/* How values of each C type are set and combined. */
#ifndef SIDELIGHT_TESTS_C_TYPES_H
#define SIDELIGHT_TESTS_C_TYPES_H

#include "../check.h"
#include <stddef.h>

enum operator{
    SUM,
    PROD,
    MAX,
    MIN,
    LAND,
    LOR,
    LXOR,
    BAND,
    BOR,
    BXOR,
    MINLOC,
    MAXLOC,
    REPLACE,
    NO_OP,
    OPERATORS
};

/* What the larger types of Fortran are here. */
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 float128;
#else
typedef long double float128;
#endif

#define DEFINE_INTEGER(name, c_type)                                                               \
    static inline void set_##name(unsigned char *at, int64_t number, int64_t second)               \
    {                                                                                              \
        c_type const value = (c_type)number;                                                       \
        (void)second;                                                                              \
        memcpy(at, &value, sizeof value);                                                          \
    }                                                                                              \
    static inline void reduce_##name(enum operator op, unsigned char *target,                      \
                                     const unsigned char *origin)                                  \
    {                                                                                              \
        c_type a, b, r;                                                                            \
        memcpy(&a, target, sizeof a);                                                              \
        memcpy(&b, origin, sizeof b);                                                              \
        switch (op) {                                                                              \
        case SUM:                                                                                  \
            r = (c_type)((uint128)a + (uint128)b);                                                 \
            break;                                                                                 \
        case PROD:                                                                                 \
            r = (c_type)((uint128)a * (uint128)b);                                                 \
            break;                                                                                 \
        case MAX:                                                                                  \
            r = a > b ? a : b;                                                                     \
            break;                                                                                 \
        case MIN:                                                                                  \
            r = a < b ? a : b;                                                                     \
            break;                                                                                 \
        case LAND:                                                                                 \
            r = (c_type)(a != 0 && b != 0);                                                        \
            break;                                                                                 \
        case LOR:                                                                                  \
            r = (c_type)(a != 0 || b != 0);                                                        \
            break;                                                                                 \
        case LXOR:                                                                                 \
            r = (c_type)((a != 0) != (b != 0));                                                    \
            break;                                                                                 \
        case BAND:                                                                                 \
            r = (c_type)(a & b);                                                                   \
            break;                                                                                 \
        case BOR:                                                                                  \
            r = (c_type)(a | b);                                                                   \
            break;                                                                                 \
        default:                                                                                   \
            r = (c_type)(a ^ b);                                                                   \
            break;                                                                                 \
        }                                                                                          \
        memcpy(target, &r, sizeof r);                                                              \
    }

DEFINE_INTEGER(int8, int8_t)
DEFINE_INTEGER(int16, int16_t)
DEFINE_INTEGER(int32, int32_t)
DEFINE_INTEGER(int64, int64_t)
DEFINE_INTEGER(int128, int128)
DEFINE_INTEGER(uint8, uint8_t)
DEFINE_INTEGER(uint16, uint16_t)
DEFINE_INTEGER(uint32, uint32_t)
DEFINE_INTEGER(uint64, uint64_t)

#define DEFINE_REAL(name, c_type)                                                                  \
    static inline void set_##name(unsigned char *at, int64_t number, int64_t second)               \
    {                                                                                              \
        c_type const value = (c_type)number;                                                       \
        (void)second;                                                                              \
        memset(at, 0, sizeof value);                                                               \
        memcpy(at, &value, sizeof value);                                                          \
    }                                                                                              \
    static inline void reduce_##name(enum operator op, unsigned char *target,                      \
                                     const unsigned char *origin)                                  \
    {                                                                                              \
        c_type a, b;                                                                               \
        memcpy(&a, target, sizeof a);                                                              \
        memcpy(&b, origin, sizeof b);                                                              \
        c_type const sum = a + b, product = a * b, most = a > b ? a : b, least = a < b ? a : b;    \
        c_type const r = op == SUM ? sum : op == PROD ? product : op == MAX ? most : least;        \
        memcpy(target, &r, sizeof r);                                                              \
    }

DEFINE_REAL(float, float)
DEFINE_REAL(double, double)
DEFINE_REAL(long_double, long double)
DEFINE_REAL(float128, float128)

#define DEFINE_COMPLEX(name, c_type)                                                               \
    static inline void set_##name(unsigned char *at, int64_t number, int64_t second)               \
    {                                                                                              \
        c_type const parts[2] = {(c_type)number, (c_type)second};                                  \
        memcpy(at, parts, sizeof parts);                                                           \
    }                                                                                              \
    static inline void reduce_##name(enum operator op, unsigned char *target,                      \
                                     const unsigned char *origin)                                  \
    {                                                                                              \
        c_type a[2], b[2];                                                                         \
        memcpy(a, target, sizeof a);                                                               \
        memcpy(b, origin, sizeof b);                                                               \
        c_type const sum[2] = {a[0] + b[0], a[1] + b[1]};                                          \
        c_type const product[2] = {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};          \
        memcpy(target, op == SUM ? sum : product, sizeof sum);                                     \
    }

DEFINE_COMPLEX(float_complex, float)
DEFINE_COMPLEX(double_complex, double)
DEFINE_COMPLEX(long_double_complex, long double)
DEFINE_COMPLEX(float128_complex, float128)

#ifdef __FLT16_MANT_DIG__ /* GCC 11 and Clang 14 have no such type */
__extension__ typedef _Float16 float16;
DEFINE_REAL(float16, float16)
DEFINE_COMPLEX(float16_complex, float16)
#endif

#define DEFINE_PAIR(name, c_type, index_type)                                                      \
    struct name {                                                                                  \
        c_type value;                                                                              \
        index_type index;                                                                          \
    };                                                                                             \
    static inline void set_##name(unsigned char *at, int64_t number, int64_t second)               \
    {                                                                                              \
        c_type const value = (c_type)number;                                                       \
        index_type const index = (index_type)second;                                               \
        memcpy(at, &value, sizeof value);                                                          \
        memcpy(at + offsetof(struct name, index), &index, sizeof index);                           \
    }                                                                                              \
    static inline void reduce_##name(enum operator op, unsigned char *target,                      \
                                     const unsigned char *origin)                                  \
    {                                                                                              \
        struct name a, b;                                                                          \
        memcpy(&a, target, sizeof a);                                                              \
        memcpy(&b, origin, sizeof b);                                                              \
        bool const better = op == MINLOC ? b.value < a.value : b.value > a.value;                  \
        bool const equal = !(b.value < a.value) && !(b.value > a.value);                           \
        if (better || (equal && b.index < a.index))                                                \
            memcpy(target, &b, sizeof b);                                                          \
    }

DEFINE_PAIR(float_int, float, int)
DEFINE_PAIR(double_int, double, int)
DEFINE_PAIR(long_int, long, int)
DEFINE_PAIR(int_int, int, int)
DEFINE_PAIR(short_int, short, int)
DEFINE_PAIR(long_double_int, long double, int)
DEFINE_PAIR(float_float, float, float)
DEFINE_PAIR(double_double, double, double)

#endif /* SIDELIGHT_TESTS_C_TYPES_H */
