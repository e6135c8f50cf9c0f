/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory handles (P2, section 4.2): a rank makes a handle of its memory and sends the bytes to the
 * one on its left, which opens a window of it. Everything with memory that others can map, and with
 * memory that stays private.
 *
 * memory_handles [how many windows come and go]
 */
#include "footprint.h"
#include "noted_errors.h"
#include <sidelight.h>

enum { WORDS = 4096, LONG = 3000, MANY = 300 };

/* A dynamic window, the memory of this rank, the handle of it, and the window of the right one's.
 */
static struct {
    MPI_Win parent;
    int rank, size, right, left;
    bool allocated;
    int64_t *memory;
    unsigned char own[MPIX_MAX_MEMHANDLE_SIZE], theirs[MPIX_MAX_MEMHANDLE_SIZE];
    int bytes;
    MPI_Win win;
} t;

static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void take_memory(bool allocated)
{
    t.allocated = allocated;
    if (allocated)
        MPI_Alloc_mem(8 * WORDS, MPI_INFO_NULL, &t.memory);
    else
        t.memory = malloc(8 * WORDS);
    memset(t.memory, 0, 8 * WORDS);
}

static void give_memory(void)
{
    if (t.allocated)
        MPI_Free_mem(t.memory);
    else
        free(t.memory);
}

static void exchange_handles(void)
{
    MPI_Sendrecv(t.own, MPIX_MAX_MEMHANDLE_SIZE, MPI_BYTE, t.left, 5, t.theirs,
                 MPIX_MAX_MEMHANDLE_SIZE, MPI_BYTE, t.right, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void create(void)
{
    t.bytes = -1;
    memset(t.own, 0xEE, sizeof t.own);
    CHECK_OK(MPIX_Memhandle_create(t.memory, 8 * WORDS, MPI_INFO_NULL, t.parent, t.own, &t.bytes));
    CHECK(t.bytes > 0 && t.bytes <= MPIX_MAX_MEMHANDLE_SIZE);
    for (int k = t.bytes; k < MPIX_MAX_MEMHANDLE_SIZE; ++k)
        CHECK_EQ(t.own[k], 0xEE);
    exchange_handles();
}

static int open_as(MPI_Win *win, MPI_Aint size, int unit)
{
    return MPIX_Win_from_memhandle(t.theirs, size, unit, MPI_INFO_NULL, t.right, t.parent, win);
}

static void begin(bool allocated, const char *what)
{
    check_step(what);
    take_memory(allocated);
    create();
    CHECK_OK(open_as(&t.win, 8 * WORDS, 8));
    CHECK_OK(MPI_Win_lock_all(0, t.parent));
    meet();
}

static void end(void)
{
    CHECK_OK(MPI_Win_unlock_all(t.parent));
    CHECK_OK(MPI_Win_free(&t.win));
    CHECK(t.win == MPI_WIN_NULL);
    meet();
    CHECK_OK(MPIX_Memhandle_release(t.own, t.parent));
    give_memory();
}

/* --- What its window does --------------------------------------------------------------------- */

static void wait_for(MPI_Request *request) { CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE)); }

static void operations(bool allocated)
{
    int64_t const mine = 1000 + t.rank, one = 1, zero = 0, seven = 7;
    int64_t got = -1, old = -1, row[LONG], back[LONG];
    begin(allocated, "operations");
    for (int k = 0; k < LONG; ++k)
        row[k] = 1000000 * (t.rank + 1) + k;
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, t.right, 3, 1, MPI_INT64_T, t.win));
    CHECK_OK(MPI_Put(row, LONG, MPI_INT64_T, t.right, 1000, LONG, MPI_INT64_T, t.win));
    CHECK_OK(MPI_Win_flush(t.right, t.win));
    CHECK_OK(MPI_Get(&got, 1, MPI_INT64_T, t.right, 3, 1, MPI_INT64_T, t.win));
    CHECK_OK(MPI_Get(back, LONG, MPI_INT64_T, t.right, 1000, LONG, MPI_INT64_T, t.win));
    CHECK_OK(MPI_Win_flush_all(t.win));
    CHECK_EQ(got, mine);
    CHECK(memcmp(row, back, sizeof row) == 0);
    for (int k = 0; k < 10; ++k)
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, t.right, 4, 1, MPI_INT64_T, MPI_SUM, t.win));
    CHECK_OK(MPI_Fetch_and_op(&seven, &old, MPI_INT64_T, t.right, 4, MPI_SUM, t.win));
    CHECK_OK(MPI_Win_flush_local(t.right, t.win));
    CHECK_EQ(old, 10);
    CHECK_OK(MPI_Compare_and_swap(&seven, &zero, &old, MPI_INT64_T, t.right, 5, t.win));
    CHECK_OK(MPI_Win_flush_local_all(t.win));
    CHECK_EQ(old, 0);
    CHECK_OK(MPI_Get_accumulate(row, 3, MPI_INT64_T, back, 3, MPI_INT64_T, t.right, 6, 3,
                                MPI_INT64_T, MPI_REPLACE, t.win));
    CHECK_OK(MPI_Win_flush(t.right, t.win));
    CHECK_EQ(back[2], 0);
    CHECK_OK(MPI_Win_flush(t.right, t.parent)); /* of what comes by either */
    meet();
    CHECK_OK(MPI_Win_sync(t.parent));
    CHECK_EQ(t.memory[3], 1000 + t.left);
    CHECK_EQ(t.memory[1000 + LONG - 1], 1000000 * (t.left + 1) + LONG - 1);
    CHECK_EQ(t.memory[4], 17);
    CHECK_EQ(t.memory[5], 7);
    CHECK_EQ(t.memory[8], 1000000 * (t.left + 1) + 2);
    end();
}

static void requests(bool allocated)
{
    int64_t const mine = 2000 + t.rank, one = 1;
    int64_t got = -1, old = -1;
    MPI_Request r;
    begin(allocated, "requests");
    CHECK_OK(MPI_Rput(&mine, 1, MPI_INT64_T, t.right, 0, 1, MPI_INT64_T, t.win, &r));
    wait_for(&r);
    CHECK_OK(MPIX_Rrput(&mine, 1, MPI_INT64_T, t.right, 1, 1, MPI_INT64_T, t.win, &r));
    wait_for(&r);
    CHECK_OK(
        MPIX_Rraccumulate(&one, 1, MPI_INT64_T, t.right, 2, 1, MPI_INT64_T, MPI_SUM, t.win, &r));
    wait_for(&r);
    CHECK_OK(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, t.right, 2, 1,
                                 MPI_INT64_T, MPI_SUM, t.win, &r));
    wait_for(&r);
    CHECK_EQ(old, 1);
    CHECK_OK(MPIX_Win_iflush(t.right, t.win, &r));
    wait_for(&r);
    CHECK_OK(MPI_Rget(&got, 1, MPI_INT64_T, t.right, 0, 1, MPI_INT64_T, t.win, &r));
    wait_for(&r);
    CHECK_EQ(got, mine);
    CHECK_OK(MPIX_Win_iflush_all(t.win, &r));
    wait_for(&r);
    meet();
    CHECK_OK(MPI_Win_sync(t.parent));
    CHECK_EQ(t.memory[1], 2000 + t.left);
    CHECK_EQ(t.memory[2], 2);
    end();
}

/* The counters are the parent's. */
static void notifications(bool allocated)
{
    int64_t const mine = 3000 + t.rank;
    MPI_Request r;
    MPI_Count value = 0;
    check_step("notifications");
    CHECK_OK(MPI_Win_set_num_notify(t.parent, MPI_INFO_NULL, 2));
    begin(allocated, "notifications");
    CHECK_OK(MPI_Put_notify(&mine, 1, MPI_INT64_T, t.right, 9, 1, MPI_INT64_T, 1, t.win));
    CHECK_OK(MPIX_Win_notify_ithreshold(t.parent, 1, 1, &r));
    wait_for(&r);
    CHECK_EQ(t.memory[9], 3000 + t.left);
    CHECK_OK(MPI_Win_get_notify_value(t.win, 1, &value));
    CHECK_EQ(value, 1);
    meet();
    end();
}

/* Every second word, with a hole behind each; and a part of the region, in bytes. */
static void types_and_parts(bool allocated)
{
    int64_t const two[2] = {4000 + t.rank, 5000 + t.rank};
    char const letter = (char)('a' + t.rank);
    MPI_Datatype spread;
    MPI_Win part;
    begin(allocated, "types and parts");
    MPI_Type_vector(2, 1, 2, MPI_INT64_T, &spread);
    MPI_Type_commit(&spread);
    CHECK_OK(MPI_Put(two, 2, MPI_INT64_T, t.right, 20, 1, spread, t.win));
    CHECK_OK(open_as(&part, 100, 1));
    CHECK_OK(MPI_Put(&letter, 1, MPI_CHAR, t.right, 99, 1, MPI_CHAR, part));
    CHECK_OK(MPI_Win_set_errhandler(part, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPI_Put(&letter, 1, MPI_CHAR, t.right, 100, 1, MPI_CHAR, part), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_free(&part));
    CHECK_OK(MPI_Win_flush_all(t.parent));
    meet();
    CHECK_OK(MPI_Win_sync(t.parent));
    CHECK_EQ(t.memory[20], 4000 + t.left);
    CHECK_EQ(t.memory[21], 0);
    CHECK_EQ(t.memory[22], 5000 + t.left);
    CHECK_EQ(((char *)t.memory)[99], 'a' + t.left);
    CHECK_EQ(((char *)t.memory)[100], 0);
    MPI_Type_free(&spread);
    end();
}

/* The parent's unlock completes what was put by a window that is gone by then. */
static void parents_unlock(bool allocated)
{
    int64_t const mine = 6000 + t.rank;
    begin(allocated, "the parent's unlock");
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, t.right, 30, 1, MPI_INT64_T, t.win));
    CHECK_OK(MPI_Win_free(&t.win));
    CHECK_OK(MPI_Win_unlock_all(t.parent));
    meet();
    CHECK_EQ(t.memory[30], 6000 + t.left);
    CHECK_OK(open_as(&t.win, 8 * WORDS, 8));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t.right, 0, t.parent));
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, t.right, 31, 1, MPI_INT64_T, t.win));
    CHECK_OK(MPI_Win_unlock(t.right, t.parent));
    meet();
    CHECK_EQ(t.memory[31], 6000 + t.left);
    CHECK_OK(MPI_Win_lock_all(0, t.parent));
    end();
}

static void own_handle(bool allocated)
{
    int64_t const mine = 7000;
    int64_t got = 0;
    MPI_Win own;
    void *base = NULL;
    int found = 0;
    begin(allocated, "an own handle");
    CHECK_OK(MPIX_Win_from_memhandle(t.own, 8 * WORDS, 8, MPI_INFO_NULL, t.rank, t.parent, &own));
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, t.rank, 40, 1, MPI_INT64_T, own));
    CHECK_OK(MPI_Win_flush(t.rank, own));
    CHECK_OK(MPI_Get(&got, 1, MPI_INT64_T, t.rank, 40, 1, MPI_INT64_T, own));
    CHECK_OK(MPI_Win_flush(t.rank, own));
    CHECK_EQ(got, 7000);
    CHECK_EQ(t.memory[40], 7000);
    CHECK_OK(MPI_Win_get_attr(own, MPI_WIN_BASE, &base, &found));
    CHECK(found && base == t.memory);
    CHECK_OK(MPI_Win_free(&own));
    meet();
    end();
}

/* --- What it is ------------------------------------------------------------------------------- */

static int deleted;

static int on_delete(MPI_Win win, int key, void *value, void *extra)
{
    void *own = NULL;
    int found = 0;
    (void)value, (void)extra;
    ++deleted;
    return MPI_Win_get_attr(win, key, &own, &found); /* it still answers */
}

static void what_it_is(void)
{
    MPI_Group mine, its;
    MPI_Info info;
    MPI_Errhandler handler;
    char name[MPI_MAX_OBJECT_NAME] = "x", value[64] = "";
    int same = MPI_UNEQUAL, length = -1, found = 0, key = MPI_KEYVAL_INVALID;
    void *set = NULL;
    begin(true, "what it is");
    CHECK_EQ(*(MPI_Aint *)check_attribute(t.win, MPI_WIN_SIZE), 8 * WORDS);
    CHECK_EQ(*(int *)check_attribute(t.win, MPI_WIN_DISP_UNIT), 8);
    CHECK_EQ(*(int *)check_attribute(t.win, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_CREATE);
    CHECK_EQ(*(int *)check_attribute(t.win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
    CHECK(t.size == 1 || check_attribute(t.win, MPI_WIN_BASE) == MPI_BOTTOM);
    CHECK_OK(MPI_Win_get_group(t.parent, &mine));
    CHECK_OK(MPI_Win_get_group(t.win, &its));
    CHECK_OK(MPI_Group_compare(mine, its, &same));
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&mine);
    MPI_Group_free(&its);
    CHECK_OK(MPI_Win_get_errhandler(t.win, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    CHECK_OK(MPI_Win_get_info(t.win, &info));
    MPI_Info_get(info, "mpi_win_order", 63, value, &found);
    CHECK(found && strcmp(value, "false") == 0);
    MPI_Info_free(&info);

    /* A name and an attribute go with their window: the next one has none of them. */
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL);
    for (int round = 0; round < 3; ++round) {
        MPI_Win other;
        CHECK_OK(open_as(&other, 8, 1));
        CHECK_OK(MPI_Win_get_name(other, name, &length));
        CHECK(strcmp(name, "a name") != 0);
        CHECK_OK(MPI_Win_get_attr(other, key, &set, &found));
        CHECK(!found);
        CHECK_OK(MPI_Win_set_name(other, "a name"));
        CHECK_OK(MPI_Win_set_errhandler(other, MPI_ERRORS_ARE_FATAL));
        if (round != 1)
            CHECK_OK(MPI_Win_set_attr(other, key, &deleted));
        CHECK_OK(MPI_Win_free(&other));
        CHECK_EQ(deleted, round == 0 ? 1 : round);
        if (round == 1)
            deleted = 1;
    }
    MPI_Win_free_keyval(&key);

    /* Keys of its own: the direct path of an ordered window, and the parent's stay. */
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_order", "true");
    MPI_Win ordered;
    CHECK_OK(MPIX_Win_from_memhandle(t.theirs, 64, 8, info, t.right, t.parent, &ordered));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_get_info(ordered, &info));
    MPI_Info_get(info, "mpi_win_order", 63, value, &found);
    CHECK(found && strcmp(value, "true") == 0);
    MPI_Info_free(&info);
    int64_t const values[2] = {1, 2};
    int64_t got = 0;
    CHECK_OK(MPI_Put(&values[0], 1, MPI_INT64_T, t.right, 7, 1, MPI_INT64_T, ordered));
    CHECK_OK(MPI_Put(&values[1], 1, MPI_INT64_T, t.right, 7, 1, MPI_INT64_T, ordered));
    CHECK_OK(MPI_Get(&got, 1, MPI_INT64_T, t.right, 7, 1, MPI_INT64_T, ordered));
    CHECK_OK(MPI_Win_flush(t.right, ordered));
    CHECK_EQ(got, 2);
    CHECK_OK(MPI_Win_free(&ordered));
    meet();
    end();
}

/* --- Errors ----------------------------------------------------------------------------------- */

static void wrong_calls(void)
{
    int64_t value = 1;
    MPI_Request r;
    MPI_Group self = check_group(1, &t.rank);
    int flag = 0;
    begin(true, "wrong calls");
    if (t.size > 1) {
        CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, t.rank, 0, 1, MPI_INT64_T, t.win),
                    MPI_ERR_RANK);
        CHECK_ERROR(MPI_Win_flush(t.rank, t.win), MPI_ERR_RANK);
    }
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, t.size, 0, 1, MPI_INT64_T, t.win), MPI_ERR_RANK);
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, t.win));
    CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, t.win));
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, t.right, -1, 1, MPI_INT64_T, t.win), MPI_ERR_DISP);
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, t.right, WORDS, 1, MPI_INT64_T, t.win),
                MPI_ERR_RMA_RANGE);
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, t.right, (MPI_Aint)1 << 61, 1, MPI_INT64_T, t.win),
                MPI_ERR_RMA_RANGE); /* times 8 it is the first byte again */
    CHECK_ERROR(MPI_Win_fence(0, t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, t.right, 0, t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_unlock(t.right, t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_lock_all(0, t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_unlock_all(t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_post(self, 0, t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_start(self, 0, t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_complete(t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_wait(t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_test(t.win, &flag), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_sync(t.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_ilock(MPI_LOCK_SHARED, t.right, 0, t.win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Win_iunlock_all(t.win, &r), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_attach(t.win, &value, 8), MPI_ERR_RMA_FLAVOR);
    CHECK_ERROR(MPI_Win_detach(t.win, &value), MPI_ERR_RMA_FLAVOR);
    MPI_Aint bytes;
    void *base;
    CHECK_ERROR(MPI_Win_shared_query(t.win, t.right, &bytes, &flag, &base), MPI_ERR_RMA_FLAVOR);
    MPI_Win other;
    CHECK_ERROR(MPIX_Win_dup_with_info(t.win, MPI_INFO_NULL, &other), MPI_ERR_RMA_FLAVOR);
    CHECK_ERROR(MPI_Win_set_num_notify(t.win, MPI_INFO_NULL, 1), MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_flush_all(t.parent));
    meet();
    CHECK_OK(MPI_Win_unlock_all(t.parent));
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, t.right, 0, 1, MPI_INT64_T, t.win),
                MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPI_Win_flush(t.right, t.win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(0, t.parent));
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, t.right, 0, 1, MPI_INT64_T, t.win),
                MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, t.parent));
    CHECK_OK(MPI_Win_lock_all(0, t.parent));
    MPI_Group_free(&self);
    end();
}

static void wrong_arguments(void)
{
    unsigned char handle[MPIX_MAX_MEMHANDLE_SIZE];
    int bytes = 0;
    MPI_Win other, allocated;
    void *base;
    begin(true, "wrong arguments");
    CHECK_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated));
    MPI_Win_set_errhandler(allocated, MPI_ERRORS_RETURN);
    CHECK_ERROR(MPIX_Memhandle_create(base, 8, MPI_INFO_NULL, allocated, handle, &bytes),
                MPI_ERR_RMA_FLAVOR);
    CHECK_ERROR(MPIX_Win_from_memhandle(t.theirs, 8, 1, MPI_INFO_NULL, t.right, allocated, &other),
                MPI_ERR_RMA_FLAVOR);
    CHECK_ERROR(MPIX_Memhandle_release(t.own, allocated), MPI_ERR_RMA_FLAVOR);
    CHECK_ERROR(MPIX_Memhandle_create(base, 8, MPI_INFO_NULL, t.win, handle, &bytes),
                MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_free(&allocated));
    CHECK_ERROR(MPIX_Memhandle_create(base, -1, MPI_INFO_NULL, t.parent, handle, &bytes),
                MPI_ERR_SIZE);
    CHECK_ERROR(MPIX_Memhandle_create(NULL, 8, MPI_INFO_NULL, t.parent, handle, &bytes),
                MPI_ERR_BASE);
    CHECK_ERROR(MPIX_Memhandle_create(t.memory, 8, MPI_INFO_NULL, t.parent, NULL, &bytes),
                MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Memhandle_create(t.memory, 8, MPI_INFO_NULL, t.parent, handle, NULL),
                MPI_ERR_ARG);
    CHECK_ERROR(open_as(&other, 8 * WORDS + 1, 1), MPI_ERR_SIZE);
    CHECK_ERROR(open_as(&other, -1, 1), MPI_ERR_SIZE);
    CHECK_ERROR(open_as(&other, 8, 0), MPI_ERR_DISP);
    CHECK_ERROR(MPIX_Win_from_memhandle(NULL, 8, 1, MPI_INFO_NULL, t.right, t.parent, &other),
                MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Win_from_memhandle(t.theirs, 8, 1, MPI_INFO_NULL, t.right, t.parent, NULL),
                MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Win_from_memhandle(t.theirs, 8, 1, MPI_INFO_NULL, t.size, t.parent, &other),
                MPI_ERR_RANK);
    CHECK_ERROR(MPIX_Win_from_memhandle(t.theirs, 8, 1, MPI_INFO_NULL, -1, t.parent, &other),
                MPI_ERR_RANK);
    if (t.size > 1)
        CHECK_ERROR(
            MPIX_Win_from_memhandle(t.theirs, 8, 1, MPI_INFO_NULL, t.rank, t.parent, &other),
            MPI_ERR_RANK);
    CHECK_ERROR(MPIX_Memhandle_release(NULL, t.parent), MPI_ERR_ARG);
    if (t.size > 1)
        CHECK_ERROR(MPIX_Memhandle_release(t.theirs, t.parent), MPI_ERR_ARG);
    CHECK_ERROR(
        MPIX_Win_from_memhandle(t.theirs, 8, 1, MPI_INFO_NULL, t.right, MPI_WIN_NULL, &other),
        MPI_ERR_WIN);
    meet();
    end();
}

/* Every bit of it, every length of it, what is none, and that of another window. */
static void malformed_handles(void)
{
    unsigned char wrong[MPIX_MAX_MEMHANDLE_SIZE];
    uint64_t seed = 1 + (uint64_t)t.rank;
    MPI_Win other = MPI_WIN_NULL, second;
    begin(true, "malformed handles");
    for (int bit = 0; bit < 8 * t.bytes; ++bit) {
        memcpy(wrong, t.theirs, sizeof wrong);
        wrong[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK_ERROR(MPIX_Win_from_memhandle(wrong, 8, 1, MPI_INFO_NULL, t.right, t.parent, &other),
                    MPI_ERR_ARG);
        memcpy(wrong, t.own, sizeof wrong);
        wrong[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK_ERROR(MPIX_Memhandle_release(wrong, t.parent), MPI_ERR_ARG);
    }
    for (int length = 0; length < t.bytes; ++length) {
        memset(wrong, 0, sizeof wrong);
        memcpy(wrong, t.theirs, (size_t)length);
        if (memcmp(wrong, t.theirs, (size_t)t.bytes) != 0)
            CHECK_ERROR(
                MPIX_Win_from_memhandle(wrong, 8, 1, MPI_INFO_NULL, t.right, t.parent, &other),
                MPI_ERR_ARG);
    }
    for (int round = 0; round < 20000; ++round) {
        int const changes = 1 + (int)(check_random(&seed) % 8);
        memcpy(wrong, t.theirs, sizeof wrong);
        for (int k = 0; k < changes; ++k)
            wrong[check_random(&seed) % (uint64_t)t.bytes] = (unsigned char)check_random(&seed);
        if (memcmp(wrong, t.theirs, (size_t)t.bytes) != 0)
            CHECK_ERROR(
                MPIX_Win_from_memhandle(wrong, 8, 1, MPI_INFO_NULL, t.right, t.parent, &other),
                MPI_ERR_ARG);
    }
    CHECK(other == MPI_WIN_NULL);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &second));
    MPI_Win_set_errhandler(second, MPI_ERRORS_RETURN);
    CHECK_ERROR(MPIX_Win_from_memhandle(t.theirs, 8, 1, MPI_INFO_NULL, t.right, second, &other),
                MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Memhandle_release(t.own, second), MPI_ERR_ARG);
    CHECK_OK(MPI_Win_free(&second));
    end();
}

/* --- The end ---------------------------------------------------------------------------------- */

/* What comes after the release fails, in its call or in the flush, and changes nothing, also when
 * another handle has come to its place. */
static void late_accesses(bool allocated)
{
    int64_t const early = 1, late = 2;
    int64_t row[LONG], got = 5;
    unsigned char spoilt[MPIX_MAX_MEMHANDLE_SIZE], again[MPIX_MAX_MEMHANDLE_SIZE];
    int bytes = 0;
    MPI_Request r;
    MPI_Count raised = 0;
    CHECK_OK(MPI_Win_set_num_notify(t.parent, MPI_INFO_NULL, 1));
    begin(allocated, "late accesses");
    for (int k = 0; k < LONG; ++k)
        row[k] = -1;
    CHECK_OK(MPI_Put(&early, 1, MPI_INT64_T, t.right, 50, 1, MPI_INT64_T, t.win));
    CHECK_OK(MPI_Win_flush(t.right, t.win));
    meet();
    memcpy(spoilt, t.own, sizeof spoilt);
    CHECK_OK(MPIX_Memhandle_release(spoilt, t.parent));
    CHECK_ERROR(MPIX_Memhandle_release(spoilt, t.parent), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Memhandle_release(t.own, t.parent), MPI_ERR_ARG);
    CHECK_OK(MPIX_Memhandle_create(t.memory, 8 * WORDS, MPI_INFO_NULL, t.parent, again, &bytes));
    meet();
    for (int kind = 0; kind < 9; ++kind) {
        int code = MPI_SUCCESS;
        check_step(kind == 0   ? "a late put"
                   : kind == 1 ? "a late long put"
                               : "another late access");
        if (kind == 0)
            code = MPI_Put(&late, 1, MPI_INT64_T, t.right, 50, 1, MPI_INT64_T, t.win);
        else if (kind == 1)
            code = MPI_Put(row, LONG, MPI_INT64_T, t.right, 50, LONG, MPI_INT64_T, t.win);
        else if (kind == 2)
            code =
                MPI_Accumulate(&late, 1, MPI_INT64_T, t.right, 50, 1, MPI_INT64_T, MPI_SUM, t.win);
        else if (kind == 3)
            code = MPI_Get(&got, 1, MPI_INT64_T, t.right, 50, 1, MPI_INT64_T, t.win);
        else if (kind == 4)
            code = MPI_Fetch_and_op(&late, &got, MPI_INT64_T, t.right, 50, MPI_REPLACE, t.win);
        else if (kind == 5)
            code = MPI_Put_notify(&late, 1, MPI_INT64_T, t.right, 50, 1, MPI_INT64_T, 0, t.win);
        else if (kind == 6)
            code = MPI_Put_notify(row, LONG, MPI_INT64_T, t.right, 50, LONG, MPI_INT64_T, 0, t.win);
        else if (kind == 7)
            code = MPI_Accumulate_notify(&late, 1, MPI_INT64_T, t.right, 50, 1, MPI_INT64_T,
                                         MPI_SUM, 0, t.win);
        else if ((code = MPIX_Rrput(&late, 1, MPI_INT64_T, t.right, 50, 1, MPI_INT64_T, t.win,
                                    &r)) == MPI_SUCCESS)
            code = MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            code = MPI_Win_flush(t.right, kind % 2 == 0 ? t.win : t.parent);
        CHECK_ERROR(code, MPI_ERR_RMA_RANGE);
    }
    CHECK_EQ(got, 5);
    MPI_Win late_window;
    CHECK_OK(open_as(&late_window, 8 * WORDS, 8)); /* nobody tells */
    int code = MPI_Put(&late, 1, MPI_INT64_T, t.right, 50, 1, MPI_INT64_T, late_window);
    CHECK_ERROR(code == MPI_SUCCESS ? MPI_Win_flush(t.right, late_window) : code,
                MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_free(&late_window));
    meet();
    CHECK_OK(MPI_Win_sync(t.parent));
    CHECK_EQ(t.memory[50], 1);
    CHECK_EQ(t.memory[50 + LONG - 1], 0);
    CHECK_OK(MPI_Win_get_notify_value(t.parent, 0, &raised));
    CHECK_EQ(raised, 0);
    memcpy(t.own, again, sizeof again);
    end();
}

/* Freeing the parent leaves orphans, which can be freed and nothing else. */
static void parent_freed_first(void)
{
    int64_t const value = 1;
    MPI_Win second;
    unsigned char own[MPIX_MAX_MEMHANDLE_SIZE];
    int64_t memory[4] = {0};
    int bytes = 0;
    check_step("the parent freed first");
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &second));
    MPI_Win_set_errhandler(second, MPI_ERRORS_RETURN);
    CHECK_OK(MPIX_Memhandle_create(memory, sizeof memory, MPI_INFO_NULL, second, own, &bytes));
    MPI_Sendrecv(own, bytes, MPI_BYTE, t.left, 5, t.theirs, bytes, MPI_BYTE, t.right, 5,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win win;
    CHECK_OK(MPIX_Win_from_memhandle(t.theirs, 32, 8, MPI_INFO_NULL, t.right, second, &win));
    CHECK_OK(MPI_Win_lock_all(0, second));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, t.right, 2, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_unlock_all(second));
    meet();
    CHECK_EQ(memory[2], 1);
    CHECK_OK(MPI_Win_free(&second));
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT64_T, t.right, 2, 1, MPI_INT64_T, win), MPI_ERR_WIN);
    CHECK_ERROR(MPI_Win_flush(t.right, win), MPI_ERR_WIN);
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
}

/* Many regions at once, among attached ones that come and go: each is found by its own name. */
static void many_at_once(bool allocated)
{
    static unsigned char mine[MANY][64], theirs[MANY][64];
    static MPI_Win wins[MANY];
    static int64_t values[MANY];
    int bytes = 0;
    begin(allocated, "many at once");
    CHECK(t.bytes <= 64);
    for (int k = 0; k < MANY; ++k) {
        CHECK_OK(MPIX_Memhandle_create(t.memory + k, 8, MPI_INFO_NULL, t.parent, mine[k], &bytes));
        CHECK_OK(MPI_Win_attach(t.parent, t.memory + 1000 + k, 8));
    }
    MPI_Sendrecv(mine, sizeof mine, MPI_BYTE, t.left, 6, theirs, sizeof theirs, MPI_BYTE, t.right,
                 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < MANY; ++k) {
        values[k] = 10000 * (t.rank + 1) + k;
        CHECK_OK(
            MPIX_Win_from_memhandle(theirs[k], 8, 8, MPI_INFO_NULL, t.right, t.parent, &wins[k]));
        CHECK_OK(MPI_Put(&values[k], 1, MPI_INT64_T, t.right, 0, 1, MPI_INT64_T, wins[k]));
        if (k % 3 == 0)
            CHECK_OK(MPI_Win_detach(t.parent, t.memory + 1000 + k));
    }
    for (int k = 0; k < MANY; ++k)
        CHECK_OK(MPI_Win_free(&wins[k]));
    CHECK_OK(MPI_Win_flush_all(t.parent));
    meet();
    CHECK_OK(MPI_Win_sync(t.parent));
    for (int k = 0; k < MANY; ++k) {
        CHECK_EQ(t.memory[k], 10000 * (t.left + 1) + k);
        CHECK_OK(MPIX_Memhandle_release(mine[k], t.parent));
        if (k % 3 != 0)
            CHECK_OK(MPI_Win_detach(t.parent, t.memory + 1000 + k));
    }
    end();
}

/* Windows that come and go, each used once; now and then the handle, too. Nothing grows. */
static void come_and_go(bool allocated, int windows)
{
    begin(allocated, "windows that come and go");
    struct footprint before = {0};
    double since = 0;
    int64_t const value = 1234;
    for (int k = 0; k < windows; ++k) {
        MPI_Win win;
        if (k == windows / 10) {
            CHECK_OK(MPI_Win_flush_all(t.parent));
            meet(); /* nothing is under way, to here neither */
            before = footprint_now();
            since = check_seconds();
        }
        CHECK_OK(open_as(&win, 8 * WORDS, 8));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, t.right, k % WORDS, 1, MPI_INT64_T, win));
        CHECK_OK(MPI_Win_free(&win));
        if (k % 1000 == 0) { /* another handle of the same memory */
            CHECK_OK(MPI_Win_flush_all(t.parent));
            meet();
            unsigned char next[MPIX_MAX_MEMHANDLE_SIZE];
            int bytes = 0;
            CHECK_OK(MPIX_Memhandle_release(t.own, t.parent));
            CHECK_OK(
                MPIX_Memhandle_create(t.memory, 8 * WORDS, MPI_INFO_NULL, t.parent, next, &bytes));
            memcpy(t.own, next, sizeof next);
            exchange_handles();
        }
    }
    CHECK_OK(MPI_Win_flush_all(t.parent));
    double const each = (check_seconds() - since) / (0.9 * windows);
    meet();
    struct footprint const after = footprint_now();
    if (t.rank == 0)
        printf("%s: open, put and free %.2f us; heap %ld bytes more, resident %ld\n",
               allocated ? "mapped" : "private", 1e6 * each, after.heap - before.heap,
               after.resident - before.resident);
    CHECK(after.heap - before.heap < 1500000); /* UCX may take room for messages, 1 MB at a time */
#ifndef __SANITIZE_ADDRESS__                   /* which keeps what is freed */
    CHECK(after.resident - before.resident < 4000000);
#endif
    CHECK(after.descriptors - before.descriptors <= 16); /* members may still be met */
    CHECK(after.mappings - before.mappings <= 8);
    meet();
    for (int k = 0; k < WORDS && k < windows; ++k)
        CHECK_EQ(t.memory[k], 1234);
    meet();
    CHECK_OK(MPI_Win_free(&t.win));
    CHECK_OK(open_as(&t.win, 8 * WORDS, 8));
    end();
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int const windows = (int)check_argument(argc, argv, 1, 20000);
    t.rank = check_rank;
    t.size = check_size;
    t.right = (t.rank + 1) % t.size;
    t.left = (t.rank + t.size - 1) % t.size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of requests that fail */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &t.parent);
    MPI_Win_set_errhandler(t.parent, MPI_ERRORS_RETURN);
    for (int kind = 0; kind < 2; ++kind) {
        bool const allocated = kind == 0;
        operations(allocated);
        requests(allocated);
        notifications(allocated);
        types_and_parts(allocated);
        parents_unlock(allocated);
        own_handle(allocated);
        late_accesses(allocated);
        many_at_once(allocated);
        come_and_go(allocated, windows);
    }
    what_it_is();
    wrong_calls();
    wrong_arguments();
    malformed_handles();
    parent_freed_first();
    MPI_Win_free(&t.parent);
    return check_end();
}
