/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes by the names of Fortran's bindings, and what they mean for windows of memory handles
 * and for duplicates.
 *
 * fortran_attributes [local]: Fortran's library is loaded for the program alone, as what an
 * extension of Python is linked to.
 */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <sidelight.h>

#if defined(OPEN_MPI)
#define FORTRAN_LIBRARY "libmpi_mpifh.so.40"
#elif defined(I_MPI_VERSION)
#define FORTRAN_LIBRARY "libmpifort.so.12"
#else
#define FORTRAN_LIBRARY "libmpichfort.so.12"
#endif

typedef void set_attr(const MPI_Fint *win, const MPI_Fint *key, const MPI_Aint *value,
                      MPI_Fint *error);

typedef void get_attr(const MPI_Fint *win, const MPI_Fint *key, MPI_Aint *value, MPI_Fint *found,
                      MPI_Fint *error);
typedef void callback(void);
typedef void create_keyval(callback *copy, callback *remove, MPI_Fint *key, const MPI_Aint *state,
                           MPI_Fint *error);

static void *fortran; /* the library */

/* Sets `function` to what a call by that name comes to. */
static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL)
        found = dlsym(fortran, name);
    check_that(found != NULL, name, __FILE__, __LINE__);
    memcpy(function, &found, sizeof found); /* ISO C converts no object to a function */
}

static int deleted;

static int note_delete(MPI_Win win, int key, void *value, void *state)
{
    (void)win, (void)key, (void)value, (void)state;
    ++deleted;
    return MPI_SUCCESS;
}

/* The same, as Fortran calls it. */
static void note_fortran_delete(const MPI_Fint *win, const MPI_Fint *key, const MPI_Aint *value,
                                const MPI_Aint *state, MPI_Fint *error)
{
    (void)win, (void)key, (void)value, (void)state;
    ++deleted;
    *error = MPI_SUCCESS;
}

static bool has(MPI_Win win, int key)
{
    void *value = NULL;
    int found = 0;
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &found));
    return found;
}

static void set_by(const char *name, MPI_Win win, int key)
{
    MPI_Fint const window = MPI_Win_c2f(win), number = key;
    MPI_Aint const value = 4711;
    MPI_Fint error = -1;
    set_attr *set;
    find(name, &set);
    set(&window, &number, &value, &error);
    CHECK_EQ(error, MPI_SUCCESS);
}

/* A key that Fortran makes, with a copy function of that name. */
static int key_of_fortran(const char *copy_name)
{
    MPI_Aint const state = 0;
    MPI_Fint key = MPI_KEYVAL_INVALID, error = -1;
    create_keyval *create;
    callback *copy;
    find("mpi_win_create_keyval_", &create);
    find(copy_name, &copy);
    create(copy, (callback *)note_fortran_delete, &key, &state, &error);
    CHECK_EQ(error, MPI_SUCCESS);
    return key;
}

/* --- Spellings ------------------------------------------------------------------------------ */

/* Of an option or a compiler each; with and without P. */
static const char *const getters[] = {
    "mpi_win_get_attr_",  "mpi_win_get_attr__",  "mpi_win_get_attr",  "MPI_WIN_GET_ATTR",
    "pmpi_win_get_attr_", "pmpi_win_get_attr__", "pmpi_win_get_attr", "PMPI_WIN_GET_ATTR"};
static const char *const setters[] = {
    "mpi_win_set_attr_",  "mpi_win_set_attr__",  "mpi_win_set_attr",  "MPI_WIN_SET_ATTR",
    "pmpi_win_set_attr_", "pmpi_win_set_attr__", "pmpi_win_set_attr", "PMPI_WIN_SET_ATTR"};
enum { SPELLINGS = sizeof getters / sizeof *getters };

static MPI_Aint got_by(const char *name, MPI_Win win, int key)
{
    MPI_Fint const window = MPI_Win_c2f(win), number = key;
    MPI_Aint value = -1;
    MPI_Fint found = 0, error = -1;
    get_attr *get;
    find(name, &get);
    get(&window, &number, &value, &found, &error);
    CHECK_EQ(error, MPI_SUCCESS);
    CHECK(found);
    return value;
}

/* MPICH numbers the predefined keys of Fortran one higher. */
enum { FORTRAN_ABOVE_C = MPI_WIN_SIZE - MPI_WIN_BASE == 2 ? 1 : 0 };

static int of_fortran(int predefined) { return predefined + FORTRAN_ABOVE_C; }

/* A tool's binding in C that hands on Fortran's key gets Fortran's value. */
static void by_c(MPI_Win win, int predefined, MPI_Aint expected)
{
    MPI_Aint value = -1;
    int found = 0;
    CHECK_OK(MPI_Win_get_attr(win, of_fortran(predefined), &value, &found));
    CHECK(found);
    CHECK_EQ(value, expected);
}

/* All answer as our window does, and not as the host's small one. */
static void spellings(void)
{
    MPI_Win win;
    void *base;
    int key = MPI_KEYVAL_INVALID;
    CHECK_OK(MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_delete, &key, NULL));
    for (int k = 0; k < SPELLINGS; ++k) {
        check_step(getters[k]);
        CHECK(got_by(getters[k], win, of_fortran(MPI_WIN_BASE)) == (MPI_Aint)base);
        CHECK_EQ(got_by(getters[k], win, of_fortran(MPI_WIN_SIZE)), 4096);
        CHECK_EQ(got_by(getters[k], win, of_fortran(MPI_WIN_DISP_UNIT)), 8);
        set_by(setters[k], win, key);
        CHECK_EQ(got_by(getters[k], win, key), 4711);
        CHECK_OK(MPI_Win_delete_attr(win, key));
    }
    if (FORTRAN_ABOVE_C != 0) {
        check_step("Fortran's keys in C");
        by_c(win, MPI_WIN_BASE, (MPI_Aint)base);
        by_c(win, MPI_WIN_SIZE, 4096);
        by_c(win, MPI_WIN_DISP_UNIT, 8);
        by_c(win, MPI_WIN_CREATE_FLAVOR, MPI_WIN_FLAVOR_ALLOCATE);
    }
    CHECK_OK(MPI_Win_free_keyval(&key));
    CHECK_OK(MPI_Win_free(&win));
}

/* An error as long as the host's binding is not there. */
static void before_it_is_loaded(void)
{
    MPI_Fint const window = MPI_Win_c2f(MPI_WIN_NULL), number = MPI_KEYVAL_INVALID;
    MPI_Aint value = -1;
    MPI_Fint error = MPI_SUCCESS;
    get_attr *get;
    check_step("before the library is loaded");
    for (int k = 0; k < 2; ++k) {
        find(getters[0], &get);
        get(&window, &number, &value, &error, &error);
        CHECK(error != MPI_SUCCESS);
        set_attr *set;
        find(setters[0], &set);
        error = MPI_SUCCESS;
        set(&window, &number, &value, &error);
        CHECK(error != MPI_SUCCESS);
    }
}

/* --- Duplicates ------------------------------------------------------------------------------- */

/* The copy function is none of C: nobody here may call it, and the duplicate has no copy. */
static void duplicated(void)
{
    MPI_Win win, copy = MPI_WIN_NULL;
    void *base;
    check_step("a duplicate");
    int key = key_of_fortran("mpi_win_dup_fn_");
    CHECK_OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_set_attr(win, key, base));
    deleted = 0;
    CHECK_OK(MPIX_Win_dup_with_info(win, MPI_INFO_NULL, &copy));
    CHECK(!has(copy, key));
    CHECK_OK(MPI_Win_free(&copy));
    CHECK_EQ(deleted, 0);
    CHECK(has(win, key));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_EQ(deleted, 1);
    CHECK_OK(MPI_Win_free_keyval(&key));
}

/* --- MPI_BOTTOM ------------------------------------------------------------------------------- */

typedef void rrput(const void *origin, const MPI_Fint *count, const MPI_Fint *type,
                   const MPI_Fint *target, const MPI_Aint *place, const MPI_Fint *target_count,
                   const MPI_Fint *target_type, const MPI_Fint *win, MPI_Fint *request,
                   MPI_Fint *error);

/* Of Fortran it is a variable of the host's; then addresses in the datatype are absolute. */
static void bottom(void)
{
#ifdef OPEN_MPI
    const char *const name = "mpi_fortran_bottom_";
#else
    const char *const name = "MPIR_F08_MPI_BOTTOM";
#endif
    int64_t const value = 42;
    int64_t *base;
    void *variable;
    rrput *put;
    MPI_Win win;
    MPI_Datatype absolute;
    MPI_Aint address, place = 3;
    int rank, length = 1;
    MPI_Fint error = -1, one = 1, started = 0;
    check_step("MPI_BOTTOM");
    find(name, &variable);
    find("mpix_rrput_", &put);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_OK(MPI_Get_address(&value, &address));
    CHECK_OK(MPI_Type_create_hindexed(1, &length, &address, MPI_INT64_T, &absolute));
    CHECK_OK(MPI_Type_commit(&absolute));
    CHECK_OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    base[3] = 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    MPI_Fint const window = MPI_Win_c2f(win), self = rank, type = MPI_Type_c2f(absolute),
                   word = MPI_Type_c2f(MPI_INT64_T);
    put(variable, &one, &type, &self, &place, &one, &word, &window, &started, &error);
    CHECK_EQ(error, MPI_SUCCESS);
    MPI_Request request = MPI_Request_f2c(started);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_EQ(base[3], 42);
    CHECK_OK(MPI_Type_free(&absolute));
    CHECK_OK(MPI_Win_free(&win));
}

/* --- Windows of memory handles ---------------------------------------------------------------- */

static unsigned char handle[MPIX_MAX_MEMHANDLE_SIZE];
static int64_t memory[8];

static MPI_Win open_in(MPI_Win parent)
{
    MPI_Win win = MPI_WIN_NULL;
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_OK(MPIX_Win_from_memhandle(handle, sizeof memory, 1, MPI_INFO_NULL, rank, parent, &win));
    return win;
}

/* What is set, by the binding of that name or by C, goes with its window; the next one does not
 * have it. */
static void gone_with_its_window(MPI_Win parent, const char *name, int key)
{
    MPI_Win win = open_in(parent);
    if (name != NULL)
        set_by(name, win, key);
    else
        CHECK_OK(MPI_Win_set_attr(win, key, memory));
    CHECK(has(win, key));
    deleted = 0;
    CHECK_OK(MPI_Win_free(&win));
    CHECK_EQ(deleted, 1);
    win = open_in(parent);
    CHECK(!has(win, key));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_EQ(deleted, 1);
}

static void of_memory_handles(void)
{
    MPI_Win parent;
    int bytes = 0, key = MPI_KEYVAL_INVALID;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent));
    CHECK_OK(MPIX_Memhandle_create(memory, sizeof memory, MPI_INFO_NULL, parent, handle, &bytes));
    check_step("keys of C");
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_delete, &key, NULL));
    for (int k = 0; k < SPELLINGS; ++k)
        gone_with_its_window(parent, setters[k], key);
    CHECK_OK(MPI_Win_free_keyval(&key));
    check_step("keys of Fortran");
    key = key_of_fortran("mpi_win_null_copy_fn_");
    gone_with_its_window(parent, NULL, key);
    gone_with_its_window(parent, "mpi_win_set_attr_", key);
    CHECK_OK(MPI_Win_free_keyval(&key));
    CHECK_OK(MPIX_Memhandle_release(handle, parent));
    CHECK_OK(MPI_Win_free(&parent));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int const scope = argc > 1 && strcmp(argv[1], "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL;
    before_it_is_loaded();
    fortran = dlopen(FORTRAN_LIBRARY, RTLD_NOW | scope);
    CHECK(fortran != NULL);
    spellings();
    bottom();
    duplicated();
    of_memory_handles();
    return check_end();
}
