/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows that nobody frees. MPI_Finalize asks for that as little as for a call of a target, so a
 * process that comes to it first serves the others until they are there, too.
 *
 *     left_windows [met|open|session]
 *
 * met: all have had to do with all before. open: the others leave a lock_all epoch open. session:
 * rank 0 has one, which goes on. */
#include "check.h"

enum { WORDS = 4096, ROUNDS = 20 };

static int64_t of_created[WORDS], of_attached[WORDS];

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

static MPI_Session of_rank_0;

static void begin_session(void)
{
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &of_rank_0));
}

static void end_session(void) { MPI_Session_finalize(&of_rank_0); }

#else

static void begin_session(void) {}
static void end_session(void) {}

#endif

/* Each round waits for rank 0: its counter is this process's and this time's. */
static void use(MPI_Win win, int time, MPI_Aint base, bool locks)
{
    MPI_Aint const place = base + (2 * check_rank + time) * (MPI_Aint)sizeof(int64_t);
    int64_t const one = 1;
    for (int64_t round = 0; round < ROUNDS; ++round) {
        int64_t before = -1;
        if (locks) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        }
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, place, MPI_SUM, win));
        CHECK_OK(locks ? MPI_Win_unlock(0, win) : MPI_Win_flush(0, win));
        CHECK_EQ(before, round);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    bool const met = argc > 1 && strcmp(argv[1], "met") == 0;
    bool const open = argc > 1 && strcmp(argv[1], "open") == 0;
    bool const session = argc > 1 && strcmp(argv[1], "session") == 0;
    MPI_Win created = MPI_WIN_NULL, dynamic = MPI_WIN_NULL;
    MPI_Aint address = 0;
    CHECK_OK(
        MPI_Win_create(of_created, sizeof of_created, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created));
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
    CHECK_OK(MPI_Win_attach(dynamic, of_attached, sizeof of_attached));
    CHECK_OK(MPI_Get_address(of_attached, &address));
    CHECK_OK(MPI_Bcast(&address, 1, MPI_AINT, 0, MPI_COMM_WORLD));
    if (met) {
        use(created, 0, 0, true);
        use(dynamic, 0, address, true);
    }
    if (session && check_rank == 0) {
        begin_session();
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank != 0) {
        usleep(200000);
        if (open) {
            CHECK_OK(MPI_Win_lock_all(0, created));
            CHECK_OK(MPI_Win_lock_all(0, dynamic));
        }
        use(created, 1, 0, !open);
        use(dynamic, 1, address, !open);
    }
    if (check_rank == 1 && check_failures == 0) {
        printf("served to the end\n");
        fflush(stdout);
    }
    MPI_Finalize(); /* not with those that follow, as check_end is */
    if (session && check_rank == 0) {
        end_session();
    }
    return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
