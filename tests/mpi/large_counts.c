/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The large-count forms of windows and operations, as programs use them that look at run time
 * whether there are any (mpi4py): on our windows, on those that are left to the host, and beside
 * the library of another host.
 */
#include "host_defects.h"

#define EACH_LARGE(call)                                                                           \
    call(Win_create, void *, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm,                               \
         MPI_Win *) call(Win_allocate, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void *, MPI_Win *)  \
        call(Win_allocate_shared, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void *,                  \
             MPI_Win *) call(Win_shared_query, MPI_Win, int, MPI_Aint *, MPI_Aint *, void *)       \
            call(Put, const void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count,             \
                 MPI_Datatype, MPI_Win) call(Get, void *, MPI_Count, MPI_Datatype, int, MPI_Aint,  \
                                             MPI_Count, MPI_Datatype, MPI_Win)                     \
                call(Accumulate, const void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count,  \
                     MPI_Datatype, MPI_Op, MPI_Win)                                                \
                    call(Get_accumulate, const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, \
                         MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Op, MPI_Win)    \
                        call(Rput, const void *, MPI_Count, MPI_Datatype, int, MPI_Aint,           \
                             MPI_Count, MPI_Datatype, MPI_Win, MPI_Request *)                      \
                            call(Rget, void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count,  \
                                 MPI_Datatype, MPI_Win, MPI_Request *)                             \
                                call(Raccumulate, const void *, MPI_Count, MPI_Datatype, int,      \
                                     MPI_Aint, MPI_Count, MPI_Datatype, MPI_Op, MPI_Win,           \
                                     MPI_Request *)                                                \
                                    call(Rget_accumulate, const void *, MPI_Count, MPI_Datatype,   \
                                         void *, MPI_Count, MPI_Datatype, int, MPI_Aint,           \
                                         MPI_Count, MPI_Datatype, MPI_Op, MPI_Win, MPI_Request *)

/* Found by name, because not every host declares them. */
#define DECLARE(name, ...) static int (*name##_c)(__VA_ARGS__);
EACH_LARGE(DECLARE)

static void find(void)
{
#define FIND(name, ...)                                                                            \
    *(void **)&name##_c = dlsym(RTLD_DEFAULT, "MPI_" #name "_c");                                  \
    CHECK(name##_c != NULL);
    EACH_LARGE(FIND)
}

enum { WORDS = 8 };

static int right(void) { return (check_rank + 1) % check_size; }

static void operations(MPI_Win win, const int64_t *memory)
{
    int64_t const value[2] = {5, 6};
    int64_t got[3] = {-1, -1, -1};
    MPI_Request request[4];
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(Put_c(value, 2, MPI_INT64_T, right(), 0, 2, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK_OK(Accumulate_c(value, 2, MPI_INT64_T, right(), 0, 2, MPI_INT64_T, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK_OK(Get_c(got, 1, MPI_INT64_T, right(), 1, 1, MPI_INT64_T, win));
    CHECK_OK(Get_accumulate_c(value, 1, MPI_INT64_T, got + 1, 1, MPI_INT64_T, right(), 0, 1,
                              MPI_INT64_T, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(right(), win));
    CHECK_EQ(got[0], 12);
    CHECK_EQ(got[1], 10);
    CHECK_OK(Rput_c(value, 1, MPI_INT64_T, right(), 2, 1, MPI_INT64_T, win, &request[0]));
    CHECK_OK(Raccumulate_c(value, 1, MPI_INT64_T, right(), 3, 1, MPI_INT64_T, MPI_SUM, win,
                           &request[1]));
    CHECK_OK(Rget_c(got, 1, MPI_INT64_T, right(), 0, 1, MPI_INT64_T, win, &request[2]));
    CHECK_OK(Rget_accumulate_c(value, 1, MPI_INT64_T, got + 2, 1, MPI_INT64_T, right(), 4, 1,
                               MPI_INT64_T, MPI_SUM, win, &request[3]));
    CHECK_OK(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_EQ(got[0], 15);
    CHECK_EQ(got[2], 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Win_sync(win));
    int64_t const expected[5] = {15, 12, 5, 5, 5};
    for (int k = 0; k < 5; ++k)
        CHECK_EQ(memory[k], expected[k]);
    CHECK_OK(MPI_Win_unlock_all(win));
}

static bool beside_another_host;

/* Hosts that have these calls would do them; what they refuse is their business. */
static bool host_lacks_them(void)
{
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
    return true;
#else
    return false;
#endif
}

static int refused(int otherwise)
{
    return beside_another_host ? MPI_ERR_COUNT
           : host_is_alone()   ? MPI_ERR_UNSUPPORTED_OPERATION
                               : otherwise;
}

/* What cannot be told is not cut off, as a caller would divide by it. */
static void unit_beyond_int(MPI_Win win)
{
    int flag = 0, unit = 0, *attribute = NULL;
    MPI_Aint size = 0;
    void *base = NULL;
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, (void *)&attribute, &flag));
    CHECK_EQ(*attribute, INT32_MAX);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPI_Win_shared_query(win, check_rank, &size, &unit, (void *)&base),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(unit, 0);
}

static void too_large(MPI_Win win)
{
    const MPI_Count many = (MPI_Count)INT32_MAX + 1;
    int64_t value = 1;
    MPI_Win other;
    void *base;
    if (!host_lacks_them())
        return;
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_ERROR(Put_c(&value, many, MPI_BYTE, right(), 0, many, MPI_BYTE, win),
                refused(MPI_ERR_RMA_RANGE));
    CHECK_ERROR(Get_c(&value, 1, MPI_BYTE, right(), 0, many, MPI_BYTE, win),
                refused(MPI_ERR_RMA_RANGE));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_ERROR(Win_allocate_c(8, 2 * many, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other),
                refused(MPI_SUCCESS));
    if (refused(MPI_SUCCESS) == MPI_SUCCESS) {
        unit_beyond_int(other);
        CHECK_OK(MPI_Win_free(&other));
    }
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void query(MPI_Win win, int64_t *memory)
{
    int64_t *base = NULL;
    MPI_Aint size = -1, unit = -1;
    CHECK_OK(Win_shared_query_c(win, check_rank, &size, &unit, (void *)&base));
    CHECK(base == memory);
    CHECK_EQ(size, WORDS * sizeof *memory);
    CHECK_EQ(unit, sizeof *memory);
}

static void start(int64_t *memory)
{
    memset(memory, 0, WORDS * sizeof *memory);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Aint const bytes = WORDS * sizeof(int64_t), unit = sizeof(int64_t);
    int64_t *memory = NULL, own[WORDS];
    MPI_Win win;
    check_begin(&argc, &argv);
    beside_another_host = argc > 1 && strcmp(argv[1], "beside") == 0;
    find();

    check_step("allocated");
    CHECK_OK(Win_allocate_c(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&memory, &win));
    start(memory);
    operations(win, memory);
    too_large(win);
    CHECK_OK(MPI_Win_free(&win));

    check_step("shared");
    CHECK_OK(
        Win_allocate_shared_c(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&memory, &win));
    start(memory);
    query(win, memory);
    CHECK_OK(MPI_Win_free(&win));

    check_step("created");
    start(own);
    CHECK_OK(Win_create_c(own, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    operations(win, own);
    CHECK_OK(MPI_Win_free(&win));
    return check_end();
}
