/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window of any kind, and the model of everybody's memory on every rank.
 *
 * The memory of a rank is one or more segments: one, except on dynamic windows, where each is
 * attached by itself. Sizes and displacement units differ between ranks; a rank may have none.
 */
#ifndef SIDELIGHT_TESTS_MEMORY_H
#define SIDELIGHT_TESTS_MEMORY_H

#include "../layouts.h"
#include "../windows.h"
#include <sys/mman.h>

enum {
    MEMORY_MOST_RANKS = 8,
    MEMORY_MOST_SEGMENTS = 4,
    MEMORY_MOST_REGIONS = 4,
    MEMORY_PAGE = 65536
};

/* One piece of a rank's memory. Its owner alone knows where it is; all know the rest. */
struct segment {
    MPI_Aint bytes;
    MPI_Aint origin;                      /* displacement of its first byte, in units */
    unsigned char *model;                 /* what it must hold */
    unsigned char *base;                  /* at its owner: where it is */
    unsigned char *block;                 /* at its owner: what was allocated for it, if it was */
    size_t mapped;                        /* bytes mapped at block; 0: from malloc, or */
    bool from_mpi;                        /* from MPI_Alloc_mem */
    int regions;                          /* at its owner, while attached: they touch, */
    MPI_Aint begins[MEMORY_MOST_REGIONS]; /* and each begins here */
};

struct memory {
    MPI_Win win;
    MPI_Comm comm;
    enum flavor flavor;
    int rank, size;
    bool passive; /* may be locked: made without no_locks */
    bool unified;
    int units[MEMORY_MOST_RANKS];
    int segments;
    struct segment parts[MEMORY_MOST_RANKS][MEMORY_MOST_SEGMENTS];
};

static inline struct segment *memory_own(struct memory *m, int s) { return &m->parts[m->rank][s]; }

/* --- Blocks of memory ------------------------------------------------------------------------- */

static inline size_t memory_mapped_size(const struct segment *s)
{
    return ((size_t)s->bytes / MEMORY_PAGE + 1) * MEMORY_PAGE; /* also for none at all */
}

/* At a place, which must be free or is taken over as it is, or anywhere. */
static inline unsigned char *memory_map(void *at, size_t bytes)
{
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | (at != NULL ? MAP_FIXED : 0);
    void *const block = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (block == MAP_FAILED) {
        perror("mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return block;
}

/* From mmap, or somewhere inside a block of malloc or MPI_Alloc_mem. */
static inline void memory_allocate(struct segment *s, uint64_t *seed)
{
    size_t const skipped = 16 * (check_random(seed) % 9);
    uint64_t const way = check_random(seed) % 3;
    bool const map = way == 0;
    s->mapped = map ? memory_mapped_size(s) : 0;
    s->from_mpi = way == 1;
    if (s->from_mpi)
        MPI_Alloc_mem(s->bytes + (MPI_Aint)skipped + 1, MPI_INFO_NULL, &s->block);
    else
        s->block = map ? memory_map(NULL, s->mapped) : malloc((size_t)s->bytes + skipped + 1);
    s->base = s->block + (map ? 0 : skipped);
}

static inline void memory_release(struct segment *s)
{
    if (s->mapped != 0)
        munmap(s->block, s->mapped);
    else if (s->from_mpi)
        MPI_Free_mem(s->block);
    else
        free(s->block);
    s->block = s->base = NULL;
}

/* Other memory at the same address: in the place of what is there, or after it has gone. Only if
 * somebody else has taken the place in between, it is elsewhere. */
static inline void memory_map_again(struct segment *s, bool unmap)
{
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (!unmap) {
        memory_map(s->block, s->mapped);
        return;
    }
    munmap(s->block, s->mapped);
    void *const block = mmap(s->block, s->mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
    s->block = s->base = block != MAP_FAILED ? block : memory_map(NULL, s->mapped);
}

/* --- Contents --------------------------------------------------------------------------------- */

static inline void memory_draw(unsigned char *to, MPI_Aint bytes, uint64_t seed)
{
    for (MPI_Aint i = 0; i < bytes; i += 8) {
        uint64_t const value = check_random(&seed);
        memcpy(to + i, &value, (size_t)(bytes - i < 8 ? bytes - i : 8));
    }
}

/* New contents of a segment: in everybody's model, and in its owner's memory. */
static inline void memory_fill(struct memory *m, int rank, int s, uint64_t seed)
{
    struct segment *const part = &m->parts[rank][s];
    memory_draw(part->model, part->bytes, seed);
    if (rank == m->rank && part->bytes > 0)
        memcpy(part->base, part->model, (size_t)part->bytes);
}

/* The first byte of the own memory that differs from the model, in a segment; -1 if none does. */
static inline MPI_Aint memory_difference(struct memory *m, int s, int *bytes)
{
    const struct segment *const part = memory_own(m, s);
    MPI_Aint first = -1;
    *bytes = 0;
    if (part->bytes == 0 || memcmp(part->base, part->model, (size_t)part->bytes) == 0)
        return -1;
    for (MPI_Aint i = part->bytes - 1; i >= 0; --i)
        if (part->base[i] != part->model[i]) {
            first = i;
            ++*bytes;
        }
    return first;
}

/* --- Windows ---------------------------------------------------------------------------------- */

/* All learn where each segment begins. A barrier among other things. */
static inline void memory_publish(struct memory *m)
{
    MPI_Aint mine[MEMORY_MOST_SEGMENTS] = {0};
    MPI_Aint all[MEMORY_MOST_RANKS * MEMORY_MOST_SEGMENTS];
    for (int s = 0; m->flavor == FLAVOR_DYNAMIC && s < m->segments; ++s)
        if (memory_own(m, s)->bytes > 0)
            MPI_Get_address(memory_own(m, s)->base, &mine[s]);
    MPI_Allgather(mine, MEMORY_MOST_SEGMENTS, MPI_AINT, all, MEMORY_MOST_SEGMENTS, MPI_AINT,
                  m->comm);
    for (int r = 0; r < m->size; ++r)
        for (int s = 0; s < m->segments; ++s)
            m->parts[r][s].origin = all[r * MEMORY_MOST_SEGMENTS + s];
}

/* As one region, or as several that touch anywhere: operations go across. */
static inline void memory_attach(struct memory *m, int s, uint64_t *seed)
{
    struct segment *const part = memory_own(m, s);
    MPI_Aint begin = 0;
    part->regions = 0;
    while (begin < part->bytes) {
        bool const last = part->regions + 1 == MEMORY_MOST_REGIONS || check_random(seed) % 3 == 0;
        MPI_Aint const left = part->bytes - begin;
        MPI_Aint const bytes = last ? left : 1 + (MPI_Aint)(check_random(seed) % (uint64_t)left);
        CHECK_OK(MPI_Win_attach(m->win, part->base + begin, bytes));
        part->begins[part->regions++] = begin;
        begin += bytes;
    }
}

static inline void memory_detach(struct memory *m, int s)
{
    struct segment *const part = memory_own(m, s);
    while (part->regions > 0)
        CHECK_OK(MPI_Win_detach(m->win, part->base + part->begins[--part->regions]));
}

static inline void memory_make_window(struct memory *m, MPI_Info info, uint64_t *seed)
{
    struct segment *const own = memory_own(m, 0);
    int const unit = m->units[m->rank];
#if LAYOUT_LARGE
    bool const large = check_random(seed) % 2 != 0;
    if (large && m->flavor == FLAVOR_ALLOCATE)
        CHECK_OK(MPI_Win_allocate_c(own->bytes, unit, info, m->comm, &own->base, &m->win));
    else if (large && m->flavor == FLAVOR_SHARED)
        CHECK_OK(MPI_Win_allocate_shared_c(own->bytes, unit, info, m->comm, &own->base, &m->win));
    else
#endif
        if (m->flavor == FLAVOR_ALLOCATE)
        CHECK_OK(MPI_Win_allocate(own->bytes, unit, info, m->comm, &own->base, &m->win));
    else if (m->flavor == FLAVOR_SHARED)
        CHECK_OK(MPI_Win_allocate_shared(own->bytes, unit, info, m->comm, &own->base, &m->win));
    else {
        for (int s = 0; s < m->segments; ++s)
            memory_allocate(memory_own(m, s), seed);
        if (m->flavor == FLAVOR_CREATE)
            CHECK_OK(MPI_Win_create(own->base, own->bytes, unit, info, m->comm, &m->win));
        else
            CHECK_OK(MPI_Win_create_dynamic(info, m->comm, &m->win));
    }
}

static inline MPI_Info memory_info(struct memory *m, uint64_t *seed)
{
    MPI_Info info;
    MPI_Info_create(&info);
    m->passive = check_random(seed) % 6 != 0;
    if (!m->passive)
        MPI_Info_set(info, "no_locks", "true");
    if (m->flavor == FLAVOR_SHARED && check_random(seed) % 2 != 0)
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    return info;
}

/* Sizes that all know: small, or roomy enough for transfers of megabytes. */
static inline void memory_plan(struct memory *m, bool roomy, uint64_t *seed)
{
    static int const units[] = {1, 4, 8, 1};
    m->segments = m->flavor == FLAVOR_DYNAMIC ? 1 + (int)(check_random(seed) % 4) : 1;
    for (int r = 0; r < m->size; ++r) {
        m->units[r] = m->flavor == FLAVOR_DYNAMIC ? 1 : units[check_random(seed) % 4];
        bool const none = check_random(seed) % 16 == 0;
        for (int s = 0; s < m->segments; ++s) {
            MPI_Aint const more = (MPI_Aint)(check_random(seed) % 8192);
            MPI_Aint const bytes = (roomy && s == 0 ? 3 << 20 : 16 << 10) + more;
            m->parts[r][s].bytes = none ? 0 : bytes / 8 * 8 + (m->units[r] == 1 ? more % 8 : 0);
            m->parts[r][s].model = malloc((size_t)bytes + 8);
        }
    }
}

/* Collective. The random numbers are the same on all ranks. */
static inline struct memory memory_open(enum flavor flavor, bool reversed, bool roomy,
                                        uint64_t seed)
{
    struct memory m = {.flavor = flavor};
    uint64_t local = seed + 1000 + (uint64_t)check_rank;
    int *model = NULL, found = 0;
    MPI_Comm_split(MPI_COMM_WORLD, 0, reversed ? -check_rank : check_rank, &m.comm);
    MPI_Comm_rank(m.comm, &m.rank);
    MPI_Comm_size(m.comm, &m.size);
    memory_plan(&m, roomy, &seed);
    MPI_Info info = memory_info(&m, &seed);
    memory_make_window(&m, info, &local);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(m.win, MPI_ERRORS_RETURN);
    MPI_Win_get_attr(m.win, MPI_WIN_MODEL, &model, &found);
    m.unified = found && *model == MPI_WIN_UNIFIED;
    for (int r = 0; r < m.size; ++r)
        for (int s = 0; s < m.segments; ++s)
            memory_fill(&m, r, s, check_random(&seed));
    for (int s = 0; flavor == FLAVOR_DYNAMIC && s < m.segments; ++s)
        memory_attach(&m, s, &local);
    memory_publish(&m);
    return m;
}

/* Collective. */
static inline void memory_close(struct memory *m)
{
    for (int s = 0; m->flavor == FLAVOR_DYNAMIC && s < m->segments; ++s)
        memory_detach(m, s);
    CHECK_OK(MPI_Win_free(&m->win));
    for (int s = 0; s < m->segments; ++s)
        if (memory_own(m, s)->block != NULL)
            memory_release(memory_own(m, s));
    for (int r = 0; r < m->size; ++r)
        for (int s = 0; s < m->segments; ++s)
            free(m->parts[r][s].model);
    MPI_Comm_free(&m->comm);
}

/* --- Dynamic windows -------------------------------------------------------------------------- */

/* The owner detaches a segment and attaches it again: as it is, mapped anew at the same address, or
 * elsewhere. It has other contents afterwards. Others hear of it by memory_publish. */
static inline void memory_renew(struct memory *m, int rank, int s, uint64_t seed)
{
    struct segment *const part = &m->parts[rank][s];
    uint64_t const way = check_random(&seed) % 3;
    uint64_t const contents = check_random(&seed);
    bool const mine = rank == m->rank && part->bytes > 0;
    if (mine) {
        memory_detach(m, s);
        if (way == 0) {
            memory_release(part);
            memory_allocate(part, &seed);
        } else if (way == 1 && part->mapped != 0)
            memory_map_again(part, contents % 2 != 0);
    }
    memory_fill(m, rank, s, contents);
    if (mine)
        memory_attach(m, s, &seed);
}

#endif /* SIDELIGHT_TESTS_MEMORY_H */
