/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes by the names of Fortran's bindings, and what they mean for windows of memory handles.
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

/* Sets `function` to what a call by that name comes to. */
static void find(const char *name, void *function)
{
    void *const found = dlsym(RTLD_DEFAULT, name);
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
static int of_fortran(int predefined)
{
    return MPI_WIN_SIZE - MPI_WIN_BASE == 2 ? predefined + 1 : predefined;
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
    CHECK_OK(MPI_Win_free_keyval(&key));
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
    CHECK(dlopen(FORTRAN_LIBRARY, RTLD_NOW | RTLD_GLOBAL) != NULL);
    spellings();
    of_memory_handles();
    return check_end();
}
