/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIDELIGHT_CHECK_INTRINSIC: accumulates that break mpi_assert_accumulate_intrinsic are reported,
 * once for each handle, and others are not.
 *
 * intrinsic_check [emulated]
 *
 * `emulated`: no memory is mapped, so that nothing is intrinsic.
 */
#include "windows.h"
#include <sidelight.h>

static FILE *said;
static int real_errors;

static void listen_to_errors(void)
{
    fflush(stderr);
    said = tmpfile();
    real_errors = dup(STDERR_FILENO);
    CHECK(said != NULL && real_errors >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0);
}

/* How many lines with these words were written to standard error since listen_to_errors. */
static int lines_with(const char *words)
{
    char line[1024];
    int found = 0;
    fflush(stderr);
    dup2(real_errors, STDERR_FILENO);
    close(real_errors);
    rewind(said);
    while (fgets(line, sizeof line, said) != NULL)
        found += strstr(line, words) != NULL;
    fclose(said);
    return found;
}

static MPI_Info with(const char *key)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, "true");
    return info;
}

static struct window window_with(const char *key)
{
    MPI_Info info = with(key);
    struct window w = window_open_with(info, FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    MPI_Info_free(&info);
    return w;
}

static void add(MPI_Win win, int target, int count, MPI_Datatype type)
{
    static unsigned char const ones[64] = {1};
    MPI_Request request;
    CHECK_OK(MPI_Accumulate(ones, count, type, target, 0, count, type, MPI_SUM, win));
    CHECK_OK(MPI_Raccumulate(ones, count, type, target, 0, count, type, MPI_SUM, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_flush(target, win));
}

/* What is asserted of every accumulate, and two that break it. */
static void assertion(bool mapped)
{
    struct window w = window_with("mpi_assert_accumulate_intrinsic");
    int64_t one = 1, result = -1;
    check_step("assertion");
    MPI_Win_lock_all(0, w.win);
    listen_to_errors();
    add(w.win, 0, 2, MPI_INT64_T);
    CHECK_OK(MPI_Fetch_and_op(&one, &result, MPI_INT64_T, 0, 0, MPI_NO_OP, w.win));
    CHECK_OK(MPI_Compare_and_swap(&one, &one, &result, MPI_INT64_T, 0, 0, w.win));
    CHECK_OK(MPI_Put(&one, 1, MPI_INT64_T, 0, 7, 1, MPI_INT64_T, w.win));
    CHECK_OK(MPI_Win_flush(0, w.win));
    CHECK_EQ(lines_with("is not intrinsic"), mapped ? 0 : 1);
    listen_to_errors();
    add(w.win, 0, 1, MPI_LONG_DOUBLE);
    add(w.win, 0, 1, MPI_LONG_DOUBLE);
    CHECK_EQ(lines_with("is not intrinsic"), mapped ? 1 : 0); /* one for each handle */
    MPI_Win_unlock_all(w.win);
    window_close(&w);
}

static void single(void)
{
    struct window w = window_with("acc_single_intrinsic");
    check_step("acc_single_intrinsic");
    MPI_Win_lock_all(0, w.win);
    listen_to_errors();
    add(w.win, 0, 1, MPI_INT64_T);
    CHECK_EQ(lines_with("one element"), 0);
    listen_to_errors();
    add(w.win, 0, 2, MPI_INT64_T);
    CHECK_EQ(lines_with("one element"), 1);
    MPI_Win_unlock_all(w.win);
    window_close(&w);
}

/* Handles that assert it and handles that do not. */
static void duplicates(void)
{
    MPI_Info info = with("mpi_assert_accumulate_intrinsic");
    struct window w = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 64, 8);
    MPI_Win asserting, like_it;
    check_step("duplicates");
    CHECK_OK(MPIX_Win_dup_with_info(w.win, info, &asserting));
    CHECK_OK(MPIX_Win_dup_with_info(asserting, MPI_INFO_NULL, &like_it));
    MPI_Win_lock_all(0, w.win);
    listen_to_errors();
    add(asserting, 0, 1, MPI_INT64_T);
    add(like_it, 0, 1, MPI_INT64_T);
    CHECK_EQ(lines_with("by such that do not"), 0);
    listen_to_errors();
    add(w.win, 0, 1, MPI_INT64_T);
    add(asserting, 0, 1, MPI_INT64_T);
    CHECK_EQ(lines_with("by such that do not"), 1);
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&like_it);
    MPI_Win_free(&asserting);
    window_close(&w);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    bool const emulated = argc > 1 && strcmp(argv[1], "emulated") == 0;
    assertion(!emulated);
    if (!emulated)
        single();
    duplicates();
    return check_end();
}
