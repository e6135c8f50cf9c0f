/* SPDX-License-Identifier: BSD-3-Clause */
/* A child that has disconnected itself ends, though its parent is in no call of MPI for long. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

/* One that nobody has waited for yet does not. */
static bool is_running(int process)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(file);
    return state != 'Z';
}

/* By messages. Answers what the other one is. */
static int exchange_processes(MPI_Comm comm)
{
    int rank, other = 0, mine = (int)getpid();
    MPI_Win win;
    MPI_Comm_rank(comm, &rank);
    CHECK_OK(MPI_Win_create(&other, sizeof other, 1, MPI_INFO_NULL, comm, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
    return other;
}

int main(int argc, char **argv)
{
    MPI_Comm other, together;
    check_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_get_parent(&other));
    bool const is_child = other != MPI_COMM_NULL;
    if (!is_child)
        CHECK_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                                MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Intercomm_merge(other, is_child, &together));
    int const process = exchange_processes(together);
    CHECK_OK(MPI_Comm_free(&together));
    CHECK_OK(MPI_Comm_disconnect(&other));
    double const begin = check_seconds();
    while (!is_child && is_running(process) && check_seconds() < begin + 5)
        usleep(10000);
    CHECK(is_child || check_seconds() < begin + 5);
    return check_end();
}
