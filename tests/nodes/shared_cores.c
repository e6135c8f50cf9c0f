/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes that share cores, as containers of one machine do: whether ranks outnumber cores is seen
 * across them when a window is made, and only where they do. The log says so.
 */
#define _GNU_SOURCE
#include "../mpi/check.h"

#include <sched.h>

static const char said[] = "ranks outnumber cores";

/* The core with that number, counted among those that this process may use. */
static size_t core_of(const cpu_set_t* allowed, int number)
{
    size_t core = 0;
    while (!CPU_ISSET(core, allowed) || number-- > 0) {
        ++core;
    }
    return core;
}

static void stay_on(size_t core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

/* Makes a window among those who have not met. Whether the log says that meanwhile. */
static bool says_so(void)
{
    char text[4096];
    FILE* const log = tmpfile();
    int const terminal = dup(STDERR_FILENO);
    MPI_Comm comm;
    MPI_Win win;
    CHECK(log != NULL && terminal >= 0);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    dup2(fileno(log), STDERR_FILENO);
    int const made = MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    dup2(terminal, STDERR_FILENO);
    CHECK_OK(made);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&comm));
    rewind(log);
    size_t const bytes = fread(text, 1, sizeof text - 1, log);
    text[bytes] = '\0';
    fputs(text, stderr);
    fclose(log);
    close(terminal);
    return strstr(text, said) != NULL;
}

int main(int argc, char** argv)
{
    cpu_set_t allowed;
    check_begin(&argc, &argv);
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (CPU_COUNT(&allowed) >= check_size) {
        check_step("each with a core of its own");
        stay_on(core_of(&allowed, check_rank));
        CHECK(!says_so());
    }
    check_step("all on one core");
    stay_on(core_of(&allowed, 0));
    CHECK(says_so());
    return check_end();
}
