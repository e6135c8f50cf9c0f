/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every program of this folder shares: the start, checks, a watchdog and the end.
 *
 * A failed check is printed with its place, rank and values and counted; the program goes on, so
 * that all ranks still meet in the collective calls. check_end() sums the failures of all ranks,
 * prints "ok" at rank 0 if there are none, and gives the exit status. A program that does not end
 * in time prints what each rank was doing and stops, or is stopped by tests/run_ranks.py, which
 * shows where all threads are: nothing here may hang.
 */
#ifndef SIDELIGHT_TESTS_CHECK_H
#define SIDELIGHT_TESTS_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Programs of the MPI ABI are of MPICH 5 or Intel MPI. */
#if defined(MPI_ABI) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000)
#define CHECK_HOST "mpich5"
#elif defined(MPICH_NUMVERSION)
#define CHECK_HOST "mpich4"
#elif defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define CHECK_HOST "openmpi5"
#else
#define CHECK_HOST "openmpi4"
#endif

enum { CHECK_MOST_PRINTED = 20, CHECK_DEFAULT_SECONDS = 300 };

static int check_rank;              /* in MPI_COMM_WORLD */
static int check_size = 1;          /* of MPI_COMM_WORLD */
static volatile int check_failures; /* of this rank; threads add to it with check_count */
static const char *volatile check_doing = "start";

/* Says what follows, for the watchdog's message. */
static inline void check_step(const char *text) { check_doing = text; }

static inline bool check_count(void)
{
    return __sync_add_and_fetch(&check_failures, 1) <= CHECK_MOST_PRINTED;
}

static inline bool check_that(bool holds, const char *text, const char *file, int line)
{
    if (!holds && check_count())
        fprintf(stderr, "%s:%d: rank %d, in %s: not true: %s\n", file, line, check_rank,
                check_doing, text);
    return holds;
}

static inline bool check_equal(long long actual, long long expected, const char *text,
                               const char *file, int line)
{
    if (actual != expected && check_count())
        fprintf(stderr, "%s:%d: rank %d, in %s: %s is %lld, not %lld\n", file, line, check_rank,
                check_doing, text, actual, expected);
    return actual == expected;
}

/* Holds if code belongs to one of two error classes; give the same class twice for just one. */
static inline bool check_class(int code, int class1, int class2, const char *text, const char *file,
                               int line)
{
    char message[MPI_MAX_ERROR_STRING] = "";
    int actual = code, length = 0;
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &actual);
        MPI_Error_string(code, message, &length);
    }
    bool const holds = actual == class1 || actual == class2;
    if (!holds && check_count())
        fprintf(stderr, "%s:%d: rank %d, in %s: %s gave class %d (%s), not %d\n", file, line,
                check_rank, check_doing, text, actual, message, class1);
    return holds;
}

#define CHECK(condition) check_that((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_EQ(actual, expected)                                                                 \
    check_equal((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)
#define CHECK_OK(call) check_class((call), MPI_SUCCESS, MPI_SUCCESS, #call, __FILE__, __LINE__)
#define CHECK_ERROR(call, class) check_class((call), class, class, #call, __FILE__, __LINE__)
#define CHECK_ERROR_OF(call, class1, class2)                                                       \
    check_class((call), class1, class2, #call, __FILE__, __LINE__)

static bool check_is_watched; /* by tests/run_ranks.py */

static inline void check_expired(int signal_number)
{
    char text[256];
    (void)signal_number;
    int const length = snprintf(text, sizeof text, "rank %d does not end, in %s\n", check_rank,
                                (const char *)check_doing);
    if (write(STDERR_FILENO, text, (size_t)length) != length)
        _exit(125);
    if (!check_is_watched)
        _exit(124);
}

/* Starts the watchdog. Who runs the program says when it speaks: before its own patience is over.
 */
static inline void check_watch(void)
{
    const char *const seconds = getenv("SIDELIGHT_TEST_SECONDS");
    check_is_watched = seconds != NULL;
    signal(SIGALRM, check_expired);
    alarm(seconds != NULL ? (unsigned)atoi(seconds) : CHECK_DEFAULT_SECONDS);
}

/* To be called once MPI is initialised, by whatever call. */
static inline void check_begin_initialised(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    check_watch();
}

static inline void check_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    check_begin_initialised();
}

/* Collective: a message from each rank to each. MPICH before 4.2 may not end over UCX's TCP: its
 * MPI_Finalize disconnects, and ranks that are done no longer answer (pull request 6596 of MPICH).
 * That is rarer, not impossible, when every pair of ranks has met before. */
static inline void check_meet_everyone(void)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
    for (int away = 1; away < check_size; ++away)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, (check_rank + away) % check_size, 78, NULL, 0, MPI_BYTE,
                     (check_rank + check_size - away) % check_size, 78, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
#endif
}

static inline void check_finalize(void)
{
    check_meet_everyone();
    MPI_Finalize();
}

/* Collective. Ends MPI; returns what main() returns. */
static inline int check_end(void)
{
    int total = 0;
    int const mine = check_failures;
    check_step("the end");
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (check_rank == 0 && total == 0)
        printf("ok\n");
    if (check_rank == 0 && total != 0)
        printf("%d checks failed\n", total);
    check_finalize();
    return total == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Collective, instead of check_end(): there is nothing more to be tested here, for the reason
 * given. tests/run_ranks.py knows the line, unless something has failed before. */
static inline int check_skip(const char *reason)
{
    int total = 0;
    int const mine = check_failures;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (check_rank == 0)
        printf(total == 0 ? "check_skip: %s\n" : "some checks failed; no more: %s\n", reason);
    check_finalize();
    return total == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The argument at a place as a number, or a default. */
static inline uint64_t check_argument(int argc, char **argv, int place, uint64_t otherwise)
{
    return argc > place ? strtoull(argv[place], NULL, 0) : otherwise;
}

/* Of a clock that never goes back. Calls nothing of MPI. */
static inline double check_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A number from a seed; the same sequence on every rank and machine (splitmix64). */
static inline uint64_t check_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A group of the given world ranks, to be freed by the caller. */
static inline MPI_Group check_group(int count, const int *ranks)
{
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, ranks, &group);
    MPI_Group_free(&world);
    return group;
}

/* One that the window must have. */
static inline void *check_attribute(MPI_Win win, int key)
{
    void *value = NULL;
    int found = 0;
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &found));
    CHECK(found);
    return value;
}

/* Ordering between two ranks that has nothing to do with the window: an empty message. */
static inline void check_tell(int rank) { MPI_Send(NULL, 0, MPI_BYTE, rank, 77, MPI_COMM_WORLD); }

static inline void check_hear(int rank)
{
    MPI_Recv(NULL, 0, MPI_BYTE, rank, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The status must be that of a request which carries no data. */
static inline void check_empty(const MPI_Status *status)
{
    int count = -1, flag = -1;
    CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK_EQ(count, 0);
    CHECK_OK(MPI_Test_cancelled(status, &flag));
    CHECK_EQ(flag, 0);
}

/* True if a request is still not complete after many tests: progress had its chance. */
static inline bool check_pending(MPI_Request *request)
{
    int flag = 0;
    for (int i = 0; i < 200 && !flag; ++i)
        MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
    return !flag;
}

/* True if a request is complete now, the first time that one looks. */
static inline bool check_complete_at_once(MPI_Request *request)
{
    int flag = 0;
    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
}

#endif /* SIDELIGHT_TESTS_CHECK_H */
