/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each handle of a window has of its own, and what a duplicate gets from its parent: info
 * keys, attributes, error handler, name.
 */
#include "duplicates.h"
#include <sidelight.h>

/* --- Info ------------------------------------------------------------------------------------- */

/* The value in force; false: the window does not know the key. */
static bool value_of_key(MPI_Win win, const char *key, char value[64])
{
    int found = 0;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, key, 63, value, &found));
    MPI_Info_free(&info);
    return found;
}

static bool holds(MPI_Win win, const char *key, const char *expected)
{
    char text[64] = "";
    bool const found = value_of_key(win, key, text);
    bool const same = found && strcmp(text, expected) == 0;
    if (!same)
        fprintf(stderr, "    %s is %s, not %s\n", key, found ? text : "not there", expected);
    return same;
}

static MPI_Info one_key(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static void set(MPI_Win win, const char *key, const char *value)
{
    MPI_Info info = one_key(key, value);
    CHECK_OK(MPI_Win_set_info(win, info));
    MPI_Info_free(&info);
}

/* In force by default, on windows of every kind and on their duplicates. */
static void defaults(void)
{
    static const char *const expected[][2] = {{"mpi_win_scope", "process"},
                                              {"mpi_assert_accumulate_intrinsic", "false"},
                                              {"accumulate_ordering", "rar,raw,war,waw"},
                                              {"accumulate_ops", "same_op_no_op"},
                                              {"no_locks", "false"},
                                              {"same_size", "false"}};
    check_step("defaults");
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        struct window w = window_open((enum flavor)flavor, MPI_COMM_WORLD, 64, 8);
        MPI_Win handle = duplicate(w.win, MPI_INFO_NULL);
        for (int k = 0; k < (int)(sizeof expected / sizeof *expected); ++k) {
            CHECK(holds(w.win, expected[k][0], expected[k][1]));
            CHECK(holds(handle, expected[k][0], expected[k][1]));
        }
        free_handle(&handle);
        window_close(&w);
    }
}

/* A duplicate has its parent's keys as they are now, and then its own. */
static void inherited(void)
{
    check_step("keys of the parent");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    set(w.win, "accumulate_ordering", "none");
    set(w.win, "accumulate_ops", "same_op");
    MPI_Win first = duplicate_with(w.win, "accumulate_ordering", "raw");
    MPI_Win second = duplicate_with(first, "mpi_assert_accumulate_intrinsic", "true");
    CHECK(holds(w.win, "accumulate_ordering", "none"));
    CHECK(holds(w.win, "mpi_assert_accumulate_intrinsic", "false"));
    CHECK(holds(first, "accumulate_ordering", "raw"));
    CHECK(holds(first, "accumulate_ops", "same_op"));
    CHECK(holds(first, "mpi_assert_accumulate_intrinsic", "false"));
    CHECK(holds(second, "accumulate_ordering", "raw"));
    CHECK(holds(second, "mpi_assert_accumulate_intrinsic", "true"));
    set(w.win, "accumulate_ordering", "waw"); /* too late for those that are there */
    CHECK(holds(w.win, "accumulate_ordering", "waw"));
    CHECK(holds(first, "accumulate_ordering", "raw"));
    free_handle(&first);
    CHECK(holds(second, "accumulate_ordering", "raw"));
    free_handle(&second);
    window_close(&w);
}

/* On a duplicate, MPI_Win_set_info is a local call and changes this handle alone. */
static void set_on_one(void)
{
    check_step("set_info of a duplicate");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    MPI_Win handle = duplicate(w.win, MPI_INFO_NULL);
    if (w.rank == 0) {
        set(handle, "accumulate_ordering", "none");
        CHECK(holds(handle, "accumulate_ordering", "none"));
    }
    CHECK(holds(w.win, "accumulate_ordering", "rar,raw,war,waw"));
    MPI_Barrier(w.comm);
    CHECK(holds(handle, "accumulate_ordering", w.rank == 0 ? "none" : "rar,raw,war,waw"));
    free_handle(&handle);
    window_close(&w);
}

/* Values that are none leave a key as it was, when the window is made and later. */
static void nonsense(void)
{
    static const char *const keys[][2] = {{"alloc_shared_noncontig", "perhaps"},
                                          {"sidelight_share_memory", "bogus"},
                                          {"mpi_minimum_memory_alignment", "48"},
                                          {"mpi_minimum_memory_alignment", "64 bytes"},
                                          {"sidelight_no_exclusive_locks", "perhaps"},
                                          {"mpi_assert_max_num_notify", "-1"},
                                          {"mpi_assert_max_num_notify", "many"},
                                          {"mpi_assert_same_num_notifications", "2"},
                                          {"sidelight_am_at_target", "perhaps"},
                                          {"sidelight_progress", "perhaps"},
                                          {"sidelight_early_return", "late"},
                                          {"no_locks", "TRUE"},
                                          {"accumulate_ordering", "banana"},
                                          {"accumulate_ordering", "raw,none"},
                                          {"accumulate_ops", "banana"},
                                          {"accumulate_ops", "same_op,same_op_no_op"},
                                          {"mpi_accumulate_granularity", "-3x"},
                                          {"mpi_accumulate_granularity", "-1"},
                                          {"same_size", "perhaps"},
                                          {"same_disp_unit", "perhaps"}};
    check_step("values that are none");
    struct window plain = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    for (int k = 0; k < (int)(sizeof keys / sizeof *keys); ++k) {
        char before[64] = "";
        MPI_Info given = one_key(keys[k][0], keys[k][1]);
        CHECK(value_of_key(plain.win, keys[k][0], before));
        struct window w = window_open_with(given, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
        CHECK(holds(w.win, keys[k][0], before));
        CHECK_OK(MPI_Win_set_info(w.win, given));
        CHECK(holds(w.win, keys[k][0], before));
        window_close(&w);
        MPI_Info_free(&given);
    }
    window_close(&plain);
}

/* A window that does not ask for progress has that of its process. */
static void progress(void)
{
    const char *const variable = getenv("SIDELIGHT_PROGRESS");
    MPI_Info given = one_key("sidelight_progress", "calls");
    check_step("progress");
    struct window plain = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    struct window asking = window_open_with(given, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    CHECK(holds(plain.win, "sidelight_progress", variable != NULL ? variable : "auto"));
    CHECK(holds(asking.win, "sidelight_progress", "calls"));
    window_close(&asking);
    window_close(&plain);
    MPI_Info_free(&given);
}

/* What cannot be had stays as it was: values that are none, and keys of the whole window. */
static void refused(void)
{
    static const char *const whole[][2] = {{"sidelight_a_a_a_r", "1"},
                                           {"MPI_WIN_ACCESS_AFTER_ACCESS_REORDER", "1"},
                                           {"alloc_shared_noncontig", "true"},
                                           {"mpi_minimum_memory_alignment", "4096"},
                                           {"sidelight_no_exclusive_locks", "true"},
                                           {"same_size", "true"},
                                           {"no_locks", "true"}};
    /* Where the host has room for the long name that is the one to ask for. */
    const char *const reorder = strlen(whole[1][0]) < MPI_MAX_INFO_KEY ? whole[1][0] : whole[0][0];
    check_step("keys that cannot be had");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    MPI_Win handle = duplicate_with(w.win, "mpi_win_scope", "galaxy");
    CHECK(holds(handle, "mpi_win_scope", "process"));
    set(handle, "mpi_win_scope", "process,");
    CHECK(holds(handle, "mpi_win_scope", "process"));
    set(handle, "mpi_assert_accumulate_intrinsic", "perhaps");
    CHECK(holds(handle, "mpi_assert_accumulate_intrinsic", "false"));
    set(w.win, "mpi_win_scope", "galaxy");
    CHECK(holds(w.win, "mpi_win_scope", "process"));
    for (int k = 0; k < (int)(sizeof whole / sizeof *whole); ++k)
        if (strlen(whole[k][0]) < MPI_MAX_INFO_KEY)
            set(handle, whole[k][0], whole[k][1]);
    for (int k = 2; k < (int)(sizeof whole / sizeof *whole); ++k) {
        const char *const before = strcmp(whole[k][1], "4096") == 0 ? "1" : "false";
        CHECK(holds(handle, whole[k][0], before));
        CHECK(holds(w.win, whole[k][0], before));
    }
    CHECK(holds(handle, reorder, "0"));
    set(w.win, reorder, "perhaps");
    CHECK(holds(w.win, reorder, "0"));
    set(w.win, reorder, "1"); /* for all */
    set(w.win, "no_locks", "true");
    set(w.win, "mpi_minimum_memory_alignment", "4096"); /* it is too late for that */
    CHECK(holds(handle, reorder, "1"));
    CHECK(holds(handle, "no_locks", "true"));
    CHECK(holds(w.win, "mpi_minimum_memory_alignment", "1"));
    CHECK(holds(handle, "mpi_minimum_memory_alignment", "1"));
    free_handle(&handle);
    window_close(&w);
}

/* --- Attributes ------------------------------------------------------------------------------- */

static struct {
    int calls, state, given, deleted;
    MPI_Win from, deleted_from;
} seen;

/* A copy is one more than what it is the copy of; what is negative is not copied. */
static int copy_more(MPI_Win win, int key, void *state, void *value, void *copied, int *flag)
{
    (void)key;
    ++seen.calls;
    seen.from = win;
    seen.state = *(int *)state;
    seen.given = (int)(intptr_t)value;
    *flag = (intptr_t)value >= 0;
    *(void **)copied = (void *)((intptr_t)value + 1);
    return MPI_SUCCESS;
}

static int copy_never(MPI_Win win, int key, void *state, void *value, void *copied, int *flag)
{
    (void)win, (void)key, (void)state, (void)value, (void)copied, (void)flag;
    return MPI_ERR_INTERN;
}

static int note_delete(MPI_Win win, int key, void *value, void *state)
{
    MPI_Aint *size = NULL;
    void *own = NULL;
    int found = 0;
    (void)value, (void)state;
    ++seen.deleted;
    seen.deleted_from = win;
    CHECK_OK(MPI_Win_get_attr(win, key, &own, &found)); /* it still answers */
    return MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &found);
}

static intptr_t value_of(MPI_Win win, int key)
{
    void *value = NULL;
    int found = 0;
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &found));
    return found ? (intptr_t)value : -1000;
}

static void attributes(void)
{
    static int state = 42;
    int more, plain, none;
    check_step("attributes");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    CHECK_OK(MPI_Win_create_keyval(copy_more, note_delete, &more, &state));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &plain, NULL));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &none, NULL));
    CHECK_OK(MPI_Win_set_attr(w.win, more, (void *)10));
    CHECK_OK(MPI_Win_set_attr(w.win, more, (void *)11));
    CHECK_OK(MPI_Win_set_attr(w.win, plain, (void *)20));
    CHECK_OK(MPI_Win_set_attr(w.win, none, (void *)30));
    CHECK_EQ(seen.deleted, 1);

    MPI_Win first = duplicate(w.win, MPI_INFO_NULL);
    CHECK_EQ(seen.calls, 1);
    CHECK(seen.from == w.win);
    CHECK_EQ(seen.state, 42);
    CHECK_EQ(seen.given, 11);
    CHECK_EQ(value_of(first, more), 12);
    CHECK_EQ(value_of(first, plain), 20);
    CHECK_EQ(value_of(first, none), -1000);
    CHECK_EQ(value_of(w.win, more), 11);

    /* Keys that are freed stay where they are set, and so are copied. */
    CHECK_OK(MPI_Win_delete_attr(first, plain));
    int const copied = more;
    CHECK_OK(MPI_Win_free_keyval(&more));
    MPI_Win second = duplicate(first, MPI_INFO_NULL);
    CHECK_EQ(seen.calls, 2);
    CHECK(seen.from == first);
    CHECK_EQ(value_of(second, copied), 13);
    CHECK_EQ(value_of(second, plain), -1000);

    /* Each handle's are deleted with it, and once. */
    MPI_Win const freed = first;
    seen.deleted = 0;
    free_handle(&first);
    CHECK_EQ(seen.deleted, 1);
    CHECK(seen.deleted_from == freed);
    free_handle(&second);
    CHECK_EQ(seen.deleted, 2);
    CHECK_EQ(value_of(w.win, plain), 20);
    window_close(&w);
    CHECK_EQ(seen.deleted, 3);
    CHECK_OK(MPI_Win_free_keyval(&plain));
    CHECK_OK(MPI_Win_free_keyval(&none));
}

/* A callback may leave an attribute out, or refuse: then there is no duplicate, and what it had got
 * is deleted. */
static void left_out(void)
{
    static int state;
    int more, never;
    check_step("attributes that are not copied");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    CHECK_OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_create_keyval(copy_more, note_delete, &more, &state));
    CHECK_OK(MPI_Win_create_keyval(copy_never, MPI_WIN_NULL_DELETE_FN, &never, NULL));
    CHECK_OK(MPI_Win_set_attr(w.win, more, (void *)-5));
    MPI_Win handle = duplicate(w.win, MPI_INFO_NULL);
    CHECK_EQ(value_of(handle, more), -1000);
    free_handle(&handle);
    CHECK_OK(MPI_Win_set_attr(w.win, more, (void *)5));
    CHECK_OK(MPI_Win_set_attr(w.win, never, (void *)6));
    seen.deleted = seen.calls = 0;
    CHECK_ERROR(MPIX_Win_dup_with_info(w.win, MPI_INFO_NULL, &handle), MPI_ERR_OTHER);
    CHECK(handle == MPI_WIN_NULL);
    CHECK_EQ(seen.deleted, seen.calls);
    CHECK_OK(MPI_Win_delete_attr(w.win, never));
    handle = duplicate(w.win, MPI_INFO_NULL);
    CHECK_EQ(value_of(handle, more), 6);
    free_handle(&handle);
    window_close(&w);
    CHECK_OK(MPI_Win_free_keyval(&more));
    CHECK_OK(MPI_Win_free_keyval(&never));
}

/* --- Error handler and name ------------------------------------------------------------------- */

static void error_handlers(void)
{
    MPI_Errhandler mine, its;
    check_step("error handlers");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    note_errors(w.win);
    MPI_Win handle = duplicate(w.win, MPI_INFO_NULL);
    CHECK_OK(MPI_Win_get_errhandler(w.win, &mine));
    CHECK_OK(MPI_Win_get_errhandler(handle, &its));
    CHECK(mine == its);
    MPI_Errhandler_free(&mine);
    MPI_Errhandler_free(&its);
    CHECK_ERROR(MPI_Win_unlock(0, handle), MPI_ERR_RMA_SYNC);
    CHECK_EQ(handled, 1);
    CHECK_EQ(handled_class, MPI_ERR_RMA_SYNC);
    CHECK(handled_window == handle);
    CHECK_OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN)); /* of this one alone */
    CHECK_ERROR(MPI_Win_unlock(0, w.win), MPI_ERR_RMA_SYNC);
    CHECK_EQ(handled, 1);
    CHECK_ERROR(MPI_Win_unlock(0, handle), MPI_ERR_RMA_SYNC);
    CHECK_EQ(handled, 2);
    free_handle(&handle);
    window_close(&w);
}

static bool is_called(MPI_Win win, const char *expected)
{
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length = -1;
    CHECK_OK(MPI_Win_get_name(win, text, &length));
    return strcmp(text, expected) == 0;
}

static void names(void)
{
    check_step("names");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    CHECK_OK(MPI_Win_set_name(w.win, "the window"));
    MPI_Win handle = duplicate(w.win, MPI_INFO_NULL);
    CHECK(!is_called(handle, "the window"));
    CHECK_OK(MPI_Win_set_name(handle, "another handle"));
    CHECK(is_called(handle, "another handle"));
    CHECK(is_called(w.win, "the window"));
    free_handle(&handle);
    window_close(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    defaults();
    inherited();
    set_on_one();
    nonsense();
    progress();
    refused();
    attributes();
    left_out();
    error_handlers();
    names();
    return check_end();
}
