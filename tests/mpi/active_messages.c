/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages: what each call promises, in epochs of every kind, on windows of every flavour.
 * Odd and even ranks have different functions that do the same.
 *
 * active_messages
 */
#define _GNU_SOURCE
#include "windows.h"

#include <sidelight.h>

enum { CELLS = 64, ROOM = 1 << 16 };

/* --- Handlers --------------------------------------------------------------------------------- */

enum { MANY = 2000 };
static int runs;        /* in this process */
static double half_run; /* when they were half of the many */

/* Adds the input of each segment to the first element, and gives back what was there, and the
 * number of the segment. */
static void add(const int *in, int in_count, int64_t *cell, int64_t *out, int out_count,
                int segments, int offset)
{
    if (++runs == MANY / 2)
        half_run = check_seconds();
    for (int s = 0; s < segments; ++s) {
        if (out_count > 0)
            out[s * out_count] = *cell;
        if (out_count > 1)
            out[s * out_count + 1] = offset + s;
        for (int i = 0; i < in_count; ++i)
            *cell += in[s * in_count + i];
    }
}

static void even_add(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                     MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                     int segments, int offset)
{
    if (in_count > 0)
        CHECK(in_type == MPI_INT);
    CHECK(type == MPI_INT64_T);
    if (out_count > 0)
        CHECK(out_type == MPI_INT64_T);
    CHECK(count >= 1);
    add(in, in_count, memory, out, out_count, segments, offset);
}

static void odd_add(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                    MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                    int segments, int offset)
{
    even_add(in, in_count, in_type, memory, count, type, out, out_count, out_type, segments,
             offset);
}

/* Sparse at the target: ints with a hole after each come in, and doubles go out likewise. */
static void widen(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                  MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                  int offset)
{
    (void)offset;
    CHECK(in_type == MPI_DATATYPE_NULL && out_type == MPI_DATATYPE_NULL);
    CHECK(type == MPI_INT64_T && count == 0);
    (void)memory;
    CHECK_EQ(in_count, out_count);
    for (int i = 0; i < segments * in_count; ++i)
        ((double *)out)[2 * i] = ((int *)in)[2 * i] + 0.5;
}

/* Appends the number that it is sent to a list in the window: how many, then the numbers. */
static void append(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                   MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int segments,
                   int offset)
{
    int64_t *const list = memory;
    (void)in_type, (void)type, (void)out, (void)out_count, (void)out_type, (void)offset;
    for (int i = 0; i < segments * in_count && list[0] + 1 < count; ++i)
        list[++list[0]] = ((int *)in)[i];
}

/* With large counts; how it was called, in the output. */
static void large_add(void *in, MPI_Count in_count, MPI_Datatype in_type, void *memory,
                      MPI_Count count, MPI_Datatype type, void *out, MPI_Count out_count,
                      MPI_Datatype out_type, MPI_Count segments, MPI_Count offset)
{
    even_add(in, (int)in_count, in_type, memory, (int)count, type, out, (int)out_count, out_type,
             (int)segments, (int)offset);
}

/* Who has run it. */
static void tell_process(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                         MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                         int segments, int offset)
{
    (void)in, (void)in_count, (void)in_type, (void)memory, (void)count, (void)type;
    (void)out_count, (void)out_type, (void)segments, (void)offset;
    *(int *)out = check_rank;
}

static MPI_Win called_on = MPI_WIN_NULL; /* in an epoch */
static MPI_Win called_beside = MPI_WIN_NULL;

/* Calls MPI, which it must not, whether or not the call would have to wait. */
static void trespass(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                     MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                     int segments, int offset)
{
    (void)in, (void)in_count, (void)in_type, (void)memory, (void)count, (void)type;
    (void)out_count, (void)out_type, (void)segments, (void)offset;
    int ended = 0, class = MPI_SUCCESS, *const told = out;
    MPI_Count value = 0;
    int const codes[] = {MPI_Win_flush_all(called_on),
                         MPI_Win_flush(check_rank, called_on),
                         MPI_Win_flush_local(check_rank, called_on),
                         MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, called_beside),
                         MPI_Win_test(called_beside, &ended),
                         MPIX_Win_get_notify_value(called_beside, 0, &value),
                         MPIX_Win_reset_notify_value(called_beside, 0, &value)};
    *told = MPI_ERR_UNSUPPORTED_OPERATION;
    for (int k = 0; k < (int)(sizeof codes / sizeof *codes); ++k) {
        MPI_Error_class(codes[k], &class);
        if (class != MPI_ERR_UNSUPPORTED_OPERATION)
            *told = class;
    }
}

enum { ADD, WIDEN, APPEND, TRESPASS, WHO, LARGE, HANDLERS };
static MPI_Op ops[HANDLERS];

static void make_ops(void)
{
    MPIX_Am_user_function *const functions[HANDLERS] = {check_rank % 2 == 0 ? even_add : odd_add,
                                                        widen, append, trespass, tell_process};
    for (int i = 0; i < LARGE; ++i)
        CHECK_OK(MPIX_Am_op_create(functions[i], &ops[i]));
    CHECK_OK(MPIX_Am_op_create_c(large_add, &ops[LARGE]));
}

static void register_ops(const struct window *w)
{
    for (int i = 0; i < HANDLERS; ++i)
        CHECK_OK(MPIX_Am_win_op_register(ops[i], w->win));
}

static MPI_Aint at(const struct window *w, int target, int cell)
{
    return window_at(w, target, 8 * (MPI_Aint)cell);
}

/* The host's handles of types that the library meets only later must not change what a handler
 * hears of the others. */
static void meet_further_types(const struct window *w)
{
    enum { MOST_TYPES = 40 };
    float const nothing = 0;
    int met = 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    for (int range = 1; range <= MOST_TYPES && met < MOST_TYPES; ++range)
        for (int digits = 1; digits <= 6 && met < MOST_TYPES; ++digits) {
            MPI_Datatype type;
            if (MPI_Type_create_f90_real(digits, range, &type) != MPI_SUCCESS)
                break;
            int size = 0;
            MPI_Type_size(type, &size);
            CHECK_OK(MPI_Put(&nothing, size == sizeof nothing ? 1 : 0, type, w->rank,
                             window_at(w, w->rank, 0), size == sizeof nothing ? 1 : 0, type,
                             w->win));
            ++met;
        }
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
}

/* --- What is expected ------------------------------------------------------------------------- */

static int send_add(const struct window *w, int target, int cell, const int *in, int in_count,
                    int64_t *out, int out_count, int segments)
{
    return MPIX_Am(in, in_count, MPI_INT, out, out_count, MPI_INT64_T, segments, target, MPI_INT,
                   at(w, target, cell), 1, MPI_INT64_T, MPI_INT64_T, ops[ADD], w->win);
}

static int64_t read_cell(const struct window *w, int target, int cell)
{
    int64_t value = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, target, at(w, target, cell), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_unlock(target, w->win));
    return value;
}

static void clear(const struct window *w)
{
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    memset(w->base, 0, 8 * CELLS);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    MPI_Barrier(w->comm);
}

/* A message of many segments to each member, itself too; all is there after the flush. */
static void once_to_each(const struct window *w, int segments)
{
    int *const in = malloc(sizeof(int) * 2 * (size_t)segments);
    int64_t *const out = malloc(sizeof(int64_t) * 2 * (size_t)segments);
    for (int i = 0; i < 2 * segments; ++i)
        in[i] = i;
    clear(w);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int step = 0; step < w->size; ++step) {
        int const target = (w->rank + step) % w->size;
        memset(out, -1, sizeof(int64_t) * 2 * (size_t)segments);
        CHECK_OK(send_add(w, target, 1 + w->rank, in, 2, out, 2, segments));
        CHECK_OK(MPI_Win_flush(target, w->win));
        int64_t sum = 0;
        for (int s = 0; s < segments; ++s) {
            CHECK_EQ(out[2 * s], sum);
            CHECK_EQ(out[2 * s + 1], s);
            sum += in[2 * s] + in[2 * s + 1];
        }
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    int64_t const all = (int64_t)segments * (2 * segments - 1);
    for (int origin = 0; origin < w->size; ++origin)
        CHECK_EQ(read_cell(w, w->rank, 1 + origin), all);
    free(in);
    free(out);
}

static void epochs(const struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    int const one = 1;
    int64_t out[2] = {-1, -1};
    MPI_Group all, to, from;
    check_step("epochs");
    clear(w);
    CHECK_OK(MPI_Win_fence(MPIX_MODE_CONCURRENT_AM, w->win));
    CHECK_OK(send_add(w, right, 0, &one, 1, out, 2, 1));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    CHECK_EQ(out[0], 0);
    CHECK_EQ(read_cell(w, w->rank, 0), 1);
    MPI_Barrier(w->comm);

    CHECK_OK(MPI_Win_get_group(w->win, &all));
    CHECK_OK(MPI_Group_incl(all, 1, &right, &to));
    CHECK_OK(MPI_Group_incl(all, 1, &left, &from));
    CHECK_OK(MPI_Win_post(from, 0, w->win));
    CHECK_OK(MPI_Win_start(to, MPIX_MODE_CONCURRENT_AM, w->win));
    CHECK_OK(send_add(w, right, 0, &one, 1, NULL, 0, 1));
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    CHECK_EQ(((int64_t *)w->base)[0], 2);
    MPI_Group_free(&all), MPI_Group_free(&to), MPI_Group_free(&from);
    MPI_Barrier(w->comm);

    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, MPIX_MODE_CONCURRENT_AM, w->win));
    CHECK_OK(send_add(w, right, 0, &one, 1, out, 2, 1));
    CHECK_OK(MPI_Win_flush_local(right, w->win));
    CHECK_EQ(out[0], 2);
    CHECK_OK(MPI_Win_unlock(right, w->win));
    MPI_Barrier(w->comm);
    CHECK_EQ(read_cell(w, w->rank, 0), 3);
    MPI_Barrier(w->comm);

    MPI_Request request;
    CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, right, 0, w->win, &request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPIX_Ram(&one, 1, MPI_INT, out, 2, MPI_INT64_T, 1, right, MPI_INT, at(w, right, 0), 1,
                      MPI_INT64_T, MPI_INT64_T, ops[ADD], w->win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(out[0], 3);
    CHECK_OK(MPIX_Win_iunlock(right, w->win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Barrier(w->comm);
    CHECK_EQ(read_cell(w, w->rank, 0), 4);
}

/* Contiguous here and spread there; N is computed. */
static void layouts(const struct window *w)
{
    enum { SEGMENTS = 25, WORDS = 6 };
    int const right = (w->rank + 1) % w->size;
    MPI_Datatype pair, wide_int, wide_double;
    int in[SEGMENTS * WORDS];
    double out[SEGMENTS * WORDS];
    check_step("layouts");
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 8, &wide_int));
    CHECK_OK(MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &wide_double));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Type_commit(&wide_int));
    CHECK_OK(MPI_Type_commit(&wide_double));
    for (int i = 0; i < SEGMENTS * WORDS; ++i)
        in[i] = 10 * w->rank + i, out[i] = -1;
    CHECK_OK(MPI_Win_lock_all(MPIX_MODE_CONCURRENT_AM, w->win));
    CHECK_OK(MPIX_Am(in, WORDS / 2, pair, out, WORDS, MPI_DOUBLE, SEGMENTS, right, wide_int,
                     at(w, right, 0), 0, MPI_INT64_T, wide_double, ops[WIDEN], w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    for (int i = 0; i < SEGMENTS * WORDS; ++i)
        CHECK(out[i] == in[i] + 0.5);
    MPI_Type_free(&pair), MPI_Type_free(&wide_int), MPI_Type_free(&wide_double);
}

/* All members append to the list of the first; what one has sent is there in its order, and each
 * message in one piece. */
static void serial_and_ordered(const struct window *w, int messages)
{
    enum { SEGMENTS = 3 };
    int const length = messages * SEGMENTS * w->size + 1;
    int *const seen = calloc((size_t)w->size, sizeof *seen);
    check_step("serial and ordered");
    clear(w);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int m = 0; m < messages; ++m) {
        int numbers[SEGMENTS];
        for (int s = 0; s < SEGMENTS; ++s)
            numbers[s] = ((m * SEGMENTS + s) << 8) + w->rank;
        CHECK_OK(MPIX_Am(numbers, 1, MPI_INT, NULL, 0, MPI_INT, SEGMENTS, 0, MPI_INT,
                         at(w, 0, CELLS), length, MPI_INT64_T, MPI_INT, ops[APPEND], w->win));
        CHECK_OK(MPI_Win_flush_local(0, w->win));
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        int64_t *const list = (int64_t *)w->base + CELLS;
        CHECK_EQ(list[0], length - 1);
        for (int i = 0; i < length - 1; ++i) {
            int const origin = (int)(list[i + 1] & 255);
            CHECK_EQ(list[i + 1] >> 8, seen[origin]++);
            if (i % SEGMENTS != 0)
                CHECK_EQ(origin, list[i] & 255);
        }
        memset(list, 0, 8 * (size_t)length);
        CHECK_OK(MPI_Win_unlock(0, w->win));
    }
    MPI_Barrier(w->comm);
    free(seen);
}

static void nothing_to_do(const struct window *w)
{
    int const one = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    check_step("nothing to do");
    clear(w);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, MPI_PROC_NULL, MPI_INT, 0, 1,
                     MPI_INT64_T, MPI_INT, ops[ADD], w->win));
    CHECK_OK(send_add(w, w->rank, 0, &one, 1, NULL, 0, 0));
    CHECK_OK(send_add(w, w->rank, 0, NULL, 0, NULL, 0, 3));
    CHECK_OK(MPIX_Am_c(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, w->rank, MPI_INT, at(w, w->rank, 0),
                       1, MPI_INT64_T, MPI_INT, ops[LARGE], w->win));
    CHECK_OK(MPIX_Ram_c(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, w->rank, MPI_INT, at(w, w->rank, 0),
                        1, MPI_INT64_T, MPI_INT, ops[ADD], w->win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_EQ(read_cell(w, w->rank, 0), 0);
}

static void wrong_calls(const struct window *w)
{
    int const one = 1, right = (w->rank + 1) % w->size;
    int64_t out[2];
    MPI_Request request = MPI_REQUEST_NULL;
    check_step("wrong calls");
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    CHECK_ERROR(send_add(w, right, 0, &one, 1, NULL, 0, 1), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_ERROR(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, w->size, MPI_INT, 0, 1, MPI_INT64_T,
                        MPI_INT, ops[ADD], w->win),
                MPI_ERR_RANK);
    CHECK_ERROR(send_add(w, right, 0, &one, -1, NULL, 0, 1), MPI_ERR_COUNT);
    CHECK_ERROR(send_add(w, right, 0, &one, 1, out, 2, -1), MPI_ERR_COUNT);
    CHECK_ERROR(send_add(w, right, 0, NULL, 1, NULL, 0, 1), MPI_ERR_BUFFER);
    CHECK_ERROR(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_FLOAT, at(w, right, 0), 1,
                        MPI_INT64_T, MPI_INT, ops[ADD], w->win),
                MPI_ERR_TYPE);
    CHECK_ERROR(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_INT64_T, at(w, right, 0),
                        1, MPI_INT64_T, MPI_INT, ops[ADD], w->win),
                MPI_ERR_TYPE);
    CHECK_ERROR(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_DATATYPE_NULL,
                        at(w, right, 0), 1, MPI_INT64_T, MPI_INT, ops[ADD], w->win),
                MPI_ERR_TYPE);
    CHECK_ERROR(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_INT, at(w, right, 0), 1,
                        MPI_INT64_T, MPI_INT, MPI_SUM, w->win),
                MPI_ERR_OP);
    CHECK_ERROR(MPIX_Ram(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_INT, at(w, right, 0), 1,
                         MPI_INT64_T, MPI_INT, ops[ADD], w->win, NULL),
                MPI_ERR_ARG);
    if (w->flavor != FLAVOR_DYNAMIC)
        CHECK_ERROR(MPIX_Am(&one, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_INT,
                            w->bytes / w->unit, 1, MPI_INT64_T, MPI_INT, ops[ADD], w->win),
                    MPI_ERR_RMA_RANGE);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_ERROR(MPIX_Am_op_create(NULL, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_ERROR(MPIX_Am_win_buffer_detach(w->win), MPI_ERR_BUFFER);
    CHECK_ERROR(MPIX_Am_win_buffer_attach(NULL, 8, w->win), MPI_ERR_BUFFER);
    MPI_Barrier(w->comm);
}

/* A segment that no internal buffer holds, without the attached buffer and with it. */
static void attached(const struct window *w)
{
    enum { WORDS = 20000, SEGMENTS = 5 };
    int const right = (w->rank + 1) % w->size;
    int *const in = malloc(sizeof(int) * WORDS * SEGMENTS);
    void *const buffer = malloc(sizeof(int) * WORDS + 8);
    int64_t out[SEGMENTS], sum = 0;
    for (int i = 0; i < WORDS * SEGMENTS; ++i)
        in[i] = i % 17;
    check_step("without an attached buffer");
    clear(w);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    int code = send_add(w, right, 0, in, WORDS, out, 1, SEGMENTS);
    if (code == MPI_SUCCESS)
        code = MPI_Win_flush(right, w->win);
    CHECK_ERROR(code, MPI_ERR_BUFFER);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);

    check_step("with an attached buffer");
    CHECK_OK(MPIX_Am_win_buffer_attach(buffer, sizeof(int) * WORDS + 8, w->win));
    CHECK_ERROR(MPIX_Am_win_buffer_attach(buffer, 8, w->win), MPI_ERR_BUFFER);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(send_add(w, right, 0, in, WORDS, out, 1, SEGMENTS));
    CHECK_OK(MPI_Win_flush(right, w->win));
    for (int s = 0; s < SEGMENTS; ++s) {
        CHECK_EQ(out[s], sum);
        for (int i = 0; i < WORDS; ++i)
            sum += in[s * WORDS + i];
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    CHECK_EQ(read_cell(w, w->rank, 0), sum);
    CHECK_OK(MPIX_Am_win_buffer_detach(w->win));
    free(in);
    free(buffer);
}

static void handlers_call_no_mpi(const struct window *w)
{
    int const one = 1, right = (w->rank + 1) % w->size;
    int found = -1;
    check_step("a handler that calls MPI");
    struct window beside = window_open(FLAVOR_ALLOCATE, MPI_COMM_SELF, 8, 1);
    CHECK_OK(MPI_Win_set_errhandler(beside.win, MPI_ERRORS_RETURN));
    called_on = w->win;
    called_beside = beside.win;
    MPI_Barrier(w->comm); /* it may run at its target */
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPIX_Am(&one, 1, MPI_INT, &found, 1, MPI_INT, 1, right, MPI_INT, at(w, right, 0), 1,
                     MPI_INT64_T, MPI_INT, ops[TRESPASS], w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_EQ(found, MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Barrier(w->comm);
    window_close(&beside);
}

/* Each message raises a counter of the target's when it has run there. */
static void notified(const struct window *w)
{
    int const right = (w->rank + 1) % w->size, three = 3;
    int64_t out[2] = {-1, -1};
    MPI_Count value = -1;
    MPI_Request heard, sent;
    check_step("notified");
    clear(w);
    CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, 2));
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPIX_Win_notify_ithreshold(w->win, 1, 5, &heard));
    CHECK_OK(MPIX_Am_notify(&three, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_INT,
                            at(w, right, 0), 1, MPI_INT64_T, MPI_INT, ops[ADD], 1, w->win));
    CHECK_OK(MPIX_Ram_notify_c(&three, 1, MPI_INT, out, 2, MPI_INT64_T, 1, right, MPI_INT,
                               at(w, right, 0), 1, MPI_INT64_T, MPI_INT64_T, ops[LARGE], 1, w->win,
                               &sent));
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    CHECK(out[0] >= 0 && out[1] == 0);
    CHECK_OK(MPIX_Am_notify_c(&three, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_INT,
                              at(w, right, 0), 1, MPI_INT64_T, MPI_INT, ops[LARGE], 1, w->win));
    CHECK_OK(MPIX_Ram_notify(&three, 1, MPI_INT, out, 2, MPI_INT64_T, 1, right, MPI_INT,
                             at(w, right, 0), 1, MPI_INT64_T, MPI_INT64_T, ops[ADD], 1, w->win,
                             &sent));
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    CHECK(out[0] >= 0 && out[1] == 0);
    CHECK_OK(MPIX_Am_notify(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, right, MPI_INT, at(w, right, 0),
                            1, MPI_INT64_T, MPI_INT, ops[ADD], 1, w->win));
    CHECK_OK(MPI_Wait(&heard, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_get_notify_value(w->win, 1, &value));
    CHECK_EQ(value, 5);
    CHECK_ERROR(MPIX_Am_notify(&three, 1, MPI_INT, NULL, 0, MPI_INT, 1, right, MPI_INT,
                               at(w, right, 0), 1, MPI_INT64_T, MPI_INT, ops[ADD], -1, w->win),
                MPIX_Err_rma_notification());
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    CHECK_EQ(read_cell(w, w->rank, 0), 12);
    CHECK_OK(MPI_Win_set_num_notify(w->win, MPI_INFO_NULL, 0));
}

/* The same messages again and again, which are soon known: of one form and then another. */
static void known(const struct window *w, int assertion)
{
    int const right = (w->rank + 1) % w->size, one[2] = {1, 2};
    int64_t out[2] = {-1, -1};
    check_step("known");
    clear(w);
    CHECK_OK(MPI_Win_lock_all(assertion, w->win));
    for (int round = 0; round < 100; ++round) {
        CHECK_OK(send_add(w, right, w->rank, one, 1, out, 2, 1));
        CHECK_OK(MPI_Win_flush_local(right, w->win));
        CHECK_EQ(out[0], 5 * round);
        CHECK_EQ(out[1], 0);
        CHECK_OK(send_add(w, right, w->rank, one, 1, out, 1, 1));
        CHECK_OK(send_add(w, right, w->rank, one, 2, NULL, 0, 1));
        CHECK_OK(MPI_Win_flush(right, w->win));
        CHECK_EQ(out[0], 5 * round + 1);
        CHECK_ERROR(send_add(w, right, (int)(w->bytes / 8), one, 1, NULL, 0, 1), MPI_ERR_RMA_RANGE);
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_ERROR(send_add(w, right, 0, one, 1, NULL, 0, 1), MPI_ERR_RMA_SYNC);
    MPI_Barrier(w->comm);
}

/* By a duplicate, whose keys are its own, and by the window itself. */
static void duplicate(const struct window *w)
{
    int const right = (w->rank + 1) % w->size, two = 2;
    int64_t out[2] = {-1, -1};
    MPI_Info info;
    struct window dup = *w;
    check_step("duplicate");
    clear(w);
    MPI_Info_create(&info);
    MPI_Info_set(info, "am_ordering", "none");
    CHECK_OK(MPIX_Win_dup_with_info(w->win, info, &dup.win));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(send_add(w, right, 0, &two, 1, NULL, 0, 1));
    CHECK_OK(MPI_Win_flush(right, dup.win));
    CHECK_OK(send_add(&dup, right, 0, &two, 1, out, 2, 1));
    CHECK_OK(MPI_Win_flush_local(right, w->win));
    CHECK_EQ(out[0], 2);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(w->comm);
    CHECK_EQ(read_cell(w, w->rank, 0), 4);
    CHECK_OK(MPI_Win_free(&dup.win));
    MPI_Barrier(w->comm);
}

/* Through a memory handle: the operations are those of the parent, the range that of the handle. */
static void memory_handle(const struct window *parent)
{
    enum { PART = 16 };
    unsigned char own[MPIX_MAX_MEMHANDLE_SIZE], theirs[MPIX_MAX_MEMHANDLE_SIZE];
    int const right = (parent->rank + 1) % parent->size;
    int const left = (parent->rank + parent->size - 1) % parent->size;
    int const five = 5;
    int bytes = 0;
    int64_t *const memory = calloc(2 * PART, sizeof *memory);
    int64_t out[2] = {-1, -1};
    struct window by = {.unit = 8, .size = parent->size};
    check_step("memory handle");
    CHECK_OK(MPIX_Memhandle_create(memory, sizeof(int64_t) * 2 * PART, MPI_INFO_NULL, parent->win,
                                   own, &bytes));
    MPI_Sendrecv(own, sizeof own, MPI_BYTE, left, 5, theirs, sizeof theirs, MPI_BYTE, right, 5,
                 parent->comm, MPI_STATUS_IGNORE);
    CHECK_OK(MPIX_Win_from_memhandle(theirs, sizeof(int64_t) * PART, 8, MPI_INFO_NULL, right,
                                     parent->win, &by.win));
    CHECK_OK(MPI_Win_set_errhandler(by.win, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPIX_Am_win_op_register(ops[ADD], by.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Am_win_buffer_attach(memory, 8, by.win), MPI_ERR_RMA_SYNC);
    CHECK_ERROR(MPIX_Am_win_buffer_detach(by.win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_lock_all(0, parent->win));
    for (int round = 0; round < 3; ++round) {
        CHECK_OK(send_add(&by, right, PART - 1, &five, 1, out, 2, 1));
        CHECK_OK(MPI_Win_flush(right, by.win));
        CHECK_EQ(out[0], 5 * round);
    }
    CHECK_ERROR(send_add(&by, right, PART, &five, 1, out, 2, 1), MPI_ERR_RMA_RANGE);
    if (parent->size > 1)
        CHECK_ERROR(send_add(&by, parent->rank, 0, &five, 1, out, 2, 1), MPI_ERR_RANK);
    CHECK_OK(MPI_Win_unlock_all(parent->win));
    CHECK_OK(MPI_Win_free(&by.win));
    MPI_Barrier(parent->comm);
    CHECK_OK(MPI_Win_sync(parent->win));
    CHECK_EQ(memory[PART - 1], 15);
    CHECK_OK(MPIX_Memhandle_release(own, parent->win));
    free(memory);
    MPI_Barrier(parent->comm);
}

/* In an ordered window a message has run before what is issued behind it. */
static void ordered_window(void)
{
    int const ten = 10;
    MPI_Info info;
    check_step("ordered window");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_order", "true");
    struct window w = window_open_with(info, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * CELLS, 8);
    MPI_Info_free(&info);
    register_ops(&w);
    int const right = (w.rank + 1) % w.size;
    CHECK_OK(MPI_Win_lock_all(0, w.win));
    for (int round = 0; round < 200; ++round) {
        int64_t const value = 1000 * round;
        int64_t seen = -1, out[2] = {-1, -1};
        CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, right, 1, 1, MPI_INT64_T, w.win));
        CHECK_OK(send_add(&w, right, 1, &ten, 1, out, 2, 1));
        CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, right, 1, 1, MPI_INT64_T, w.win));
        CHECK_OK(MPI_Win_flush(right, w.win));
        CHECK_EQ(out[0], value);
        CHECK_EQ(seen, value + 10);
    }
    MPI_Barrier(w.comm);
    for (int round = 0; round < 50; ++round) { /* nobody but it waits for the puts */
        int64_t const values[] = {round, 2 * round};
        int64_t out[2] = {-1, -1};
        MPI_Request request;
        for (int i = 0; i < 2; ++i)
            CHECK_OK(MPI_Put(&values[i], 1, MPI_INT64_T, right, 1, 1, MPI_INT64_T, w.win));
        CHECK_OK(MPIX_Ram(&ten, 1, MPI_INT, out, 2, MPI_INT64_T, 1, right, MPI_INT,
                          at(&w, right, 1), 1, MPI_INT64_T, MPI_INT64_T, ops[ADD], w.win,
                          &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(out[0], 2 * round);
    }
    CHECK_OK(MPI_Win_unlock_all(w.win));
    window_close(&w);
}

/* Whether half of many messages have run while their origin goes on issuing others, with a pause
 * (microseconds) between two of them. */
static bool run_while_issued(const struct window *w, unsigned pause)
{
    int const one = 1;
    double end = 0;
    int in_time = 0;
    runs = 0;
    half_run = 0;
    MPI_Barrier(w->comm);
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win));
        for (int message = 0; message < MANY; ++message) {
            CHECK_OK(send_add(w, 1, 0, &one, 1, NULL, 0, 1));
            usleep(pause);
        }
        end = check_seconds();
        CHECK_OK(MPI_Win_unlock(1, w->win));
    }
    MPI_Bcast(&end, 1, MPI_DOUBLE, 0, w->comm);
    in_time = half_run > 0 && half_run < end;
    MPI_Bcast(&in_time, 1, MPI_INT, 1, w->comm);
    return in_time != 0;
}

/* Not only when their origin's epoch ends; a target that has no core for so long has a longer time
 * then. */
static void while_issued(const struct window *w)
{
    bool in_time = false;
    for (unsigned pause = 50; !in_time && pause <= 800; pause *= 2)
        in_time = run_while_issued(w, pause);
    CHECK(in_time);
}

/* Handlers run at the target, wherever its memory is mapped; and nothing else is different. */
static void at_target(void)
{
    int who = -1;
    char value[8];
    int found = 0;
    MPI_Info info;
    check_step("at target");
    MPI_Info_create(&info);
    if (check_rank == 0) /* one member that asks for it is enough */
        MPI_Info_set(info, "sidelight_am_at_target", "true");
    struct window w = window_open_with(info, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * ROOM, 8);
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_get_info(w.win, &info));
    MPI_Info_get(info, "sidelight_am_at_target", 7, value, &found);
    CHECK(found && strcmp(value, "true") == 0);
    MPI_Info_free(&info);
    register_ops(&w);
    CHECK_OK(MPI_Win_lock_all(MPIX_MODE_CONCURRENT_AM, w.win));
    for (int target = 0; target < w.size; ++target) {
        CHECK_OK(MPIX_Am(NULL, 0, MPI_INT, &who, 1, MPI_INT, 1, target, MPI_INT, 0, 1, MPI_INT64_T,
                         MPI_INT, ops[WHO], w.win));
        CHECK_OK(MPI_Win_flush(target, w.win));
        CHECK_EQ(who, target);
    }
    CHECK_OK(MPI_Win_unlock_all(w.win));
    MPI_Barrier(w.comm);
    once_to_each(&w, 50);
    epochs(&w);
    serial_and_ordered(&w, 50);
    attached(&w);
    while_issued(&w);
    window_close(&w);
}

/* An operation that the window does not know is refused, also before any window knows one. */
static void unregistered(const struct window *w)
{
    int const one = 1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_ERROR(send_add(w, w->rank, 0, &one, 1, NULL, 0, 1), MPI_ERR_OP);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
}

/* Nor is one that is freed known any more, or a new one that the host gives its handle. */
static void handle_given_again(void)
{
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8 * ROOM, 8);
    CHECK_OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    MPI_Op const kept = ops[ADD];
    int const one = 1;
    CHECK_OK(MPIX_Am_op_create(even_add, &ops[ADD]));
    CHECK_OK(MPIX_Am_win_op_register(ops[ADD], w.win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w.rank, 0, w.win));
    for (int i = 0; i < 2; ++i)
        CHECK_OK(send_add(&w, w.rank, 0, &one, 1, NULL, 0, 1));
    CHECK_OK(MPI_Win_flush(w.rank, w.win));
    MPI_Op const freed = ops[ADD];
    CHECK_OK(MPI_Op_free(&ops[ADD]));
    ops[ADD] = freed;
    CHECK_ERROR(send_add(&w, w.rank, 0, &one, 1, NULL, 0, 1), MPI_ERR_OP);
    CHECK_OK(MPIX_Am_op_create(odd_add, &ops[ADD]));
    CHECK_ERROR(send_add(&w, w.rank, 0, &one, 1, NULL, 0, 1), MPI_ERR_OP);
    CHECK_OK(MPI_Win_unlock(w.rank, w.win));
    CHECK_OK(MPI_Op_free(&ops[ADD]));
    ops[ADD] = kept;
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    make_ops();
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        int const unit = flavor == FLAVOR_DYNAMIC ? 1 : 8;
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD, 8 * ROOM, unit);
        CHECK_OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
        check_step("unregistered");
        unregistered(&w);
        register_ops(&w);
        check_step("once to each");
        meet_further_types(&w);
        once_to_each(&w, 1);
        once_to_each(&w, 7);
        once_to_each(&w, 1000);
        epochs(&w);
        layouts(&w);
        serial_and_ordered(&w, 200);
        nothing_to_do(&w);
        wrong_calls(&w);
        attached(&w);
        handlers_call_no_mpi(&w);
        notified(&w);
        if (flavor != FLAVOR_DYNAMIC) {
            known(&w, 0);
            known(&w, MPIX_MODE_CONCURRENT_AM);
        }
        duplicate(&w);
        if (flavor == FLAVOR_DYNAMIC)
            memory_handle(&w);
        window_close(&w);
    }
    handle_given_again();
    ordered_window();
    at_target();
    for (int i = 0; i < HANDLERS; ++i)
        CHECK_OK(MPI_Op_free(&ops[i]));
    return check_end();
}
