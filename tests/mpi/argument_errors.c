/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments: places outside of the memory, ranks, types, operations, counts, assertions. */
#include "wrong_calls.h"

/* --- Out of range ----------------------------------------------------------------------------- */

static void plain_ranges(struct window *w, int target)
{
    MPI_Aint const first = cell_at(w, target, 0), past = cell_at(w, target, CELLS);
    MPI_Aint const unit = w->flavor == FLAVOR_DYNAMIC ? UNIT : 1;
    MPI_Aint const places[] = {past,          past + 1,         past + 1000, past - 1 * unit + 1,
                               LLONG_MAX / 8, LLONG_MAX / UNIT, LLONG_MAX};
    for (size_t p = 0; p < sizeof places / sizeof *places; ++p)
        if (w->flavor == FLAVOR_DYNAMIC || p != 3)
            expect_all(w, at_cell(target, places[p], 1), MPI_ERR_RMA_RANGE);
    for (int o = 0; o < WITH_COUNT; ++o) {
        expect(w, (enum operation)o, at_cell(target, first, CELLS + 1), MPI_ERR_RMA_RANGE);
        expect(w, (enum operation)o, at_cell(target, past - unit, 2), MPI_ERR_RMA_RANGE);
        if (w->flavor != FLAVOR_DYNAMIC || w->size == 1) /* else so much may be sent */
            expect(w, (enum operation)o, at_cell(target, first, INT_MAX), MPI_ERR_RMA_RANGE);
    }
}

static void before_the_start(struct window *w, int target)
{
    MPI_Aint const first = cell_at(w, target, 0);
    for (int o = 0; o < OPERATIONS; ++o) {
        MPI_Aint const places[] = {first - 1, first - 1000, LLONG_MIN, LLONG_MIN / UNIT};
        for (int p = 0; p < (w->flavor == FLAVOR_DYNAMIC ? 2 : 4); ++p)
            expect(w, (enum operation)o, at_cell(target, places[p], 1),
                   w->flavor == FLAVOR_DYNAMIC ? MPI_ERR_RMA_RANGE : MPI_ERR_DISP);
    }
}

/* Types whose first byte is inside and another one is not. */
static void derived_ranges(struct window *w, int target)
{
    int const lengths[] = {1, 1}, places[] = {0, CELLS}, before[] = {3, -1};
    MPI_Aint const first = cell_at(w, target, 0), last = cell_at(w, target, CELLS - 1);
    MPI_Datatype types[5];
    MPI_Type_vector(2, 1, CELLS, MPI_INT, &types[0]);
    MPI_Type_vector(2, 1, -1, MPI_INT, &types[1]);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &types[2]);
    MPI_Type_indexed(2, lengths, before, MPI_INT, &types[3]);
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)UNIT * CELLS, &types[4]);
    for (int t = 0; t < 5; ++t) {
        int const count = t == 4 ? 2 : 1;
        MPI_Type_commit(&types[t]);
        for (int o = 0; o < WITH_COUNT; ++o)
            expect(w, (enum operation)o, (struct access){target, first, count, types[t], MPI_SUM},
                   MPI_ERR_RMA_RANGE);
        expect(w, FETCH_AND_OP, (struct access){target, first, 1, types[t], MPI_SUM}, MPI_ERR_TYPE);
        expect(w, COMPARE_AND_SWAP, (struct access){target, first, 1, types[t], MPI_SUM},
               MPI_ERR_TYPE);
    }
    expect(w, PUT, (struct access){target, last, 1, MPI_INT64_T, MPI_SUM}, MPI_ERR_RMA_RANGE);
    for (int t = 0; t < 5; ++t)
        MPI_Type_free(&types[t]);
}

static void ranges(struct window *w)
{
    for (int target = 0; target < w->size; ++target) {
        CHECK_OK(MPI_Win_lock_all(0, w->win));
        plain_ranges(w, target);
        before_the_start(w, target);
        derived_ranges(w, target);
        CHECK_OK(MPI_Win_unlock_all(w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
        plain_ranges(w, target);
        before_the_start(w, target);
        CHECK_OK(MPI_Win_unlock(target, w->win));
    }
    CHECK_OK(MPI_Win_fence(0, w->win));
    if (w->flavor != FLAVOR_DYNAMIC || w->size == 1) /* else the fence may be told */
        plain_ranges(w, w->size - 1);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* --- Arguments -------------------------------------------------------------------------------- */

static void wrong_ranks(struct window *w)
{
    int const wrong[] = {w->size, w->size + 1000, INT_MAX, -12345};
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < 4; ++i) {
        expect_all(w, at_cell(wrong[i], 0, 1), MPI_ERR_RANK);
        CHECK_ERROR(MPI_Win_flush(wrong[i], w->win), MPI_ERR_RANK);
        CHECK_ERROR(MPI_Win_flush_local(wrong[i], w->win), MPI_ERR_RANK);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    for (int i = 0; i < 4; ++i) {
        CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, wrong[i], 0, w->win), MPI_ERR_RANK);
        CHECK_ERROR(MPI_Win_unlock(wrong[i], w->win), MPI_ERR_RANK);
    }
}

static void user_operation(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void wrong_types(struct window *w, MPI_Aint at)
{
    int const lengths[] = {1, 1};
    MPI_Aint const places[] = {0, 8};
    MPI_Datatype const parts[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype mixed;
    MPI_Type_create_struct(2, lengths, places, parts, &mixed);
    MPI_Type_commit(&mixed);
    expect_all(w, (struct access){0, at, 1, MPI_DATATYPE_NULL, MPI_SUM}, MPI_ERR_TYPE);
    expect(w, ACCUMULATE, (struct access){0, at, 1, mixed, MPI_SUM}, MPI_ERR_TYPE);
    expect(w, FETCH_AND_OP, (struct access){0, at, 1, mixed, MPI_SUM}, MPI_ERR_TYPE);
    expect(w, COMPARE_AND_SWAP, (struct access){0, at, 1, MPI_DOUBLE, MPI_SUM}, MPI_ERR_TYPE);
    MPI_Type_free(&mixed);
}

/* Also when it has been asked before, and it is fine once it is committed. */
static void uncommitted_types(struct window *w, MPI_Aint at)
{
    int const value = 7;
    int got = 0;
    MPI_Datatype type;
    MPI_Type_contiguous(1, MPI_INT, &type);
    for (int again = 0; again < 2; ++again)
        expect_all(w, (struct access){0, at, 1, type, MPI_SUM}, MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, at, 1, type, w->win), MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Put(&value, 1, type, 0, at, 1, MPI_INT, w->win), MPI_ERR_TYPE);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Get(&got, 1, type, 0, at, 1, type, w->win));
    CHECK_OK(MPI_Win_flush(0, w->win));
    MPI_Type_free(&type);
}

/* MPICH's handles are numbers, which it looks at; those of Open MPI are addresses. */
static void no_handles(struct window *w)
{
#ifdef MPICH_VERSION
    MPI_Info const info = (MPI_Info)0x5a5a5a10;
    MPI_Win other = MPI_WIN_NULL;
    void *base = NULL;
    CHECK_ERROR(MPI_Win_set_info(w->win, info), MPI_ERR_INFO);
    CHECK_ERROR(MPI_Win_allocate(8, 1, info, w->comm, &base, &other), MPI_ERR_INFO);
#else
    (void)w;
#endif
}

static void wrong_operations(struct window *w, MPI_Aint at)
{
    static const enum operation accumulates[] = {ACCUMULATE, GET_ACCUMULATE, RACCUMULATE,
                                                 RGET_ACCUMULATE, FETCH_AND_OP};
    MPI_Op mine;
    MPI_Op_create(user_operation, 1, &mine);
    for (int i = 0; i < 5; ++i) {
        expect(w, accumulates[i], (struct access){0, at, 1, MPI_INT, MPI_OP_NULL}, MPI_ERR_OP);
        expect(w, accumulates[i], (struct access){0, at, 1, MPI_INT, mine}, MPI_ERR_OP);
        expect(w, accumulates[i], (struct access){0, at, 1, MPI_DOUBLE, MPI_BAND}, MPI_ERR_OP);
        expect(w, accumulates[i], (struct access){0, at, 1, MPI_INT, MPI_MAXLOC}, MPI_ERR_OP);
    }
    MPI_Op_free(&mine);
    for (int count = 1; count <= 2; ++count) {
        struct access const none = {0, at, count, MPI_INT, MPI_NO_OP};
        expect(w, ACCUMULATE, none, MPI_ERR_OP);
        expect(w, RACCUMULATE, none, MPI_ERR_OP);
    }
}

/* Origin and target of an accumulate, or old values and target, are of different types. */
static void mismatches(struct window *w, int target)
{
    MPI_Aint const at = cell_at(w, target, 0);
    CHECK_ERROR(
        MPI_Accumulate(origin_memory, 1, MPI_INT, target, at, 1, MPI_FLOAT, MPI_SUM, w->win),
        MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Get_accumulate(origin_memory, 1, MPI_FLOAT, result_memory, 1, MPI_INT, target,
                                   at, 1, MPI_FLOAT, MPI_SUM, w->win),
                MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Get_accumulate(NULL, 0, MPI_INT, result_memory, 1, MPI_INT, target, at, 1,
                                   MPI_FLOAT, MPI_NO_OP, w->win),
                MPI_ERR_TYPE);
}

/* The same error whether the target has exposed its memory yet or not. */
static void mismatches_around_grant(struct window *w)
{
    int const target = (w->rank + 1) % w->size, origin = (w->rank + w->size - 1) % w->size;
    MPI_Group all, to, from;
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &target, &to);
    MPI_Group_incl(all, 1, &origin, &from);
    check_step("mismatch before the grant");
    CHECK_OK(MPI_Win_start(to, 0, w->win));
    mismatches(w, target);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_post(from, 0, w->win));
    MPI_Barrier(w->comm);
    check_step("mismatch after the grant");
    mismatches(w, target);
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

static void wrong_counts(struct window *w, MPI_Aint at)
{
    int values[8] = {0};
    for (int o = 0; o < WITH_COUNT; ++o) {
        expect(w, (enum operation)o, at_cell(0, at, -1), MPI_ERR_COUNT);
        expect(w, (enum operation)o, at_cell(0, at, INT_MIN), MPI_ERR_COUNT);
    }
    /* What is sent does not fit. */
    CHECK(MPI_Put(values, 8, MPI_INT, 0, at, 4, MPI_INT, w->win) != MPI_SUCCESS);
    CHECK(MPI_Accumulate(values, 8, MPI_INT, 0, at, 4, MPI_INT, MPI_SUM, w->win) != MPI_SUCCESS);
    CHECK(MPI_Get(values, 4, MPI_INT, 0, at, 8, MPI_INT, w->win) != MPI_SUCCESS);
#if MPI_VERSION >= 4
    /* So many bytes that their number in 64 bits is none. */
    MPI_Count const most = (MPI_Count)1 << 61;
    CHECK_ERROR(MPI_Put_c(values, most, MPI_DOUBLE, 0, at, most, MPI_DOUBLE, w->win),
                MPI_ERR_RMA_RANGE);
    CHECK_ERROR(MPI_Get_c(values, most, MPI_DOUBLE, 0, at, most, MPI_DOUBLE, w->win),
                MPI_ERR_RMA_RANGE);
    /* Nor is it taken for what is left of it: for the size of the other side. */
    CHECK_ERROR(MPI_Put_c(values, most + 1, MPI_DOUBLE, 0, at, 1, MPI_DOUBLE, w->win),
                MPI_ERR_RMA_RANGE);
    CHECK_ERROR(
        MPI_Accumulate_c(values, most + 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_SUM, w->win),
        MPI_ERR_RMA_RANGE);
#endif
}

static void wrong_assertions(struct window *w)
{
    int const wrong = 1 << 27;
    MPI_Group group;
    MPI_Win_get_group(w->win, &group);
    CHECK_ERROR(MPI_Win_fence(wrong, w->win), MPI_ERR_ASSERT);
    CHECK_ERROR(MPI_Win_post(group, wrong, w->win), MPI_ERR_ASSERT);
    CHECK_ERROR(MPI_Win_start(group, wrong, w->win), MPI_ERR_ASSERT);
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, wrong, w->win), MPI_ERR_ASSERT);
    CHECK_ERROR(MPI_Win_lock_all(wrong, w->win), MPI_ERR_ASSERT);
    CHECK_ERROR(MPI_Win_lock(4711, 0, 0, w->win), MPI_ERR_LOCKTYPE);
    CHECK_ERROR(MPI_Win_lock(-1, 0, 0, w->win), MPI_ERR_LOCKTYPE);
    MPI_Group_free(&group);
}

static void wrong_groups(struct window *w)
{
    MPI_Group world;
    int same;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_compare(w->comm, MPI_COMM_WORLD, &same);
    CHECK_ERROR(MPI_Win_post(MPI_GROUP_NULL, 0, w->win), MPI_ERR_GROUP);
    CHECK_ERROR(MPI_Win_start(MPI_GROUP_NULL, 0, w->win), MPI_ERR_GROUP);
    if (w->size < check_size) {
        CHECK_ERROR(MPI_Win_post(world, 0, w->win), MPI_ERR_GROUP);
        CHECK_ERROR(MPI_Win_start(world, 0, w->win), MPI_ERR_GROUP);
    }
    MPI_Group_free(&world);
}

static void arguments(struct window *w)
{
    MPI_Aint const at = cell_at(w, 0, 0);
    wrong_ranks(w);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    wrong_types(w, at);
    uncommitted_types(w, at);
    wrong_operations(w, at);
    wrong_counts(w, at);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    check_step("wrong assertions and groups");
    wrong_assertions(w);
    wrong_groups(w);
    no_handles(w);
    if (w->flavor != FLAVOR_SHARED) /* there MPI_Win_start waits */
        mismatches_around_grant(w);
}

static void creation(void)
{
    MPI_Comm comm;
    MPI_Win win = MPI_WIN_NULL;
    void *base = NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_ERROR(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_SIZE);
    CHECK_ERROR(MPI_Win_allocate_shared(-8, 1, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_SIZE);
    CHECK_ERROR_OF(MPI_Win_allocate(64, 0, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_DISP,
                   MPI_ERR_ARG);
    CHECK_ERROR_OF(MPI_Win_allocate_shared(64, -4, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_DISP,
                   MPI_ERR_ARG);
    CHECK(win == MPI_WIN_NULL);
    MPI_Comm_free(&comm);
}

/* What is wrong on one rank alone fails on all, with the same error, and nobody waits. */
static void creation_by_one(void)
{
    MPI_Comm comm;
    MPI_Win win = MPI_WIN_NULL;
    void *base = NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int wrong = 0; wrong < check_size; ++wrong) {
        bool const mine = check_rank == wrong;
        CHECK_ERROR(MPI_Win_allocate(mine ? -1 : 64, 1, MPI_INFO_NULL, comm, &base, &win),
                    MPI_ERR_SIZE);
        CHECK_ERROR(MPI_Win_allocate_shared(64, mine ? 0 : 4, MPI_INFO_NULL, comm, &base, &win),
                    MPI_ERR_DISP);
        CHECK_ERROR(MPI_Win_allocate_shared(mine ? (MPI_Aint)1 << 62 : 64, 1, MPI_INFO_NULL, comm,
                                            &base, &win),
                    MPI_ERR_NO_MEM);
        CHECK_ERROR(MPI_Win_create(origin_memory, mine ? -4 : 64, 1, MPI_INFO_NULL, comm, &win),
                    MPI_ERR_SIZE);
        CHECK_ERROR(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, mine ? NULL : &win), MPI_ERR_ARG);
        CHECK_ERROR(MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, mine ? NULL : (void *)&base, &win),
                    MPI_ERR_ARG);
        CHECK(win == MPI_WIN_NULL);
    }
    MPI_Comm_free(&comm);
}

/* --- What only some flavours have ------------------------------------------------------------- */

static void flavors(struct window *w)
{
    unsigned char more[BYTES];
    MPI_Aint size;
    int unit;
    void *base;
    if (w->flavor != FLAVOR_DYNAMIC) {
        CHECK_ERROR_OF(MPI_Win_attach(w->win, more, BYTES), MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_ATTACH);
        CHECK_ERROR_OF(MPI_Win_detach(w->win, more), MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_ATTACH);
    } else {
        CHECK_ERROR(MPI_Win_attach(w->win, w->base, BYTES), MPI_ERR_RMA_ATTACH);
        CHECK_ERROR(MPI_Win_attach(w->win, w->base + 8, 8), MPI_ERR_RMA_ATTACH);
        CHECK_ERROR(MPI_Win_attach(w->win, more, -1), MPI_ERR_SIZE);
        CHECK(MPI_Win_detach(w->win, more) != MPI_SUCCESS);
        CHECK_ERROR(MPI_Win_shared_query(w->win, 0, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
    }
    if (w->flavor == FLAVOR_SHARED)
        CHECK_ERROR(MPI_Win_shared_query(w->win, w->size, &size, &unit, &base), MPI_ERR_RANK);
}

static void everything(struct window *w)
{
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    fill(w);
    MPI_Barrier(w->comm);
    ranges(w);
    check_usable(w, 0);
    arguments(w);
    check_usable(w, w->size - 1);
    flavors(w);
    check_usable(w, 0);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (host_is_alone())
        return check_skip("the hosts do not check what is tested here");
    wrong_calls_begin();
    run_everywhere("errors", everything, BYTES, UNIT);
    check_step("creation");
    creation();
    creation_by_one();
    return check_end();
}
