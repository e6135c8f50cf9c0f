/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last rank kills itself while the others hold windows of its memory handles, and wait for
 * counters that it was to raise, in a job whose launcher lets them go on. Operations through its
 * handle end with the loss, in time, and so does each threshold of the window that has lost it,
 * pending or asked for later; handles and windows of others go on, and all of them can be freed.
 */
#include "survivors.h"

#include <sidelight.h>
#include <sidelight_notify.h>

enum { WORDS = 64, COUNTERS = 4, PENDING = 200 };

struct handle {
    char bytes[MPIX_MAX_MEMHANDLE_SIZE];
    int size;
};

static int64_t memory[WORDS];

/* Windows of everybody's memory, by rank. */
static void open_all(MPI_Win parent, struct handle *own, MPI_Win *wins)
{
    struct handle *all = calloc((size_t)check_size, sizeof *all);
    CHECK_OK(MPIX_Memhandle_create(memory, sizeof memory, MPI_INFO_NULL, parent, own->bytes,
                                   &own->size));
    MPI_Allgather(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, MPI_COMM_WORLD);
    for (int rank = 0; rank < check_size; ++rank)
        CHECK_OK(MPIX_Win_from_memhandle(all[rank].bytes, sizeof memory, 8, MPI_INFO_NULL, rank,
                                         parent, &wins[rank]));
    free(all);
}

static int put(MPI_Win win, int target)
{
    static int64_t const value = 7;
    int const code = MPI_Put(&value, 1, MPI_INT64_T, target, check_rank, 1, MPI_INT64_T, win);
    return code == MPI_SUCCESS ? MPI_Win_flush(target, win) : code;
}

static void handles_of_the_dead(MPI_Win *wins, int victim)
{
    double const end = check_seconds() + SECONDS_UNTIL_TOLD;
    int code = MPI_SUCCESS;
    check_step("the dead rank's memory handle");
    while (code == MPI_SUCCESS && check_seconds() < end)
        code = put(wins[victim], victim);
    CHECK_ERROR(code, LOSS);
    check_step("handles of those who live");
    for (int rank = 0; rank < victim; ++rank) {
        code = put(wins[rank], rank);
        CHECK(code == MPI_SUCCESS || (rank != check_rank && is_loss(code))); /* it may have left */
    }
}

/* Nobody knows who would have raised them. */
static void thresholds_of_the_dead(MPI_Win win, MPI_Request *pending)
{
    double const begin = check_seconds();
    int left = 0, lost = 0;
    check_step("thresholds that were pending");
    for (int i = 0; i < PENDING; ++i) {
        int code = MPI_Wait(&pending[PENDING - 1 - i], MPI_STATUS_IGNORE);
        lost += is_loss(code);
        left += pending[PENDING - 1 - i] != MPI_REQUEST_NULL;
    }
    CHECK_EQ(lost, PENDING);
    CHECK_EQ(left, 0);
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
    check_step("a threshold that is asked for later");
    MPI_Request later = MPI_REQUEST_NULL;
    int code = MPIX_Win_notify_ithreshold(win, 0, 1, &later);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&later, MPI_STATUS_IGNORE);
    CHECK_ERROR(code, LOSS);
    MPI_Count value = -1;
    CHECK_OK(MPI_Win_get_notify_value(win, 0, &value));
    CHECK_EQ(value, 0);
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int const victim = check_size - 1;
    struct handle own = {.size = 0};
    MPI_Win parent, wins[WINDOW_MOST_RANKS];
    MPI_Request pending[PENDING];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent));
    MPI_Win_set_errhandler(parent, MPI_ERRORS_RETURN);
    open_all(parent, &own, wins);
    struct window counted = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 512, 8);
    MPI_Win_set_errhandler(counted.win, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Win_set_num_notify(counted.win, MPI_INFO_NULL, COUNTERS));
    CHECK_OK(MPI_Win_lock_all(0, parent));
    CHECK_OK(MPI_Win_lock_all(0, counted.win));
    for (int rank = 0; rank < check_size; ++rank) {
        MPI_Win_set_errhandler(wins[rank], MPI_ERRORS_RETURN);
        CHECK_OK(put(wins[rank], rank));
        CHECK_OK(put(counted.win, rank));
    }
    for (int i = 0; i < PENDING; ++i)
        CHECK_OK(MPIX_Win_notify_ithreshold(counted.win, i % COUNTERS, 1 + i, &pending[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == victim)
        raise(SIGKILL);

    thresholds_of_the_dead(counted.win, pending);
    handles_of_the_dead(wins, victim);
    check_step("freeing what is left");
    for (int rank = 0; rank < check_size; ++rank)
        CHECK_OK(MPI_Win_free(&wins[rank]));
    CHECK_OK(MPIX_Memhandle_release(own.bytes, parent));
    CHECK_ERROR(MPI_Win_unlock_all(parent), LOSS);
    CHECK_ERROR(MPI_Win_unlock_all(counted.win), LOSS);
    CHECK_ERROR(MPI_Win_free(&parent), LOSS);
    CHECK_ERROR(MPI_Win_free(&counted.win), LOSS);
    sit_down();
}
