/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profiling tool as the MPI standard has it (MPI-4.1, 15.2): it defines MPI_X, counts the call
 * and calls PMPI_X. When a rank ends that called any, it prints how often each was called.
 */
#include <mpi.h>
#include <stdio.h>

enum counted {
    WIN_ALLOCATE,
    WIN_FREE,
    PUT,
    GET,
    ACCUMULATE,
    FETCH_AND_OP,
    WIN_FENCE,
    WIN_LOCK,
    WIN_UNLOCK,
    WIN_FLUSH,
    BARRIER,
    ALLGATHER,
    COMM_SPLIT,
    FINALIZE,
    COUNTED
};

static const char *const names[COUNTED] = {
    "Win_allocate", "Win_free",   "Put",       "Get",     "Accumulate", "Fetch_and_op", "Win_fence",
    "Win_lock",     "Win_unlock", "Win_flush", "Barrier", "Allgather",  "Comm_split",   "Finalize"};

static int counts[COUNTED];
static int own_rank = -1;

static void count(enum counted call)
{
    if (own_rank < 0)
        PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    ++counts[call];
}

/* Not in MPI_Finalize: where bindings of Fortran call PMPI_Finalize, that is not seen. */
__attribute__((destructor)) static void report(void)
{
    char line[512];
    int length = snprintf(line, sizeof line, "tool: rank=%d", own_rank);
    for (int i = 0; i < COUNTED; ++i)
        length +=
            snprintf(line + length, sizeof line - (size_t)length, " %s=%d", names[i], counts[i]);
    if (own_rank >= 0)
        printf("%s\n", line);
    fflush(stdout);
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                     MPI_Win *win)
{
    count(WIN_ALLOCATE);
    return PMPI_Win_allocate(size, disp_unit, info, comm, baseptr, win);
}

int MPI_Win_free(MPI_Win *win)
{
    count(WIN_FREE);
    return PMPI_Win_free(win);
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
            int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
            MPI_Win win)
{
    count(PUT);
    return PMPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                    target_count, target_datatype, win);
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    count(GET);
    return PMPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                    target_count, target_datatype, win);
}

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, int target_count,
                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    count(ACCUMULATE);
    return PMPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                           target_count, target_datatype, op, win);
}

int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    count(FETCH_AND_OP);
    return PMPI_Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

int MPI_Win_fence(int assert, MPI_Win win)
{
    count(WIN_FENCE);
    return PMPI_Win_fence(assert, win);
}

int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    count(WIN_LOCK);
    return PMPI_Win_lock(lock_type, rank, assert, win);
}

int MPI_Win_unlock(int rank, MPI_Win win)
{
    count(WIN_UNLOCK);
    return PMPI_Win_unlock(rank, win);
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    count(WIN_FLUSH);
    return PMPI_Win_flush(rank, win);
}

int MPI_Barrier(MPI_Comm comm)
{
    count(BARRIER);
    return PMPI_Barrier(comm);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    count(ALLGATHER);
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    count(COMM_SPLIT);
    return PMPI_Comm_split(comm, color, key, newcomm);
}

int MPI_Finalize(void)
{
    count(FINALIZE);
    return PMPI_Finalize();
}
