/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random derived datatypes on both sides of put, get and the accumulates, against a sequential
 * model of the whole target memory, gaps included. Each rank has bytes of its own. Arguments: the
 * seed, and the number of rounds; what failed is run again by giving the seed that it printed, with
 * one round.
 */
#include "host_defects.h"
#include "layouts.h"

enum { BYTES = 1 << 18, MIDDLE = BYTES / 2, MOST_EXTENT = BYTES / 2 - 64 };

enum call { PUT, GET, ACCUMULATE, GET_ACCUMULATE, REPLACE, RPUT, RGET, CALLS };

static const char *const call_names[CALLS] = {"put",     "get",  "accumulate", "get_accumulate",
                                              "replace", "rput", "rget"};

static int const numbers[] = {1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 36, 48, 72, 96, 144};

struct round {
    struct layout origin, target, result;
    int origin_count, target_count, result_count, elements;
    size_t size; /* of the base type */
    enum call call;
    uint64_t seed; /* of what the memories hold */
};

static unsigned char origin_memory[BYTES], result_memory[BYTES];
static unsigned char expected_target[BYTES], expected_result[BYTES];
static unsigned char origin_of_left[BYTES], target_of_right[BYTES]; /* as they are at first */

static MPI_Datatype random_base(uint64_t *seed)
{
    MPI_Datatype const bases[] = {MPI_INT8_T, MPI_INT16_T, MPI_INT, MPI_INT64_T, MPI_DOUBLE};
    return bases[check_random(seed) % (sizeof bases / sizeof *bases)];
}

/* A type of a divisor of n elements, and the count that makes them n. */
static struct layout random_side(MPI_Datatype base, int n, int *count, uint64_t *seed)
{
    *count = n % 2 == 0 && check_random(seed) % 2 != 0 ? 2 : 1;
    if (n % 3 == 0 && check_random(seed) % 2 != 0)
        *count *= 3;
    return layout_random(base, n / *count, seed);
}

static MPI_Aint element_at(const struct layout *l, int element)
{
    return MIDDLE + l->at[element % l->elements] + element / l->elements * l->extent;
}

static bool fits(const struct layout *l, int count)
{
    MPI_Aint low;
    MPI_Aint const span = layout_span(l, &low);
    MPI_Aint const reach = (low < 0 ? -low : low) + span + count * l->extent;
    return reach < MOST_EXTENT;
}

enum content { ORIGIN_BYTES, RESULT_BYTES, TARGET_BYTES, CONTENTS };

/* What a rank has in one of its memories: a number per element, small enough for sums in eight bits
 * to be exact. */
static void fill(unsigned char *memory, const struct round *r, int rank, enum content content)
{
    uint64_t seed = r->seed + (uint64_t)(rank * CONTENTS + (int)content), drawn = 0;
    MPI_Datatype const base = r->target.base;
    size_t const size = r->size;
    int left = 0; /* of the last number that was drawn: eight are taken from it */
    memset(memory, 0, BYTES);
    for (size_t at = 0; at + size <= BYTES; at += size, drawn >>= 8, --left) {
        if (left == 0) {
            drawn = check_random(&seed);
            left = 8;
        }
        int const value = (int)(drawn % 64);
        if (base == MPI_DOUBLE)
            *(double *)(memory + at) = value;
        else
            memory[at] = (unsigned char)value;
    }
}

static void add(unsigned char *to, const unsigned char *from, MPI_Datatype base)
{
    if (base == MPI_DOUBLE)
        *(double *)to += *(const double *)from;
    else
        to[0] = (unsigned char)(to[0] + from[0]);
}

/* What the left neighbour does to this rank's memory, and what this rank reads in its right one's.
 */
static void model(const struct round *r)
{
    for (int i = 0; i < r->elements; ++i) {
        unsigned char *const target = expected_target + element_at(&r->target, i);
        const unsigned char *const origin = origin_of_left + element_at(&r->origin, i);
        if (r->call == GET || r->call == RGET || r->call == GET_ACCUMULATE)
            memcpy(expected_result + element_at(&r->result, i),
                   target_of_right + element_at(&r->target, i), r->size);
        if (r->call == ACCUMULATE || r->call == GET_ACCUMULATE)
            add(target, origin, r->target.base);
        if (r->call == PUT || r->call == RPUT || r->call == REPLACE)
            memcpy(target, origin, r->size);
    }
}

static void apply(const struct round *r, struct window *w, int target)
{
    MPI_Aint const at = window_at(w, target, MIDDLE);
    void *const origin = origin_memory + MIDDLE, *const result = result_memory + MIDDLE;
    MPI_Request request = MPI_REQUEST_NULL;
#define ORIGIN origin, r->origin_count, r->origin.type
#define RESULT result, r->result_count, r->result.type
#define TARGET target, at, r->target_count, r->target.type
    if (r->call == PUT)
        CHECK_OK(MPI_Put(ORIGIN, TARGET, w->win));
    if (r->call == RPUT)
        CHECK_OK(MPI_Rput(ORIGIN, TARGET, w->win, &request));
    if (r->call == GET)
        CHECK_OK(MPI_Get(RESULT, TARGET, w->win));
    if (r->call == RGET)
        CHECK_OK(MPI_Rget(RESULT, TARGET, w->win, &request));
    if (r->call == ACCUMULATE)
        CHECK_OK(MPI_Accumulate(ORIGIN, TARGET, MPI_SUM, w->win));
    if (r->call == REPLACE)
        CHECK_OK(MPI_Accumulate(ORIGIN, TARGET, MPI_REPLACE, w->win));
    if (r->call == GET_ACCUMULATE)
        CHECK_OK(MPI_Get_accumulate(ORIGIN, RESULT, TARGET, MPI_SUM, w->win));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static struct round prepare(const struct window *w, uint64_t *seed)
{
    int const left = (w->rank + w->size - 1) % w->size, right = (w->rank + 1) % w->size;
    MPI_Datatype const base = random_base(seed);
    int size, n = numbers[check_random(seed) % (sizeof numbers / sizeof *numbers)];
    struct round r = {.elements = n, .call = (enum call)(check_random(seed) % CALLS)};
    MPI_Type_size(base, &size);
    r.size = (size_t)size;
    r.origin = random_side(base, n, &r.origin_count, seed);
    r.target = random_side(base, n, &r.target_count, seed);
    r.result = random_side(base, n, &r.result_count, seed);
    r.seed = check_random(seed);
    fill(origin_memory, &r, w->rank, ORIGIN_BYTES);
    fill(result_memory, &r, w->rank, RESULT_BYTES);
    fill(expected_target, &r, w->rank, TARGET_BYTES);
    fill(origin_of_left, &r, left, ORIGIN_BYTES);
    fill(target_of_right, &r, right, TARGET_BYTES);
    memcpy(expected_result, result_memory, BYTES);
    return r;
}

/* Every rank works on the memory of its right neighbour; all draw the same types. */
static bool play(struct window *w, uint64_t seed)
{
    struct round r = prepare(w, &seed);
    bool good = true;
    memcpy(w->base, expected_target, BYTES);
    window_meet(w);
    if (fits(&r.origin, r.origin_count) && fits(&r.target, r.target_count) &&
        fits(&r.result, r.result_count)) {
        apply(&r, w, (w->rank + 1) % w->size);
        model(&r);
    }
    /* Types may be freed while operations use them. */
    layout_free(&r.origin);
    layout_free(&r.target);
    layout_free(&r.result);
    window_meet(w);
    good &= CHECK(memcmp(w->base, expected_target, BYTES) == 0);
    good &= CHECK(memcmp(result_memory, expected_result, BYTES) == 0);
    if (!good)
        fprintf(stderr, "    %s of %d elements\n", call_names[r.call], r.elements);
    return good;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    uint64_t const seed = check_argument(argc, argv, 1, 1);
    uint64_t const rounds = check_argument(argc, argv, 2, 150);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        check_step(flavor_names[flavor]);
        if (host_cannot("datatypes", (enum flavor)flavor, check_size))
            continue;
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD, BYTES, 1);
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        for (uint64_t i = seed; i < seed + rounds; ++i)
            if (!play(&w, i))
                fprintf(stderr, "    to see it again: datatypes %llu 1\n", (unsigned long long)i);
        CHECK_OK(MPI_Win_unlock_all(w.win));
        window_close(&w);
    }
    return check_end();
}
