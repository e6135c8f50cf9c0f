/* SPDX-License-Identifier: BSD-3-Clause */
/* The mpi.h of an MPI that serial programs are linked to in place of one. */
#ifndef SIDELIGHT_TESTS_STAND_IN_H
#define SIDELIGHT_TESTS_STAND_IN_H

typedef int MPI_Request;
typedef int MPI_Win;

enum { STAND_IN_ANSWER = 4711 };

int MPI_Init(int *argc, char ***argv);
int MPI_Send(const void *data, int count, int type, int target, int tag, int comm);
int MPI_Wait(MPI_Request *request, void *status);
int MPI_Test(MPI_Request *request, int *flag, void *status);
int MPI_Win_fence(int assert, MPI_Win win);
int MPI_Put(const void *origin, int count, int type, int target, long place, int target_count,
            int target_type, MPI_Win win);
int MPI_Finalize(void);

#endif /* SIDELIGHT_TESTS_STAND_IN_H */
