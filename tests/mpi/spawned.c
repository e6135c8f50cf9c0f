/* SPDX-License-Identifier: BSD-3-Clause */
/* A window over processes of mpiexec and one that they start: the launcher gives it the library. */
#include "whose_memory.h"

#include <stdint.h>
#include <unistd.h>

static MPI_Comm with_children(const char *program, bool *is_child)
{
    MPI_Comm other, together;
    CHECK_OK(MPI_Comm_get_parent(&other));
    *is_child = other != MPI_COMM_NULL;
    if (!*is_child)
        CHECK_OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                                MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Intercomm_merge(other, *is_child, &together));
    return together;
}

/* Each process has a trace of its own, if there is one. */
static void check_trace(bool is_child)
{
    const char *folder = getenv("SIDELIGHT_TRACE");
    char host[64] = "", path[4096];
    int32_t header[6] = {0}; /* the last one is the process */
    int rank;
    if (folder == NULL)
        return;
    gethostname(host, sizeof host - 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is_child)
        snprintf(path, sizeof path, "%s/process-%s-%d.trace", folder, host, (int)getpid());
    else
        snprintf(path, sizeof path, "%s/rank-%05d.trace", folder, rank);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fread(header, sizeof header, 1, file) == 1);
    CHECK_EQ(header[5], (int)getpid());
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    int rank, size, *memory;
    MPI_Win win;
    check_begin(&argc, &argv);
    check_step("a window over parents and child");
    bool is_child;
    MPI_Comm together = with_children(argv[0], &is_child);
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
    check_trace(is_child);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&together));
    return check_end();
}
