/* SPDX-License-Identifier: BSD-3-Clause */
/* A window over processes of mpiexec and one that they start: the launcher gives it the library. */
#include "whose_memory.h"

static MPI_Comm with_children(const char *program)
{
    MPI_Comm other, together;
    CHECK_OK(MPI_Comm_get_parent(&other));
    bool const is_child = other != MPI_COMM_NULL;
    if (!is_child)
        CHECK_OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                                MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Intercomm_merge(other, is_child, &together));
    return together;
}

int main(int argc, char **argv)
{
    int rank, size, *memory;
    MPI_Win win;
    check_begin(&argc, &argv);
    check_step("a window over parents and child");
    MPI_Comm together = with_children(argv[0]);
    MPI_Comm_rank(together, &rank);
    MPI_Comm_size(together, &size);
    CHECK_EQ(size, getenv("SIDELIGHT_TEST_SIZE") != NULL ? atoi(getenv("SIDELIGHT_TEST_SIZE")) : 0);
    CHECK_OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, together,
                              (void *)&memory, &win));
    CHECK(is_sidelights(memory));
    *memory = -1;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(*memory, (rank + size - 1) % size);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&together));
    return check_end();
}
