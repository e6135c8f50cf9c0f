/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of an operation: a datatype, a count, and where each element lies. */
#ifndef SIDELIGHT_TESTS_SIDES_H
#define SIDELIGHT_TESTS_SIDES_H

#include "../layouts.h"
#include "elements.h"

enum { SIDE_TRIES = 3 };

struct side {
    struct layout layout;
    int count;
    MPI_Aint low, high; /* the bytes that the elements cover; both 0 if there are none */
};

static inline MPI_Aint side_element(const struct side *s, int element)
{
    const struct layout *const l = &s->layout;
    return l->at[element % l->elements] + element / l->elements * l->extent;
}

static inline void side_measure(struct side *s)
{
    MPI_Aint low;
    MPI_Aint const span = layout_span(&s->layout, &low);
    s->low = s->count > 0 ? low : 0;
    s->high = s->count > 0 ? low + span + (s->count - 1) * s->layout.extent : 0;
}

static inline struct side side_contiguous(const struct element *e, int elements)
{
    struct side s = {.layout = layout_of_base(e->type), .count = elements};
    side_measure(&s);
    return s;
}

/* No elements: a count of zero, or any number of a type without contents. */
static inline struct side side_empty(const struct element *e, uint64_t *seed)
{
    struct side s = {.layout = layout_of_base(e->type)};
    if (check_random(seed) % 2 != 0) {
        MPI_Type_contiguous(0, e->type, &s.layout.type);
        MPI_Type_commit(&s.layout.type);
        s.count = (int)(check_random(seed) % 4);
    }
    return s;
}

static inline struct side side_derived(const struct element *e, int elements, uint64_t *seed)
{
    static int const sizes[] = {1, 2, 3, 4, 6, 8, 9, 12, 18, 24, 36, 48, 72, 96, 144};
    int const start = (int)(check_random(seed) % (sizeof sizes / sizeof *sizes));
    int n = 1;
    for (int i = start; i >= 0 && n == 1; --i)
        if (elements % sizes[i] == 0)
            n = sizes[i];
    struct side s = {.layout = layout_random(e->type, n, seed), .count = elements / n};
    side_measure(&s);
    return s;
}

/* elements is a product of twos and threes, or 0; the elements cover at most room bytes, which are
 * enough for all of them in a row. */
static inline struct side side_random(const struct element *e, int elements, MPI_Aint room,
                                      uint64_t *seed)
{
    if (elements == 0)
        return side_empty(e, seed);
    for (int i = 0; i < SIDE_TRIES && check_random(seed) % 4 != 0; ++i) {
        struct side s = side_derived(e, elements, seed);
        if (s.high - s.low <= room)
            return s;
        layout_free(&s.layout);
    }
    return side_contiguous(e, elements);
}

static inline void side_free(struct side *s) { layout_free(&s->layout); }

/* The largest product of twos and up to two threes that is not above a limit of at least 1. */
static inline int side_round_down(MPI_Aint limit, uint64_t *seed)
{
    static int const threes[] = {1, 3, 9};
    int n = threes[check_random(seed) % 3];
    if (n > limit)
        n = 1;
    while (2 * n <= limit)
        n *= 2;
    return n;
}

#endif /* SIDELIGHT_TESTS_SIDES_H */
