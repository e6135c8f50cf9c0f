/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last rank is killed while windows are made, at a random moment of a creating call, in the
 * middle of a job whose launcher lets the others go on. Some call of theirs answers with the loss,
 * in time, and so does each one after it. All on one node, where members tell one another in memory
 * what they need to know: nobody's message ends when one dies.
 */
#include "survivors.h"

enum { MOST_MICROSECONDS = 400, MOST_WINDOWS = 1000 };

static MPI_Win made[MOST_WINDOWS];
static int windows;

static int make(int flavor)
{
    static int64_t memory[64];
    MPI_Win *const win = &made[windows % MOST_WINDOWS];
    void *base = NULL;
    int code;
    switch (flavor) {
    case FLAVOR_ALLOCATE:
        code = MPI_Win_allocate(512, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
        break;
    case FLAVOR_SHARED:
        code = MPI_Win_allocate_shared(512, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
        break;
    case FLAVOR_CREATE:
        code = MPI_Win_create(memory, 512, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win);
        break;
    default:
        code = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win);
    }
    windows += code == MPI_SUCCESS;
    return code;
}

/* The victim's clock runs from a moment in one of these calls, or soon after it. */
static void make_until_killed(uint64_t seed)
{
    die_in(1 + (int)(check_random(&seed) % MOST_MICROSECONDS));
    for (int i = 0; i < MOST_WINDOWS; ++i)
        make(i % FLAVORS);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    uint64_t const seed = check_argument(argc, argv, 1, 1);
    int code = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int flavor = 0; flavor < FLAVORS; ++flavor) /* what is done once only */
        CHECK_OK(make(flavor));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == check_size - 1)
        make_until_killed(seed);
    double const begin = check_seconds();
    for (int i = 0; i < MOST_WINDOWS && code == MPI_SUCCESS; ++i)
        code = make(i % FLAVORS);
    CHECK_ERROR(code, LOSS);
    for (int flavor = 0; flavor < FLAVORS; ++flavor)
        CHECK_ERROR(make(flavor), LOSS);
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
    sit_down();
}
