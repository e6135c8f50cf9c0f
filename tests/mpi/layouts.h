/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random derived datatypes with a model: for each element, in the order of the type map, where it
 * lies. A layout of n elements is made from layouts of fewer; no two elements overlap.
 */
#ifndef SIDELIGHT_TESTS_LAYOUTS_H
#define SIDELIGHT_TESTS_LAYOUTS_H

#include "check.h"

/* Hosts whose headers have the forms with MPI_Count: a type made by them is taken apart in another
 * way. */
#if MPI_VERSION >= 4
#define LAYOUT_LARGE 1
#else
#define LAYOUT_LARGE 0
#endif

enum { LAYOUT_MOST = 256 };

struct layout {
    MPI_Datatype type; /* owned, unless it is the predefined type */
    MPI_Datatype base;
    int elements;
    MPI_Aint at[LAYOUT_MOST]; /* byte displacement of each element */
    MPI_Aint lb, extent;
    char made_of[64]; /* its constructors, the innermost first: for a message */
};

static inline void layout_adopt(struct layout *l, MPI_Datatype newtype, const char *constructor)
{
    size_t const length = strlen(l->made_of);
    snprintf(l->made_of + length, sizeof l->made_of - length, " %s", constructor);
    if (l->type != l->base)
        MPI_Type_free(&l->type);
    l->type = newtype;
    MPI_Type_get_extent(newtype, &l->lb, &l->extent);
}

static inline struct layout layout_of_base(MPI_Datatype base)
{
    struct layout l = {.type = base, .base = base, .elements = 1};
    MPI_Type_get_extent(base, &l.lb, &l.extent);
    return l;
}

/* The model of repetition: copies of l at the given displacements. */
static inline void layout_repeat(struct layout *l, int copies, const MPI_Aint *shift)
{
    int const n = l->elements;
    for (int c = copies - 1; c >= 0; --c)
        for (int i = 0; i < n; ++i)
            l->at[c * n + i] = l->at[i] + shift[c];
    /* The first copy is shifted last, as the others were made from it. */
    l->elements = copies * n;
}

/* How far apart copies must be not to overlap: the span that the elements really cover. */
static inline MPI_Aint layout_span(const struct layout *l, MPI_Aint *low)
{
    MPI_Aint lowest = 0, highest = 0, size_of_base, lb;
    MPI_Type_get_extent(l->base, &lb, &size_of_base);
    for (int i = 0; i < l->elements; ++i) {
        if (i == 0 || l->at[i] < lowest)
            lowest = l->at[i];
        if (i == 0 || l->at[i] + size_of_base > highest)
            highest = l->at[i] + size_of_base;
    }
    *low = lowest;
    return highest - lowest;
}

/* Resized so that copies, one extent apart, never overlap; the bounds are odd on purpose. */
static inline void layout_resize(struct layout *l, uint64_t *seed)
{
    MPI_Aint low, base_lb, base_extent;
    MPI_Aint const span = layout_span(l, &low);
    MPI_Datatype type;
    MPI_Type_get_extent(l->base, &base_lb, &base_extent);
    MPI_Aint const lb = low + base_extent * (MPI_Aint)(check_random(seed) % 5) - 2 * base_extent;
    MPI_Aint const extent = span + base_extent * (MPI_Aint)(check_random(seed) % 3);
#if LAYOUT_LARGE
    if (check_random(seed) % 2 != 0)
        MPI_Type_create_resized_c(l->type, lb, extent, &type);
    else
#endif
        MPI_Type_create_resized(l->type, lb, extent, &type);
    layout_adopt(l, type, "resized");
}

static inline void layout_vector(struct layout *l, int count, int length, uint64_t *seed)
{
    MPI_Aint shift[LAYOUT_MOST];
    MPI_Datatype type;
    bool const backwards = check_random(seed) % 2 != 0;
    int const gap = length + (int)(check_random(seed) % 3);
    int const stride = backwards ? -gap : gap;
    for (int i = 0; i < count * length; ++i)
        shift[i] = (i / length * stride + i % length) * l->extent;
    switch (check_random(seed) % 4) {
#if LAYOUT_LARGE
    case 0:
        MPI_Type_vector_c(count, length, stride, l->type, &type);
        break;
    case 1:
        MPI_Type_create_hvector_c(count, length, stride * l->extent, l->type, &type);
        break;
#endif
    case 2:
        MPI_Type_vector(count, length, stride, l->type, &type);
        break;
    default:
        MPI_Type_create_hvector(count, length, stride * l->extent, l->type, &type);
        break;
    }
    layout_repeat(l, count * length, shift);
    layout_adopt(l, type, "vector");
}

static inline MPI_Datatype layout_indexed_type(int blocks, const int *lengths, const int *places,
                                               MPI_Datatype of, MPI_Aint extent, uint64_t *seed)
{
    MPI_Aint bytes[LAYOUT_MOST];
    MPI_Datatype type;
    bool const in_bytes = check_random(seed) % 2 != 0;
    for (int i = 0; i < blocks; ++i)
        bytes[i] = places[i] * extent;
#if LAYOUT_LARGE
    if (check_random(seed) % 2 != 0) {
        MPI_Count large_lengths[LAYOUT_MOST], large_places[LAYOUT_MOST];
        for (int i = 0; i < blocks; ++i) {
            large_lengths[i] = lengths[i];
            large_places[i] = in_bytes ? bytes[i] : places[i];
        }
        if (in_bytes)
            MPI_Type_create_hindexed_c(blocks, large_lengths, large_places, of, &type);
        else
            MPI_Type_indexed_c(blocks, large_lengths, large_places, of, &type);
        return type;
    }
#endif
    if (in_bytes)
        MPI_Type_create_hindexed(blocks, lengths, bytes, of, &type);
    else
        MPI_Type_indexed(blocks, lengths, places, of, &type);
    return type;
}

/* Blocks of one or two, in shuffled order, with gaps and empty blocks, some before the origin. */
static inline void layout_indexed(struct layout *l, int copies, uint64_t *seed)
{
    int lengths[LAYOUT_MOST], displacements[LAYOUT_MOST], blocks = 0, made = 0;
    MPI_Aint shift[LAYOUT_MOST];
    int const order = 1 + 2 * (int)(check_random(seed) % 2); /* 1 or 3 */
    for (; made < copies; ++blocks) {
        lengths[blocks] = (int)(check_random(seed) % 3);
        if (lengths[blocks] > copies - made)
            lengths[blocks] = copies - made;
        int const place = order == 1 ? copies - blocks : blocks;
        displacements[blocks] = 3 * place - copies;
        for (int i = 0; i < lengths[blocks]; ++i)
            shift[made++] = (displacements[blocks] + i) * l->extent;
    }
    MPI_Datatype const type =
        layout_indexed_type(blocks, lengths, displacements, l->type, l->extent, seed);
    layout_repeat(l, copies, shift);
    layout_adopt(l, type, "indexed");
}

/* Blocks of one length, the last one first, with gaps. */
static inline void layout_blocks(struct layout *l, int blocks, int length, uint64_t *seed)
{
    int places[LAYOUT_MOST];
    MPI_Aint bytes[LAYOUT_MOST], shift[LAYOUT_MOST];
    MPI_Datatype type;
    for (int i = 0; i < blocks; ++i) {
        places[i] = (blocks - 2 * i) * (length + 1) + (int)(check_random(seed) % 2);
        bytes[i] = places[i] * l->extent;
        for (int k = 0; k < length; ++k)
            shift[i * length + k] = (places[i] + k) * l->extent;
    }
    if (check_random(seed) % 2 != 0)
        MPI_Type_create_indexed_block(blocks, length, places, l->type, &type);
    else
        MPI_Type_create_hindexed_block(blocks, length, bytes, l->type, &type);
    layout_repeat(l, blocks * length, shift);
    layout_adopt(l, type, "blocks");
}

/* A box in a plane; C order and Fortran order. */
static inline void layout_subarray(struct layout *l, int rows, int columns, uint64_t *seed)
{
    bool const fortran = check_random(seed) % 2 != 0;
    int const sub[2] = {rows, columns};
    int start[2], sizes[2];
    MPI_Aint shift[LAYOUT_MOST];
    MPI_Datatype type;
    for (int d = 0; d < 2; ++d) {
        start[d] = (int)(check_random(seed) % 3);
        sizes[d] = sub[d] + start[d] + (int)(check_random(seed) % 2);
    }
    for (int i = 0; i < rows * columns; ++i) {
        int const x = start[1] + (fortran ? i / rows : i % columns);
        int const y = start[0] + (fortran ? i % rows : i / columns);
        shift[i] = (fortran ? x * sizes[0] + y : y * sizes[1] + x) * l->extent;
    }
    MPI_Type_create_subarray(2, sizes, sub, start, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                             l->type, &type);
    layout_repeat(l, rows * columns, shift);
    layout_adopt(l, type, "subarray");
}

/* One process's part of a plane that a grid of processes shares, dealt out in blocks, in turn, or
 * not at all. */
static inline void layout_darray(struct layout *l, int rows, int columns, uint64_t *seed)
{
    bool const fortran = check_random(seed) % 2 != 0;
    int const local[2] = {rows, columns};
    int whole[2], deals[2], parameters[2], grid[2], place[2], at[2][LAYOUT_MOST];
    MPI_Aint shift[LAYOUT_MOST];
    MPI_Datatype type;
    for (int d = 0; d < 2; ++d) {
        uint64_t const way = check_random(seed) % 3;
        int const dealt = local[d] % 2 == 0 && check_random(seed) % 2 != 0 ? 2 : 1;
        grid[d] = way == 0 ? 1 : 1 + (int)(check_random(seed) % 3);
        place[d] = (int)(check_random(seed) % (uint64_t)grid[d]);
        whole[d] = local[d] * grid[d];
        deals[d] = way == 0   ? MPI_DISTRIBUTE_NONE
                   : way == 1 ? MPI_DISTRIBUTE_BLOCK
                              : MPI_DISTRIBUTE_CYCLIC;
        parameters[d] = way == 2 ? dealt : MPI_DISTRIBUTE_DFLT_DARG;
        for (int i = 0; i < local[d]; ++i)
            at[d][i] = way == 2 ? (i / dealt * grid[d] + place[d]) * dealt + i % dealt
                                : place[d] * local[d] + i;
    }
    for (int i = 0; i < rows * columns; ++i) {
        int const x = at[1][fortran ? i / rows : i % columns];
        int const y = at[0][fortran ? i % rows : i / columns];
        shift[i] = (fortran ? x * whole[0] + y : y * whole[1] + x) * l->extent;
    }
    MPI_Type_create_darray(grid[0] * grid[1], place[0] * grid[1] + place[1], 2, whole, deals,
                           parameters, grid, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, l->type,
                           &type);
    layout_repeat(l, rows * columns, shift);
    layout_adopt(l, type, "darray");
}

/* Members of one type at unequal places, the last member first; one member is empty. */
static inline void layout_struct(struct layout *l, int members, uint64_t *seed)
{
    int lengths[LAYOUT_MOST + 1];
    MPI_Aint bytes[LAYOUT_MOST + 1], shift[LAYOUT_MOST];
    MPI_Datatype parts[LAYOUT_MOST + 1], type;
    for (int i = 0; i < members; ++i) {
        lengths[i] = 1;
        parts[i] = l->type;
        shift[i] = (2 * (members - i) - (int)(check_random(seed) % 2)) * l->extent;
        bytes[i] = shift[i];
    }
    lengths[members] = 0;
    parts[members] = MPI_DOUBLE;
    bytes[members] = 12345;
    MPI_Type_create_struct(members + 1, lengths, bytes, parts, &type);
    layout_repeat(l, members, shift);
    layout_adopt(l, type, "struct");
}

static inline void layout_contiguous(struct layout *l, int copies)
{
    MPI_Aint shift[LAYOUT_MOST];
    MPI_Datatype type;
    for (int i = 0; i < copies; ++i)
        shift[i] = i * l->extent;
    MPI_Type_contiguous(copies, l->type, &type);
    layout_repeat(l, copies, shift);
    layout_adopt(l, type, "contiguous");
}

static inline void layout_copy(struct layout *l)
{
    MPI_Datatype type;
    MPI_Type_dup(l->type, &type);
    layout_adopt(l, type, "dup");
}

/* One more level around l: factor copies of it. */
static inline void layout_wrap(struct layout *l, int factor, uint64_t *seed)
{
    int const divisor = factor % 3 == 0 ? 3 : factor % 2 == 0 ? 2 : 1;
    layout_resize(l, seed);
    switch (check_random(seed) % 8) {
    case 0:
        layout_vector(l, factor / divisor, divisor, seed);
        break;
    case 1:
        layout_indexed(l, factor, seed);
        break;
    case 2:
        layout_subarray(l, divisor, factor / divisor, seed);
        break;
    case 3:
        layout_struct(l, factor, seed);
        break;
    case 4:
        layout_blocks(l, factor / divisor, divisor, seed);
        break;
    case 5:
        layout_darray(l, divisor, factor / divisor, seed);
        break;
    case 6:
        layout_copy(l);
        layout_vector(l, divisor, factor / divisor, seed);
        break;
    default:
        layout_contiguous(l, factor);
        break;
    }
}

/* A committed type of n elements, n a product of 2s and 3s. */
static inline struct layout layout_random(MPI_Datatype base, int n, uint64_t *seed)
{
    struct layout l = layout_of_base(base);
    while (n > 1) {
        int factor = n % 2 == 0 ? 2 : 3;
        if (n % 6 == 0 && check_random(seed) % 2 != 0)
            factor = 6;
        else if (n % 4 == 0 && check_random(seed) % 2 != 0)
            factor = 4;
        layout_wrap(&l, factor, seed);
        n /= factor;
    }
    layout_resize(&l, seed);
    MPI_Type_commit(&l.type);
    return l;
}

static inline void layout_free(struct layout *l)
{
    if (l->type != l->base)
        MPI_Type_free(&l->type);
}

#endif /* SIDELIGHT_TESTS_LAYOUTS_H */
