/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong arguments, case by case, on a host alone and under the library. With the name of a case
 * each rank prints "said <rank> <error class>". `all` plays in one job those that the library
 * answers, and checks what it says; `list` prints each case, and whether it is among those, for
 * tests/by_case/wrong_arguments.
 */
#include "check.h"

#include <dlfcn.h>
#include <limits.h>

enum { CELLS = 64, UNIT = 4, BYTES = CELLS * UNIT };

/* What a case finds: an allocated window, in lock_all, whose rank 1 it may write to. */
static MPI_Win win;
static int data[CELLS], result[CELLS];
static MPI_Comm world; /* a duplicate: whoever waits in it for ever harms nobody */

/* --- Handles of nothing ----------------------------------------------------------------------- */

/* MPICH's handles are numbers, and those of Open MPI addresses. `NOTHING` is a handle that was
 * never one, `NEARLY` one that looks like a handle of this kind but for its place. */
#ifdef MPICH_VERSION
#define NOTHING(kind) ((kind)0x5a5a5a10)
#define NEARLY(kind, good) ((kind)((good) + 4096))
#else
static char empty[4096];
#define NOTHING(kind) ((kind)(void *)0x1230)
#define NEARLY(kind, good) ((kind)(void *)empty)
#endif

static void user_function(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static MPI_Datatype made_type(bool committed, bool freed)
{
    MPI_Datatype type, kept;
    MPI_Type_contiguous(1, MPI_INT, &type);
    kept = type;
    if (committed)
        MPI_Type_commit(&type);
    if (freed)
        MPI_Type_free(&type);
    return kept;
}

static MPI_Op made_op(bool freed)
{
    MPI_Op op, kept;
    MPI_Op_create(user_function, 1, &op);
    kept = op;
    if (freed)
        MPI_Op_free(&op);
    return kept;
}

static MPI_Group made_group(bool freed)
{
    MPI_Group group, kept;
    int const rank = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 1, &rank, &kept);
    MPI_Group_free(&group);
    group = kept;
    if (freed)
        MPI_Group_free(&group);
    return kept;
}

static MPI_Info made_info(bool freed)
{
    MPI_Info info, kept;
    MPI_Info_create(&info);
    kept = info;
    if (freed)
        MPI_Info_free(&info);
    return kept;
}

static MPI_Win freed_window(void)
{
    MPI_Win other, kept;
    void *base;
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, world, &base, &other);
    kept = other;
    MPI_Win_free(&other);
    return kept;
}

/* --- Operations ------------------------------------------------------------------------------- */

static int put(const void *from, int count, MPI_Datatype type, MPI_Aint at)
{
    return MPI_Put(from, count, type, 1, at, count, type, win);
}

static int accumulate(MPI_Datatype type, MPI_Op op)
{
    return MPI_Accumulate(data, 1, type, 1, 0, 1, type, op, win);
}

static int type_uncommitted(void) { return put(data, 1, made_type(false, false), 0); }
static int type_uncommitted_target(void)
{
    return MPI_Put(data, 1, MPI_INT, 1, 0, 1, made_type(false, false), win);
}
static int type_uncommitted_acc(void) { return accumulate(made_type(false, false), MPI_SUM); }
static int type_null(void) { return put(data, 1, MPI_DATATYPE_NULL, 0); }
static int type_freed(void) { return put(data, 1, made_type(true, true), 0); }
static int type_freed_used(void)
{
    MPI_Datatype type = made_type(true, false), kept = type;
    put(data, 1, type, 0);
    MPI_Win_flush(1, win);
    MPI_Type_free(&type);
    return put(data, 1, kept, 0);
}
/* On MPICH 4 the last of those that there is room for from the start. */
static int type_freed_third(void)
{
    made_type(true, false);
    made_type(true, false);
    return type_freed();
}
static int type_nothing(void) { return put(data, 1, NOTHING(MPI_Datatype), 0); }
static int type_nearly(void)
{
    return put(data, 1, NEARLY(MPI_Datatype, made_type(true, false)), 0);
}
static int type_nothing_acc(void) { return accumulate(NOTHING(MPI_Datatype), MPI_SUM); }
static int type_of_fetch(void)
{
    return MPI_Fetch_and_op(data, result, made_type(true, false), 1, 0, MPI_SUM, win);
}

static int op_null(void) { return accumulate(MPI_INT, MPI_OP_NULL); }
static int op_mine(void) { return accumulate(MPI_INT, made_op(false)); }
static int op_freed(void) { return accumulate(MPI_INT, made_op(true)); }
static int op_nothing(void) { return accumulate(MPI_INT, NOTHING(MPI_Op)); }
static int op_nearly(void) { return accumulate(MPI_INT, NEARLY(MPI_Op, made_op(false))); }
static int op_no_op(void) { return accumulate(MPI_INT, MPI_NO_OP); }
static int op_of_type(void) { return accumulate(MPI_DOUBLE, MPI_BAND); }

static int null_put(void) { return put(NULL, 1, MPI_INT, 0); }
static int null_get(void) { return MPI_Get(NULL, 1, MPI_INT, 1, 0, 1, MPI_INT, win); }
static int null_accumulate(void)
{
    return MPI_Accumulate(NULL, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
}
static int null_get_accumulate(void)
{
    return MPI_Get_accumulate(data, 1, MPI_INT, NULL, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
}
static int null_fetch(void) { return MPI_Fetch_and_op(data, NULL, MPI_INT, 1, 0, MPI_SUM, win); }
static int null_compare(void)
{
    return MPI_Compare_and_swap(data, NULL, result, MPI_INT, 1, 0, win);
}
static int null_request(void) { return MPI_Rput(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win, NULL); }

static int range_negative(void) { return put(data, 1, MPI_INT, -1); }
static int range_past(void) { return put(data, 1, MPI_INT, CELLS); }
static int range_far(void) { return put(data, 1, MPI_INT, LLONG_MAX); }
static int range_count(void) { return put(data, -1, MPI_INT, 0); }
static int range_rank(void) { return MPI_Put(data, 1, MPI_INT, check_size, 0, 1, MPI_INT, win); }
static int range_truncated(void) { return MPI_Put(data, 8, MPI_INT, 1, 0, 4, MPI_INT, win); }

/* --- Windows ---------------------------------------------------------------------------------- */

static int put_to(MPI_Win where) { return MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, where); }

static int win_null_put(void) { return put_to(MPI_WIN_NULL); }
static int win_null_fence(void) { return MPI_Win_fence(0, MPI_WIN_NULL); }
static int win_null_free(void)
{
    MPI_Win none = MPI_WIN_NULL;
    return MPI_Win_free(&none);
}
static int win_freed_put(void) { return put_to(freed_window()); }
static int win_freed_lock(void) { return MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, freed_window()); }
static int win_freed_free(void)
{
    MPI_Win kept = freed_window();
    return MPI_Win_free(&kept);
}
static int win_nothing_put(void) { return put_to(NOTHING(MPI_Win)); }
static int win_nearly_put(void) { return put_to(NEARLY(MPI_Win, win)); }
static int win_nothing_fence(void) { return MPI_Win_fence(0, NOTHING(MPI_Win)); }

static int query_flag(void)
{
    void *base;
    return MPI_Win_get_attr(win, MPI_WIN_SIZE, &base, NULL);
}
static int query_value(void)
{
    int flag;
    return MPI_Win_get_attr(win, MPI_WIN_SIZE, NULL, &flag);
}
static int query_group(void) { return MPI_Win_get_group(win, NULL); }
static int query_info(void) { return MPI_Win_get_info(win, NULL); }
static int query_free(void) { return MPI_Win_free(NULL); }

/* --- Groups ----------------------------------------------------------------------------------- */

static int in_fence(int (*call)(void))
{
    MPI_Win_unlock_all(win);
    int const code = call();
    MPI_Win_lock_all(0, win);
    return code;
}

static int start_null(void) { return MPI_Win_start(MPI_GROUP_NULL, 0, win); }
static int start_freed(void) { return MPI_Win_start(made_group(true), 0, win); }
static int start_nothing(void) { return MPI_Win_start(NOTHING(MPI_Group), 0, win); }
static int start_nearly(void)
{
    return MPI_Win_start(NEARLY(MPI_Group, made_group(false)), 0, win);
}
static int post_nothing(void) { return MPI_Win_post(NOTHING(MPI_Group), 0, win); }
static int group_null(void) { return in_fence(start_null); }
static int group_freed(void) { return in_fence(start_freed); }
static int group_nothing(void) { return in_fence(start_nothing); }
static int group_nearly(void) { return in_fence(start_nearly); }
static int group_nothing_post(void) { return in_fence(post_nothing); }

/* --- Making windows --------------------------------------------------------------------------- */

static int allocate(MPI_Aint size, int unit, MPI_Info info)
{
    MPI_Win other = MPI_WIN_NULL;
    void *base = NULL;
    int const code = MPI_Win_allocate(size, unit, info, world, &base, &other);
    if (code == MPI_SUCCESS && other != MPI_WIN_NULL)
        MPI_Win_free(&other);
    return code;
}

static int allocate_shared(MPI_Aint size, int unit)
{
    MPI_Win other = MPI_WIN_NULL;
    void *base = NULL;
    int const code = MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, world, &base, &other);
    if (code == MPI_SUCCESS && other != MPI_WIN_NULL)
        MPI_Win_free(&other);
    return code;
}

static int create(void *base, MPI_Aint size)
{
    MPI_Win other = MPI_WIN_NULL;
    int const code = MPI_Win_create(base, size, 1, MPI_INFO_NULL, world, &other);
    if (code == MPI_SUCCESS && other != MPI_WIN_NULL)
        MPI_Win_free(&other);
    return code;
}

static bool mine(void) { return check_rank == 1; }

static int info_freed(void) { return allocate(8, 1, made_info(true)); }
static int info_nothing(void) { return allocate(8, 1, NOTHING(MPI_Info)); }
static int info_nearly(void) { return allocate(8, 1, NEARLY(MPI_Info, made_info(false))); }
static int info_set(void) { return MPI_Win_set_info(win, NOTHING(MPI_Info)); }
static int info_one(void) { return allocate(8, 1, mine() ? NOTHING(MPI_Info) : MPI_INFO_NULL); }

static int size_negative(void) { return allocate(-1, 1, MPI_INFO_NULL); }
static int size_huge(void) { return allocate((MPI_Aint)1 << 62, 1, MPI_INFO_NULL); }
static int size_huge_shared(void) { return allocate_shared((MPI_Aint)1 << 62, 1); }
static int size_most(void) { return allocate((MPI_Aint)1 << 46, 1, MPI_INFO_NULL); }
static int size_most_shared(void) { return allocate_shared((MPI_Aint)1 << 46, 1); }
static int size_unit(void) { return allocate(8, 0, MPI_INFO_NULL); }
static int size_base(void) { return create(NULL, 8); }

static int one_negative(void) { return allocate(mine() ? -1 : 8, 1, MPI_INFO_NULL); }
static int one_unit(void) { return allocate(8, mine() ? -2 : 1, MPI_INFO_NULL); }
static int one_huge(void) { return allocate(mine() ? (MPI_Aint)1 << 62 : 8, 1, MPI_INFO_NULL); }
static int one_huge_shared(void) { return allocate_shared(mine() ? (MPI_Aint)1 << 62 : 8, 1); }
static int one_most_shared(void) { return allocate_shared(mine() ? (MPI_Aint)1 << 46 : 8, 1); }
static int one_base(void) { return create(mine() ? NULL : data, 8); }
static int one_window(void)
{
    void *base;
    MPI_Win other = MPI_WIN_NULL;
    int const code = MPI_Win_allocate(8, 1, MPI_INFO_NULL, world, &base, mine() ? NULL : &other);
    if (code == MPI_SUCCESS && other != MPI_WIN_NULL)
        MPI_Win_free(&other);
    return code;
}

/* Of sizes that differ there is nothing wrong. */
static int sizes(MPI_Aint largest, int (*make)(MPI_Aint))
{
    MPI_Aint const own[] = {1, largest, 0, 4096};
    return make(own[check_rank % 4]);
}
static int make_allocated(MPI_Aint size) { return allocate(size, 1, MPI_INFO_NULL); }
static int make_shared(MPI_Aint size) { return allocate_shared(size, 1); }
static int sizes_allocated(void) { return sizes((MPI_Aint)1 << 30, make_allocated); }
static int sizes_shared(void) { return sizes((MPI_Aint)1 << 30, make_shared); }

/* --- Nonblocking calls, where there are any --------------------------------------------------- */

enum { NO_SUCH_CALL = -1 };

static int nonblocking_fence(MPI_Win where, bool request)
{
    typedef int call(int, MPI_Win, MPI_Request *);
    MPI_Request waiting = MPI_REQUEST_NULL;
    void *const found = dlsym(RTLD_DEFAULT, "MPIX_Win_ifence");
    call *fence;
    memcpy(&fence, &found, sizeof fence);
    return fence == NULL ? NO_SUCH_CALL : fence(0, where, request ? &waiting : NULL);
}
static int nonblocking_null(void) { return nonblocking_fence(MPI_WIN_NULL, true); }
static int nonblocking_freed(void) { return nonblocking_fence(freed_window(), true); }
static int nonblocking_nothing(void) { return nonblocking_fence(NOTHING(MPI_Win), true); }
static int nonblocking_request(void) { return nonblocking_fence(win, false); }

/* ------------------------------------------------------------------------------------------------
 */

#ifdef MPICH_VERSION
enum { IS_MPICH = 1 };
#else
enum { IS_MPICH = 0 };
#endif

/* Open MPI takes NULL for the beginning of all addresses. */
#ifdef OPEN_MPI
#define CREATED_AT_NULL MPI_SUCCESS
#else
#define CREATED_AT_NULL MPI_ERR_BASE
#endif

/* `class`: what the library says, MPI_SUCCESS where the call is right, or `UNKNOWN` where no
 * library can know, as with freed memory behind a handle. */
enum { UNKNOWN = -2 };
struct wrong_case {
    const char *name, *what;
    int (*call)(void);
    int class;
    bool on_numbers; /* told where handles are numbers; addresses of nothing end the process */
    bool everywhere; /* collective: called by all, not by rank 0 alone */
};

#define TOLD(name, what, class)                                                                    \
    {                                                                                              \
#name, what, name, class, false, false                                                     \
    }
#define BY_NUMBER(name, what, class)                                                               \
    {                                                                                              \
#name, what, name, class, true, false                                                      \
    }
#define BY_ALL(name, what, class)                                                                  \
    {                                                                                              \
#name, what, name, class, false, true                                                      \
    }
#define BY_ALL_NUMBER(name, what, class)                                                           \
    {                                                                                              \
#name, what, name, class, true, true                                                       \
    }

static const struct wrong_case cases[] = {
    TOLD(type_null, "put of MPI_DATATYPE_NULL", MPI_ERR_TYPE),
    TOLD(type_uncommitted, "put, type not committed", MPI_ERR_TYPE),
    TOLD(type_uncommitted_target, "put, target's type not committed", MPI_ERR_TYPE),
    TOLD(type_uncommitted_acc, "accumulate, type not committed", MPI_ERR_TYPE),
    BY_NUMBER(type_freed, "put, type freed", MPI_ERR_TYPE),
    BY_NUMBER(type_freed_used, "put, type freed after it was used", MPI_ERR_TYPE),
    BY_NUMBER(type_freed_third, "put, third type freed", UNKNOWN),
    BY_NUMBER(type_nothing, "put, no type at all", MPI_ERR_TYPE),
    BY_NUMBER(type_nearly, "put, type beside those that there are", UNKNOWN),
    BY_NUMBER(type_nothing_acc, "accumulate, no type at all", MPI_ERR_TYPE),
    TOLD(type_of_fetch, "fetch_and_op of a derived type", MPI_ERR_TYPE),
    TOLD(op_null, "accumulate with MPI_OP_NULL", MPI_ERR_OP),
    TOLD(op_mine, "accumulate with an operation of the user", MPI_ERR_OP),
    TOLD(op_freed, "accumulate, operation freed", MPI_ERR_OP),
    TOLD(op_nothing, "accumulate, no operation at all", MPI_ERR_OP),
    TOLD(op_nearly, "accumulate, operation beside those that there are", MPI_ERR_OP),
    TOLD(op_no_op, "accumulate with MPI_NO_OP", MPI_ERR_OP),
    TOLD(op_of_type, "accumulate of doubles with MPI_BAND", MPI_ERR_OP),
    TOLD(null_put, "put from NULL", MPI_ERR_BUFFER),
    TOLD(null_get, "get to NULL", MPI_ERR_BUFFER),
    TOLD(null_accumulate, "accumulate from NULL", MPI_ERR_BUFFER),
    TOLD(null_get_accumulate, "get_accumulate, result NULL", MPI_ERR_BUFFER),
    TOLD(null_fetch, "fetch_and_op, result NULL", MPI_ERR_BUFFER),
    TOLD(null_compare, "compare_and_swap, compare NULL", MPI_ERR_BUFFER),
    TOLD(null_request, "rput, request NULL", MPI_ERR_ARG),
    TOLD(range_negative, "put at displacement -1", MPI_ERR_DISP),
    TOLD(range_past, "put just past the window", MPI_ERR_RMA_RANGE),
    TOLD(range_far, "put at the largest displacement", MPI_ERR_RMA_RANGE),
    TOLD(range_count, "put of -1 elements", MPI_ERR_COUNT),
    TOLD(range_rank, "put to a rank that is not there", MPI_ERR_RANK),
    TOLD(range_truncated, "put of 8 elements into 4", MPI_ERR_RMA_RANGE),
    TOLD(win_null_put, "put, MPI_WIN_NULL", MPI_ERR_WIN),
    TOLD(win_null_fence, "fence, MPI_WIN_NULL", MPI_ERR_WIN),
    TOLD(win_null_free, "free, MPI_WIN_NULL", MPI_ERR_WIN),
    BY_ALL_NUMBER(win_freed_put, "put, window freed", MPI_ERR_WIN),
    BY_ALL_NUMBER(win_freed_lock, "lock, window freed", MPI_ERR_WIN),
    BY_ALL_NUMBER(win_freed_free, "free, window freed", MPI_ERR_WIN),
    BY_NUMBER(win_nothing_put, "put, no window at all", MPI_ERR_WIN),
    BY_NUMBER(win_nearly_put, "put, window beside those that there are", UNKNOWN),
    BY_NUMBER(win_nothing_fence, "fence, no window at all", MPI_ERR_WIN),
    TOLD(query_flag, "get_attr, flag NULL", MPI_ERR_ARG),
    TOLD(query_value, "get_attr, value NULL", MPI_ERR_ARG),
    TOLD(query_group, "get_group, group NULL", MPI_ERR_ARG),
    TOLD(query_info, "get_info, info NULL", MPI_ERR_ARG),
    TOLD(query_free, "free, window's place NULL", MPI_ERR_ARG),
    TOLD(group_null, "start with MPI_GROUP_NULL", MPI_ERR_GROUP),
    TOLD(group_freed, "start, group freed", MPI_ERR_GROUP),
    BY_NUMBER(group_nothing, "start, no group at all", MPI_ERR_GROUP),
    BY_NUMBER(group_nearly, "start, group beside those that there are", UNKNOWN),
    BY_NUMBER(group_nothing_post, "post, no group at all", MPI_ERR_GROUP),
    BY_ALL_NUMBER(info_freed, "allocate, info freed", UNKNOWN),
    BY_ALL_NUMBER(info_nothing, "allocate, no info at all", MPI_ERR_INFO),
    BY_ALL_NUMBER(info_nearly, "allocate, info beside those that there are", UNKNOWN),
    BY_ALL_NUMBER(info_set, "set_info, no info at all", MPI_ERR_INFO),
    BY_ALL_NUMBER(info_one, "allocate, no info at all on one rank", MPI_ERR_INFO),
    BY_ALL(size_negative, "allocate of -1 bytes", MPI_ERR_SIZE),
    BY_ALL(size_huge, "allocate of 2^62 bytes", MPI_ERR_NO_MEM),
    BY_ALL(size_huge_shared, "allocate_shared of 2^62 bytes", MPI_ERR_NO_MEM),
    BY_ALL(size_most, "allocate of 2^46 bytes", MPI_ERR_NO_MEM),
    BY_ALL(size_most_shared, "allocate_shared of 2^46 bytes", MPI_ERR_NO_MEM),
    BY_ALL(size_unit, "allocate, unit 0", MPI_ERR_DISP),
    BY_ALL(size_base, "create at NULL", CREATED_AT_NULL),
    BY_ALL(one_negative, "allocate of -1 bytes on one rank", MPI_ERR_SIZE),
    BY_ALL(one_unit, "allocate, unit -2 on one rank", MPI_ERR_DISP),
    BY_ALL(one_huge, "allocate of 2^62 bytes on one rank", MPI_ERR_NO_MEM),
    BY_ALL(one_huge_shared, "allocate_shared of 2^62 bytes on one rank", MPI_ERR_NO_MEM),
    BY_ALL(one_most_shared, "allocate_shared of 2^46 bytes on one rank", UNKNOWN),
    BY_ALL(one_base, "create at NULL on one rank", CREATED_AT_NULL),
    BY_ALL(one_window, "allocate, window's place NULL on one rank", MPI_ERR_ARG),
    BY_ALL(sizes_allocated, "allocate of 1 byte and of 1 GB (right)", MPI_SUCCESS),
    BY_ALL(sizes_shared, "allocate_shared of 1 byte and of 1 GB (right)", MPI_SUCCESS),
    TOLD(nonblocking_null, "MPIX_Win_ifence, MPI_WIN_NULL", MPI_ERR_WIN),
    BY_ALL_NUMBER(nonblocking_freed, "MPIX_Win_ifence, window freed", MPI_ERR_WIN),
    TOLD(nonblocking_nothing, "MPIX_Win_ifence, no window at all", MPI_ERR_WIN),
    TOLD(nonblocking_request, "MPIX_Win_ifence, request NULL", MPI_ERR_ARG),
};
enum { CASES = sizeof cases / sizeof *cases };

static const char *class_name(int code)
{
    static const struct {
        int class;
        const char *name;
    } names[] = {{MPI_SUCCESS, "SUCCESS"},
                 {MPI_ERR_ARG, "ERR_ARG"},
                 {MPI_ERR_ASSERT, "ERR_ASSERT"},
                 {MPI_ERR_BASE, "ERR_BASE"},
                 {MPI_ERR_BUFFER, "ERR_BUFFER"},
                 {MPI_ERR_COMM, "ERR_COMM"},
                 {MPI_ERR_COUNT, "ERR_COUNT"},
                 {MPI_ERR_DISP, "ERR_DISP"},
                 {MPI_ERR_GROUP, "ERR_GROUP"},
                 {MPI_ERR_INFO, "ERR_INFO"},
                 {MPI_ERR_INTERN, "ERR_INTERN"},
                 {MPI_ERR_NO_MEM, "ERR_NO_MEM"},
                 {MPI_ERR_OP, "ERR_OP"},
                 {MPI_ERR_OTHER, "ERR_OTHER"},
                 {MPI_ERR_RANK, "ERR_RANK"},
                 {MPI_ERR_REQUEST, "ERR_REQUEST"},
                 {MPI_ERR_SIZE, "ERR_SIZE"},
                 {MPI_ERR_TYPE, "ERR_TYPE"},
                 {MPI_ERR_WIN, "ERR_WIN"},
                 {MPI_ERR_RMA_RANGE, "ERR_RMA_RANGE"},
                 {MPI_ERR_RMA_SYNC, "ERR_RMA_SYNC"},
                 {MPI_ERR_UNKNOWN, "ERR_UNKNOWN"},
                 {MPI_ERR_RMA_SHARED, "ERR_RMA_SHARED"},
                 {MPI_ERR_TRUNCATE, "ERR_TRUNCATE"},
                 {MPI_ERR_UNSUPPORTED_OPERATION, "ERR_UNSUPPORTED_OPERATION"}};
    int class = code;
    if (code == NO_SUCH_CALL)
        return "no_such_call";
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (names[i].class == class)
            return names[i].name;
    return "another_class";
}

static bool calls(const struct wrong_case *one) { return one->everywhere || check_rank == 0; }

static void open_window(bool everywhere_returns)
{
    void *base;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    if (everywhere_returns) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Win_allocate(BYTES, UNIT, MPI_INFO_NULL, world, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
}

static void close_window(void)
{
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&world);
}

static void play(const struct wrong_case *one)
{
    if (calls(one)) {
        int const code = one->call();
        printf("said %d %s\n", check_rank, class_name(code));
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Whether the library knows what to answer, on this host. */
static bool is_answered(const struct wrong_case *one)
{
    return one->class != UNKNOWN && (IS_MPICH || !one->on_numbers);
}

static void play_all(void)
{
    for (int i = 0; i < CASES; ++i) {
        if (!is_answered(&cases[i]))
            continue;
        check_step(cases[i].what);
        if (calls(&cases[i]))
            CHECK_ERROR(cases[i].call(), cases[i].class);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "all";
    if (strcmp(name, "list") == 0) {
        for (int i = 0; i < CASES; ++i)
            printf("%s\t%s\t%d\n", cases[i].name, cases[i].what, is_answered(&cases[i]));
        return EXIT_SUCCESS;
    }
    check_begin(&argc, &argv);
    open_window(argc < 3 || strcmp(argv[2], "window") != 0);
    if (strcmp(name, "all") == 0)
        play_all();
    for (int i = 0; i < CASES; ++i)
        if (strcmp(name, cases[i].name) == 0)
            play(&cases[i]);
    close_window();
    return check_end();
}
