/* SPDX-License-Identifier: BSD-3-Clause */
/* The level of threads that sessions tell beside MPI_Init_thread: what each has asked for, or more
 * where the program had more before. (Found by MPICH's threads/init/mult_session.)
 *
 *     session_levels LEVEL         of MPI_Init_thread, 0 to 3
 */
#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

static const char *const names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                    "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};

static int level_told(MPI_Session session)
{
    MPI_Info info;
    char value[100] = "";
    int flag = 0;
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_get(info, "thread_level", (int)sizeof value - 1, value, &flag));
    CHECK_OK(MPI_Info_free(&info));
    for (int level = 0; flag && level < 4; ++level)
        if (strcmp(value, names[level]) == 0)
            return level;
    return -1;
}

/* `asked` below zero: the session does not say. */
static void check_session(int asked, int told)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session session = MPI_SESSION_NULL;
    if (asked >= 0) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", names[asked]);
    }
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_EQ(level_told(session), told);
    CHECK_OK(MPI_Session_finalize(&session));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int const level = argc > 1 ? atoi(argv[1]) : 0;
    int provided = -1;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(provided, level);
    check_session(-1, level);
    check_session(level, level);
    check_session(MPI_THREAD_MULTIPLE, MPI_THREAD_MULTIPLE);
    check_session(-1, MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&provided);
    CHECK_EQ(provided, level);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    return check_skip("this host has no sessions");
}

#endif
