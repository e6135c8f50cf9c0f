/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every operation and its request form, on every flavour of window and shape of communicator.
 * Each rank owns one slot of eight bytes at every rank, and a second one that all ranks add to.
 */
#include "host_defects.h"

static MPI_Aint slot_at(const struct window *w, int target, int slot)
{
    return window_at(w, target, (MPI_Aint)sizeof(int64_t) * slot);
}

static int64_t read_slot(struct window *w, int target, int slot)
{
    int64_t value = -1;
    CHECK_OK(
        MPI_Get(&value, 1, MPI_INT64_T, target, slot_at(w, target, slot), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush(target, w->win));
    return value;
}

static void put_and_get(struct window *w)
{
    for (int target = 0; target < w->size; ++target) {
        int64_t const value = 1000 * w->rank + target;
        CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, target, slot_at(w, target, w->rank), 1,
                         MPI_INT64_T, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_EQ(read_slot(w, target, w->rank), value);
    }
    window_meet(w);
    for (int origin = 0; origin < w->size; ++origin) {
        int64_t value;
        memcpy(&value, w->base + sizeof value * (size_t)origin, sizeof value);
        CHECK_EQ(value, 1000 * origin + w->rank);
        CHECK_EQ(read_slot(w, origin, w->rank), 1000 * w->rank + origin);
    }
    MPI_Barrier(w->comm);
}

static void accumulate(struct window *w)
{
    int const shared = w->size;
    int64_t const one = 1, minus = -5, ten = 10;
    for (int target = 0; target < w->size; ++target) {
        int64_t before = -1;
        CHECK_OK(MPI_Accumulate(&ten, 1, MPI_INT64_T, target, slot_at(w, target, w->rank), 1,
                                MPI_INT64_T, MPI_REPLACE, w->win));
        CHECK_OK(MPI_Get_accumulate(&minus, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, target,
                                    slot_at(w, target, w->rank), 1, MPI_INT64_T, MPI_SUM, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_EQ(before, 10);
        CHECK_EQ(read_slot(w, target, w->rank), 5);
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, slot_at(w, target, shared), 1,
                                MPI_INT64_T, MPI_SUM, w->win));
    }
    window_meet(w);
    CHECK_EQ(read_slot(w, w->rank, shared), w->size);
    MPI_Barrier(w->comm);
}

static void fetch_and_op(struct window *w)
{
    int const shared = w->size;
    int64_t const three = 3;
    for (int target = 0; target < w->size; ++target) {
        int64_t before = -1;
        CHECK_OK(MPI_Fetch_and_op(&three, &before, MPI_INT64_T, target, slot_at(w, target, shared),
                                  MPI_SUM, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK(before >= w->size && (before - w->size) % 3 == 0);
        CHECK_OK(MPI_Fetch_and_op(NULL, &before, MPI_INT64_T, target, slot_at(w, target, w->rank),
                                  MPI_NO_OP, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_EQ(before, 5);
    }
    window_meet(w);
    CHECK_EQ(read_slot(w, w->rank, shared), 4 * w->size);
    MPI_Barrier(w->comm);
}

static void compare_and_swap(struct window *w)
{
    int64_t const five = 5, seven = 7, nine = 9;
    for (int target = 0; target < w->size; ++target) {
        int64_t before = -1;
        CHECK_OK(MPI_Compare_and_swap(&seven, &five, &before, MPI_INT64_T, target,
                                      slot_at(w, target, w->rank), w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_EQ(before, 5);
        CHECK_OK(MPI_Compare_and_swap(&nine, &five, &before, MPI_INT64_T, target,
                                      slot_at(w, target, w->rank), w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_EQ(before, 7);
        CHECK_EQ(read_slot(w, target, w->rank), 7);
    }
    MPI_Barrier(w->comm);
}

static void request_forms(struct window *w)
{
    int64_t const value = 100 + w->rank, add = 11;
    for (int target = 0; target < w->size; ++target) {
        MPI_Aint const at = slot_at(w, target, w->rank);
        int64_t before = -1, after = -1;
        MPI_Request r[2];
        CHECK_OK(MPI_Rput(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, w->win, &r[0]));
        CHECK_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        CHECK(r[0] == MPI_REQUEST_NULL);
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_OK(MPI_Raccumulate(&add, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_SUM, w->win,
                                 &r[0]));
        CHECK_OK(MPI_Rget_accumulate(&add, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, target, at, 1,
                                     MPI_INT64_T, MPI_SUM, w->win, &r[1]));
        CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        CHECK_EQ(before, value + add);
        CHECK_OK(MPI_Win_flush(target, w->win));
        CHECK_OK(MPI_Rget(&after, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, w->win, &r[0]));
        CHECK_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        CHECK_EQ(after, value + 2 * add);
    }
    MPI_Barrier(w->comm);
}

/* A target of MPI_PROC_NULL and a count of zero do nothing, in every operation. */
static void nothing(struct window *w)
{
    int64_t value = 42, result = 43;
    int const none = MPI_PROC_NULL;
    MPI_Request r[4];
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, none, 0, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Get(&result, 1, MPI_INT64_T, none, 0, 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT64_T, none, 0, 1, MPI_INT64_T, MPI_SUM, w->win));
    CHECK_OK(MPI_Fetch_and_op(&value, &result, MPI_INT64_T, none, 0, MPI_SUM, w->win));
    CHECK_OK(MPI_Rput(&value, 1, MPI_INT64_T, none, 0, 1, MPI_INT64_T, w->win, &r[0]));
    CHECK_OK(MPI_Rget(&result, 1, MPI_INT64_T, none, 0, 1, MPI_INT64_T, w->win, &r[1]));
    CHECK_OK(
        MPI_Raccumulate(&value, 1, MPI_INT64_T, none, 0, 1, MPI_INT64_T, MPI_SUM, w->win, &r[2]));
    CHECK_OK(MPI_Rget_accumulate(&value, 1, MPI_INT64_T, &result, 1, MPI_INT64_T, none, 0, 1,
                                 MPI_INT64_T, MPI_SUM, w->win, &r[3]));
    CHECK_OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Get_accumulate(&value, 1, MPI_INT64_T, &result, 1, MPI_INT64_T, none, 0, 1,
                                MPI_INT64_T, MPI_SUM, w->win));
    CHECK_OK(MPI_Compare_and_swap(&value, &value, &result, MPI_INT64_T, none, 0, w->win));
    CHECK_EQ(result, 43);
    CHECK_OK(MPI_Put(NULL, 0, MPI_INT64_T, 0, slot_at(w, 0, 0), 0, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Get(NULL, 0, MPI_INT64_T, 0, slot_at(w, 0, 0), 0, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_EQ(read_slot(w, 0, w->rank), 100 + w->rank + 22);
}

static void all_operations(struct window *w)
{
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    MPI_Barrier(w->comm);
    put_and_get(w);
    accumulate(w);
    fetch_and_op(w);
    compare_and_swap(w);
    request_forms(w);
    nothing(w);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run_everywhere("operations", all_operations, (MPI_Aint)sizeof(int64_t) * (check_size + 1),
                   sizeof(int64_t));
    return check_end();
}
