/* SPDX-License-Identifier: BSD-3-Clause */
/* A serial program that a rank starts has the rank's LD_PRELOAD: all of its calls reach the MPI
 * that it is linked to, which is none. */
#include <stdio.h>

#include "stand_in.h"

static int failures;

static void check(int answer, const char *call)
{
    if (answer != STAND_IN_ANSWER) {
        fprintf(stderr, "%s gives %d\n", call, answer);
        ++failures;
    }
}

int main(int argc, char **argv)
{
    MPI_Request request = 7;
    int flag = 0, status = 0;
    check(MPI_Init(&argc, &argv), "MPI_Init");
    check(MPI_Send(&flag, 1, 2, 3, 4, 5), "MPI_Send");
    check(MPI_Test(&request, &flag, &status), "MPI_Test");
    check(flag == request ? STAND_IN_ANSWER : flag, "the flag of MPI_Test");
    check(MPI_Wait(&request, &status), "MPI_Wait");
    check(MPI_Win_fence(0, 9), "MPI_Win_fence");
    check(MPI_Put(&flag, 1, 2, 3, 6, 4, 5, 9), "MPI_Put");
    check(MPI_Finalize(), "MPI_Finalize");
    return failures != 0;
}
