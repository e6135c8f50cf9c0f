/* SPDX-License-Identifier: BSD-3-Clause */
/* What a window carries besides memory: attributes, names, groups, info, error handlers; and many
 * windows at once. */
#define _GNU_SOURCE
#include "host_defects.h"
#include "noted_errors.h"

#include <dlfcn.h>

enum { CELLS = 16, MANY = 300, AT_ONCE = 40 };

/* --- The predefined attributes ---------------------------------------------------------------- */

static int number(MPI_Win win, int key)
{
    const int *const value = check_attribute(win, key);
    return value != NULL ? *value : -1;
}

static void predefined(struct window *w)
{
    static const int flavors[FLAVORS] = {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                                         MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_DYNAMIC};
    const MPI_Aint *const size = check_attribute(w->win, MPI_WIN_SIZE);
    void *base = NULL;
    int found = 0;
    CHECK_OK(MPI_Win_get_attr(w->win, MPI_WIN_BASE, &base, &found));
    CHECK(found);
    CHECK_EQ(number(w->win, MPI_WIN_CREATE_FLAVOR), flavors[w->flavor]);
    CHECK_EQ(number(w->win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
    if (w->flavor != FLAVOR_DYNAMIC) {
        CHECK(base == (void *)w->base);
        CHECK(size != NULL && *size == w->bytes);
        CHECK_EQ(number(w->win, MPI_WIN_DISP_UNIT), w->unit);
    } else {
        CHECK(base == MPI_BOTTOM);
        CHECK(size != NULL && *size == 0);
    }
}

/* --- By a binding of Fortran's ---------------------------------------------------------------- */

#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0
typedef void binding(const int *win, const int *key, MPI_Aint *value, int *found, int *error);

static MPI_Aint of_fortran(MPI_Win win, int key)
{
    int const number = MPI_Win_toint(win);
    int found = 0, error = -1;
    MPI_Aint value = -1;
    binding *get;
    *(void **)&get = dlsym(RTLD_DEFAULT, "mpi_win_get_attr_");
    CHECK(get != NULL);
    get(&number, &key, &value, &found, &error);
    CHECK_EQ(error, MPI_SUCCESS);
    CHECK(found);
    return value;
}

/* In the standard ABI the keys of Fortran are those of C. */
static void predefined_of_fortran(struct window *w)
{
    CHECK(of_fortran(w->win, MPI_WIN_BASE) == (MPI_Aint)w->base);
    CHECK_EQ(of_fortran(w->win, MPI_WIN_SIZE), w->bytes);
    CHECK_EQ(of_fortran(w->win, MPI_WIN_DISP_UNIT), w->unit);
    CHECK_EQ(of_fortran(w->win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
}
#else
static void predefined_of_fortran(struct window *w) { (void)w; /* fortran_attributes */ }
#endif

/* --- The user's own attributes ---------------------------------------------------------------- */

static int deleted, deleted_state;
static MPI_Aint deleted_value;

static int on_delete(MPI_Win win, int key, void *value, void *state)
{
    void *base = NULL, *own = NULL;
    int found = 0;
    ++deleted;
    deleted_value = *(MPI_Aint *)value;
    deleted_state = *(int *)state;
    /* The window still answers, for the program's keys, too. */
    CHECK_OK(MPI_Win_get_attr(win, key, &own, &found));
    return MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
}

static void own_attributes(struct window *w)
{
    static int state = 5;
    static MPI_Aint first = 11, second = 22;
    void *value = NULL;
    int key, found = 1;
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &state));
    CHECK_OK(MPI_Win_get_attr(w->win, key, &value, &found));
    CHECK_EQ(found, 0);
    deleted = 0;
    CHECK_OK(MPI_Win_set_attr(w->win, key, &first));
    CHECK_OK(MPI_Win_set_attr(w->win, key, &second)); /* deletes the first */
    CHECK_EQ(deleted, 1);
    CHECK_EQ(deleted_value, 11);
    CHECK(check_attribute(w->win, key) == (void *)&second);
    CHECK_OK(MPI_Win_delete_attr(w->win, key));
    CHECK_EQ(deleted, 2);
    CHECK_EQ(deleted_value, 22);
    CHECK_EQ(deleted_state, 5);
    CHECK_OK(MPI_Win_set_attr(w->win, key, &first)); /* deleted with the window */
    CHECK_OK(MPI_Win_free_keyval(&key));
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

/* Attributes of a window that is freed are deleted, once, while it still answers. */
static void deleted_with_window(struct window *w)
{
    CHECK_EQ(deleted, 2);
    window_close(w);
    CHECK_EQ(deleted, 3);
    CHECK_EQ(deleted_value, 11);
}

static int refusals;

static int refuse_once(MPI_Win win, int key, void *value, void *state)
{
    (void)win, (void)key, (void)value, (void)state;
    return refusals++ == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* A delete callback may keep a window from being freed, on one rank alone; it can be freed again,
 * though the others have freed theirs. Open MPI does not heed what the callback answers. */
static void refused_free(void)
{
    static int value;
    bool const is_heeded = strncmp(CHECK_HOST, "mpich", 5) == 0;
    int key;
    check_step("a free that is refused");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8, 1);
    CHECK_OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, refuse_once, &key, NULL));
    if (w.rank == 0)
        CHECK_OK(MPI_Win_set_attr(w.win, key, &value));
    int const code = MPI_Win_free(&w.win);
    CHECK_EQ(refusals, w.rank == 0);
    CHECK_EQ(code != MPI_SUCCESS, w.rank == 0 && is_heeded);
    if (code != MPI_SUCCESS)
        CHECK_OK(MPI_Win_free(&w.win));
    CHECK(w.win == MPI_WIN_NULL);
    CHECK_OK(MPI_Win_free_keyval(&key));
}

/* --- Name and group --------------------------------------------------------------------------- */

static void name(struct window *w)
{
    char text[MPI_MAX_OBJECT_NAME];
    int length = -1;
    CHECK_OK(MPI_Win_set_name(w->win, "a window with a name"));
    CHECK_OK(MPI_Win_get_name(w->win, text, &length));
    CHECK_EQ(length, 20);
    CHECK(strcmp(text, "a window with a name") == 0);
    CHECK_OK(MPI_Win_set_name(w->win, ""));
    CHECK_OK(MPI_Win_get_name(w->win, text, &length));
    CHECK_EQ(length, 0);
}

static void group(struct window *w)
{
    MPI_Group of_window, of_comm;
    int same = MPI_UNEQUAL;
    CHECK_OK(MPI_Win_get_group(w->win, &of_window));
    CHECK_OK(MPI_Comm_group(w->comm, &of_comm));
    CHECK_OK(MPI_Group_compare(of_window, of_comm, &same));
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&of_window);
    MPI_Group_free(&of_comm);
    CHECK_OK(MPI_Win_get_group(w->win, &of_window)); /* the first was a copy */
    MPI_Group_free(&of_window);
}

/* --- Info ------------------------------------------------------------------------------------- */

static const char *const reorder_keys[] = {
    "MPI_WIN_ACCESS_AFTER_ACCESS_REORDER", "MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER",
    "MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER", "MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER"};

/* Open MPI has no room for most of them. */
static bool is_short_enough(const char *key) { return strlen(key) < MPI_MAX_INFO_KEY; }

static bool info_holds(MPI_Win win, const char *key, const char *expected)
{
    char text[64] = "";
    int found = 0;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, key, sizeof text - 1, text, &found));
    MPI_Info_free(&info);
    return found && strcmp(text, expected) == 0;
}

static void set_info(MPI_Win win, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Info_set(info, "a_key_that_nobody_knows", "x");
    CHECK_OK(MPI_Win_set_info(win, info));
    MPI_Info_free(&info);
}

/* Keys given later; those of the nonblocking epochs where the window is Sidelight's. */
static void info_later(struct window *w)
{
    bool const own_memory = w->flavor == FLAVOR_CREATE || w->flavor == FLAVOR_DYNAMIC;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(w->win, &info));
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    set_info(w->win, "no_locks", "false");
    if (host_is_alone() || (own_memory && w->size > 1))
        return;
    for (int k = 0; k < 4; ++k) {
        if (!is_short_enough(reorder_keys[k]))
            continue;
        CHECK(info_holds(w->win, reorder_keys[k], "0"));
        set_info(w->win, reorder_keys[k], "1");
        CHECK(info_holds(w->win, reorder_keys[k], "1"));
        set_info(w->win, reorder_keys[k], "0");
        CHECK(info_holds(w->win, reorder_keys[k], "0"));
    }
    CHECK(!info_holds(w->win, "a_key_that_nobody_knows", "x"));
}

/* Keys given when the window is made. */
static void info_at_first(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int k = 0; k < 4; k += 2)
        if (is_short_enough(reorder_keys[k]))
            MPI_Info_set(info, reorder_keys[k], "1");
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "same_size", "true");
    struct window w = window_open_with(info, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 8, 1);
    MPI_Info_free(&info);
    for (int k = 0; k < 4 && !host_is_alone(); ++k)
        CHECK(!is_short_enough(reorder_keys[k]) ||
              info_holds(w.win, reorder_keys[k], k % 2 == 0 ? "1" : "0"));
    CHECK(host_is_alone() || info_holds(w.win, "accumulate_ordering", "none"));
    CHECK(host_is_alone() || info_holds(w.win, "same_size", "true"));
    window_close(&w);
}

/* Every key that is known comes back, on windows of every kind; what is not known does not. */
static void info_known(void)
{
    static const char *const given[][2] = {{"no_locks", "true"},
                                           {"accumulate_ordering", "raw,waw"},
                                           {"accumulate_ops", "same_op"},
                                           {"same_size", "true"},
                                           {"same_disp_unit", "true"},
                                           {"alloc_shared_noncontig", "true"},
                                           {"mpi_accumulate_granularity", "8"},
                                           {"mpi_assert_memory_alloc_kinds", "system,mpi"}};
    int const count = (int)(sizeof given / sizeof *given);
    MPI_Info info;
    MPI_Info_create(&info);
    for (int k = 0; k < count; ++k)
        MPI_Info_set(info, given[k][0], given[k][1]);
    MPI_Info_set(info, "a_key_that_nobody_knows", "x");
    MPI_Info_set(info, "mpi_memory_alloc_kinds", "mpi"); /* MPI's answer, not the program's */
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        struct window w = window_open_with(info, (enum flavor)flavor, MPI_COMM_WORLD, 8, 1);
        for (int k = 0; k < count; ++k)
            if (!CHECK(info_holds(w.win, given[k][0], given[k][1])))
                fprintf(stderr, "    key %s\n", given[k][0]);
        CHECK(!info_holds(w.win, "a_key_that_nobody_knows", "x"));
        CHECK(host_is_alone() || info_holds(w.win, "mpi_memory_alloc_kinds", "mpi,system"));
        window_close(&w);
    }
    MPI_Info_free(&info);
}

/* A hint for the making of a window is still what the program says last: MPICH's win_info. */
static void info_after_creation(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    struct window w = window_open_with(info, FLAVOR_SHARED, MPI_COMM_WORLD, 8, 1);
    CHECK(info_holds(w.win, "alloc_shared_noncontig", "true"));
    MPI_Info_set(info, "alloc_shared_noncontig", "false");
    CHECK_OK(MPI_Win_set_info(w.win, info));
    CHECK(info_holds(w.win, "alloc_shared_noncontig", "false"));
    window_close(&w);
    MPI_Info_free(&info);
}

/* Memory that MPI allocates begins where the program wants it. */
static void info_alignment(void)
{
    static const long alignments[] = {1, 128, 1L << 16, 1L << 21};
    static const enum flavor flavors[] = {FLAVOR_ALLOCATE, FLAVOR_SHARED};
    for (int k = 0; k < 8; ++k) {
        char text[32];
        long const alignment = alignments[k / 2];
        MPI_Info info;
        MPI_Info_create(&info);
        snprintf(text, sizeof text, "%ld", alignment);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
        MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
        struct window w = window_open_with(info, flavors[k % 2], MPI_COMM_WORLD, 24, 1);
        CHECK_EQ((long)((uintptr_t)w.base % (uintptr_t)alignment), 0);
        CHECK(info_holds(w.win, "mpi_minimum_memory_alignment", text));
        window_close(&w);
        MPI_Info_free(&info);
    }
}

/* --- Error handlers --------------------------------------------------------------------------- */

static void error_handlers(struct window *w)
{
    MPI_Errhandler mine, got;
    CHECK_OK(MPI_Win_get_errhandler(w->win, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    CHECK_OK(MPI_Win_create_errhandler(on_error, &mine));
    CHECK_OK(MPI_Win_set_errhandler(w->win, mine));
    CHECK_OK(MPI_Win_get_errhandler(w->win, &got));
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    handled_class = MPI_SUCCESS;
    handled_window = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_call_errhandler(w->win, MPI_ERR_OTHER));
    CHECK_EQ(handled_class, MPI_ERR_OTHER);
    CHECK(handled_window == w->win);
    MPI_Errhandler_free(&mine);
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    CHECK(MPI_Win_call_errhandler(w->win, MPI_ERR_RANK) == MPI_SUCCESS);
}

/* --- Many windows ----------------------------------------------------------------------------- */

static void use(struct window *w, int64_t value)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    int64_t seen = -1;
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(
        MPI_Put(&value, 1, MPI_INT64_T, right, window_at(w, right, 0), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    memcpy(&seen, w->base, sizeof seen);
    CHECK_EQ(seen - left, value - w->rank);
}

static void one_after_another(void)
{
    check_step("hundreds of windows");
    for (int k = 0; k < MANY; ++k) {
        struct window w = window_open(k % 2 == 0 ? FLAVOR_ALLOCATE : FLAVOR_SHARED, MPI_COMM_WORLD,
                                      16 * (1 + k), 8);
        use(&w, 1000 * k + w.rank);
        window_close(&w);
    }
}

/* All open together, on different communicators, used in turn, freed in another order. */
static void at_once(void)
{
    struct window windows[AT_ONCE];
    MPI_Comm comms[4];
    check_step("many windows at once");
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[2]);
    MPI_Comm_dup(MPI_COMM_SELF, &comms[3]);
    for (int k = 0; k < AT_ONCE; ++k)
        windows[k] = window_open(k % 8 < 4 ? FLAVOR_ALLOCATE : FLAVOR_SHARED, comms[k % 4], 64, 8);
    for (int round = 0; round < 3; ++round)
        for (int k = 0; k < AT_ONCE; ++k)
            use(&windows[k], 100 * k + round * 7 + windows[k].rank);
    for (int k = 0; k < AT_ONCE; ++k)
        window_close(&windows[(7 * k) % AT_ONCE]);
    for (int c = 0; c < 4; ++c)
        MPI_Comm_free(&comms[c]);
}

static void run_on(MPI_Comm comm, enum flavor flavor)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    check_step(flavor_names[flavor]);
    if (host_cannot("attributes", flavor, ranks))
        return;
    struct window w = window_open(flavor, comm, 8 * CELLS, 4);
    predefined(&w);
    if (!host_is_alone() && flavor != FLAVOR_DYNAMIC)
        predefined_of_fortran(&w);
    own_attributes(&w);
    name(&w);
    group(&w);
    info_later(&w);
    error_handlers(&w);
    predefined(&w);
    use(&w, 77 + w.rank);
    deleted_with_window(&w);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) {
        run_on(MPI_COMM_WORLD, (enum flavor)flavor);
        run_on(MPI_COMM_SELF, (enum flavor)flavor);
    }
    check_step("info at first");
    info_at_first();
    if (!host_is_alone()) {
        info_known();
        info_after_creation();
        info_alignment();
        refused_free();
    }
    one_after_another();
    at_once();
    return check_end();
}
