/* SPDX-License-Identifier: BSD-3-Clause */
/* Has no PMPI names, and answers with a number that no MPI gives. */
#include "stand_in.h"

int MPI_Init(int *argc, char ***argv)
{
    return argc != (void *)0 && argv != (void *)0 ? STAND_IN_ANSWER : 1;
}

int MPI_Send(const void *data, int count, int type, int target, int tag, int comm)
{
    return data != (void *)0 && count + type + target + tag == 10 && comm == 5 ? STAND_IN_ANSWER
                                                                               : 1;
}

int MPI_Wait(MPI_Request *request, void *status)
{
    return *request == 7 && status != (void *)0 ? STAND_IN_ANSWER : 1;
}

int MPI_Test(MPI_Request *request, int *flag, void *status)
{
    *flag = *request;
    return status != (void *)0 ? STAND_IN_ANSWER : 1;
}

int MPI_Win_fence(int assert, MPI_Win win) { return assert == 0 && win == 9 ? STAND_IN_ANSWER : 1; }

int MPI_Put(const void *origin, int count, int type, int target, long place, int target_count,
            int target_type, MPI_Win win)
{
    return origin != (void *)0 && count + type + target + target_count + target_type == 15 &&
                   place == 6 && win == 9
               ? STAND_IN_ANSWER
               : 1;
}

int MPI_Finalize(void) { return STAND_IN_ANSWER; }
