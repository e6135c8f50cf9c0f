/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last rank kills itself in the middle of a job whose launcher lets the others go on. They get
 * an error from each call that needs it, in the time that is stated, and none from calls that do
 * not. Each prints "survived: rank=..." at its end and then waits to be ended itself: MPI_Finalize
 * would wait for the dead one.
 */
#include "survivors.h"

/* Puts and flushes until that fails. */
static void put_until_told(MPI_Win win, int target)
{
    int64_t const value = 7;
    double const end = check_seconds() + SECONDS_UNTIL_TOLD;
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && check_seconds() < end) {
        code = MPI_Put(&value, 1, MPI_INT64_T, target, check_rank, 1, MPI_INT64_T, win);
        if (code == MPI_SUCCESS)
            code = MPI_Win_flush(target, win);
    }
    CHECK_ERROR(code, LOSS);
}

/* Who waits for an exposure or a fence that never comes is told, too. */
static void wait_until_told(MPI_Win win, int victim)
{
    double const begin = check_seconds();
    MPI_Group group = check_group(1, &victim);
    if (check_rank == 0) {
        CHECK_OK(MPI_Win_start(group, 0, win));
        CHECK_ERROR(MPI_Win_complete(win), LOSS);
    } else {
        CHECK_OK(MPI_Win_post(group, 0, win));
        CHECK_ERROR(MPI_Win_wait(win), LOSS);
    }
    CHECK_OK(MPI_Win_post(group, 0, win));
    int flag = -1, code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && flag != 1 && check_seconds() - begin < SECONDS_UNTIL_TOLD)
        code = MPI_Win_test(win, &flag);
    CHECK_ERROR(code, LOSS);
    CHECK_EQ(flag, 1); /* the exposure is over */
    CHECK_ERROR(MPI_Win_fence(0, win), LOSS);
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
    MPI_Group_free(&group);
}

/* Survivors go on with each other. */
static void work_on(MPI_Win win, int survivors)
{
    int64_t const one = 1;
    int64_t seen = 0;
    for (int target = 0; target < survivors; target++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, 100, 1, MPI_INT64_T, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(target, win));
    }
    double const end = check_seconds() + SECONDS_UNTIL_TOLD;
    while (seen != survivors && check_seconds() < end) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
        CHECK_OK(MPI_Get(&seen, 1, MPI_INT64_T, check_rank, 100, 1, MPI_INT64_T, win));
        CHECK_OK(MPI_Win_unlock(check_rank, win));
    }
    CHECK_EQ(seen, survivors);
}

/* Whether the others have freed it or not. */
static void free_without(MPI_Win *win)
{
    double const begin = check_seconds();
    CHECK_ERROR(MPI_Win_free(win), LOSS);
    CHECK(*win == MPI_WIN_NULL);
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
}

static void free_on_error(MPI_Win *win, int *code, ...)
{
    MPI_Win same = *win;
    CHECK(*code != MPI_SUCCESS);
    CHECK_OK(MPI_Win_free(&same));
}

/* Its error handler has done so already. */
static void free_by_handler(MPI_Win *win)
{
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(free_on_error, &handler);
    MPI_Win_set_errhandler(*win, handler);
    MPI_Errhandler_free(&handler);
    free_without(win);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int const victim = check_size - 1;
    struct window w[2];
    for (int i = 0; i < 2; i++) {
        w[i] = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 4096, 8);
        MPI_Win_set_errhandler(w[i].win, MPI_ERRORS_RETURN);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, victim, 0, w[0].win);
    int64_t const value = 7;
    MPI_Put(&value, 1, MPI_INT64_T, victim, check_rank, 1, MPI_INT64_T, w[0].win);
    CHECK_OK(MPI_Win_flush(victim, w[0].win));
    if (check_rank == victim) { /* it dies once the others are out of all that it takes part in */
        for (int rank = 0; rank < victim; rank++)
            check_hear(rank);
        raise(SIGKILL);
    }
    check_tell(victim);

    check_step("a flush of the dead rank");
    put_until_told(w[0].win, victim);
    CHECK_ERROR(MPI_Win_unlock(victim, w[0].win), LOSS);
    check_step("other waits for the dead rank");
    wait_until_told(w[1].win, victim);
    check_step("work among survivors");
    work_on(w[1].win, victim);
    check_step("freeing windows that have lost a member");
    free_without(&w[0].win);
    free_by_handler(&w[1].win);
    sit_down();
}
