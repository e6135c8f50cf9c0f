/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One member runs out of memory while a window is made, at each place where it could, for once or
 * from there on: nobody waits for it, all members get a window, Sidelight's or the host's, and it
 * works. So with the first use of a datatype. The allocations of Sidelight alone fail.
 *
 * short_of_memory
 */
#define _GNU_SOURCE
#include "windows.h"

#include <dlfcn.h>
#include <limits.h>
#include <sidelight.h>

enum { MOST_PLACES = 2000 };

extern void *__libc_malloc(size_t bytes);

static void *sidelight_at;  /* where the library is mapped */
static int failing_in = -1; /* allocations until one fails; less than 0: none does */
static int fail_left;       /* so many fail then */

void *malloc(size_t bytes)
{
    Dl_info caller;
    if (failing_in >= 0 && dladdr(__builtin_return_address(0), &caller) != 0 &&
        caller.dli_fbase == sidelight_at && failing_in-- == 0) {
        failing_in = --fail_left != 0 ? 0 : -1;
        return NULL;
    }
    return __libc_malloc(bytes);
}

typedef int make_window(MPI_Comm comm, MPI_Win *win);
static int64_t brought[2];

static int allocated(MPI_Comm comm, MPI_Win *win)
{
    void *base = NULL;
    return MPI_Win_allocate(16, 8, MPI_INFO_NULL, comm, &base, win);
}

static int created(MPI_Comm comm, MPI_Win *win)
{
    return MPI_Win_create(brought, sizeof brought, 8, MPI_INFO_NULL, comm, win);
}

static int dynamic(MPI_Comm comm, MPI_Win *win)
{
    return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win);
}

static void use(MPI_Win win, bool has_memory)
{
    int64_t const value = 5;
    int const right = (check_rank + 1) % check_size;
    CHECK_OK(MPI_Win_fence(0, win));
    if (has_memory)
        CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, right, 1, 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_fence(0, win));
}

/* A communicator of its own each time, of which nothing is known yet. */
static void fail_everywhere(make_window *make, bool has_memory, int most)
{
    int const victim = check_size - 1;
    int places = 0;
    for (int failed = 1; failed; ++places) {
        CHECK(places < MOST_PLACES);
        MPI_Comm comm;
        MPI_Win win = MPI_WIN_NULL;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        fail_left = most;
        failing_in = check_rank == victim ? places : -1;
        int const code = make(comm, &win);
        failed = fail_left < most;
        failing_in = -1;
        CHECK_OK(code);
        MPI_Barrier(comm); /* who has no memory for the first message in the window loses a peer */
        use(win, has_memory);
        CHECK_OK(MPI_Win_free(&win));
        CHECK_OK(MPI_Comm_free(&comm));
        MPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
    }
    CHECK(places > 1);
}

/* The first operation with a type looks at what the type is: without memory for that it does not
 * blame the type. */
static void put_new_types(int most)
{
    int64_t const values[] = {3, 4, 5};
    int64_t *base;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(24, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Win_lock_all(0, win));
    int places = 0;
    for (int failed = 1; failed; ++places) {
        CHECK(places < MOST_PLACES);
        MPI_Datatype every_other;
        MPI_Type_vector(2, 1, 2, MPI_INT64_T, &every_other);
        MPI_Type_commit(&every_other);
        fail_left = most;
        failing_in = places;
        int const code = MPI_Put(values, 1, every_other, check_rank, 0, 1, every_other, win);
        failed = fail_left < most;
        failing_in = -1;
        if (code != MPI_SUCCESS)
            CHECK_ERROR(code, MPI_ERR_NO_MEM);
        CHECK(failed || code == MPI_SUCCESS);
        MPI_Type_free(&every_other);
    }
    CHECK(places > 1);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK(base[0] == 3 && base[2] == 5);
    CHECK_OK(MPI_Win_free(&win));
}

static void add_one(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                    MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                    int segments, int offset)
{
    (void)in, (void)in_count, (void)in_type, (void)count, (void)type;
    (void)out, (void)out_count, (void)out_type, (void)segments, (void)offset;
    *(int64_t *)memory += 1;
}

static void add_thousand(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                         MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                         int segments, int offset)
{
    (void)in, (void)in_count, (void)in_type, (void)count, (void)type;
    (void)out, (void)out_count, (void)out_type, (void)segments, (void)offset;
    *(int64_t *)memory += 1000;
}

static int send(MPI_Op op, int target, MPI_Win win)
{
    static int const nothing = 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    int const code = MPIX_Am(&nothing, 1, MPI_INT, NULL, 0, MPI_INT, 1, target, MPI_INT, 0, 1,
                             MPI_INT64_T, MPI_INT64_T, op, win);
    CHECK_OK(code);
    return MPI_Win_unlock(target, win);
}

/* A member that cannot register a handler has the later ones by the numbers of all. On one node:
 * elsewhere it loses who sends it the message of the barrier. */
static void count_registrations(int most)
{
    int const victim = check_size - 1;
    int64_t *base, expected = 0;
    MPI_Op small, large;
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sidelight_am_at_target", "true");
    CHECK_OK(MPIX_Am_op_create(add_one, &small));
    CHECK_OK(MPIX_Am_op_create(add_thousand, &large));
    CHECK_OK(MPI_Win_allocate(8, 8, info, MPI_COMM_WORLD, &base, &win));
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    *base = 0;
    int places = 0;
    for (int failed = 1; failed; ++places) {
        CHECK(places < MOST_PLACES);
        fail_left = most;
        failing_in = check_rank == victim ? places : -1;
        int const code = MPIX_Am_win_op_register(places % 2 == 0 ? small : large, win);
        failed = fail_left < most;
        failing_in = -1;
        if (code != MPI_SUCCESS)
            CHECK(failed);
        CHECK_OK(MPIX_Am_win_op_register(places % 2 == 0 ? large : small, win));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0)
            CHECK_OK(send(places % 2 == 0 ? large : small, victim, win));
        expected += places % 2 == 0 ? 1000 : 1;
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        if (check_rank == victim)
            CHECK_EQ(*base, expected);
        MPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
    }
    CHECK(places > 1);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Op_free(&small));
    CHECK_OK(MPI_Op_free(&large));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    Dl_info library;
    /* A string constant of the library's lies in it. */
    if (dladdr(sidelight_version(), &library) != 0)
        sidelight_at = library.dli_fbase;
    const char *const route = getenv("SIDELIGHT_ROUTE");
    bool const emulated = route != NULL && strcmp(route, "emulated") == 0;
    int const most[] = {INT_MAX, 1}; /* all first: nothing is there that was needed before */
    for (int round = 0; round < 2; ++round) {
        check_step("MPI_Win_allocate");
        fail_everywhere(allocated, true, most[round]);
        check_step("MPI_Win_create");
        fail_everywhere(created, true, most[round]);
        check_step("MPI_Win_create_dynamic");
        fail_everywhere(dynamic, false, most[round]);
    }
    check_step("MPI_Put of a new type");
    for (int round = 0; round < 2; ++round)
        put_new_types(most[round]);
    check_step("MPIX_Am_win_op_register");
    for (int round = 0; round < 2 && !emulated; ++round)
        count_registrations(most[round]);
    return check_end();
}
