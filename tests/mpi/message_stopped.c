/* SPDX-License-Identifier: BSD-3-Clause */
/* The host may call functions of the program while it makes progress, so there is no step: then
 * large requests wake no thread either, as its log says at the end. */
#include "check.h"
#include "compute.h"

enum { ROUNDS = 20, BYTES = 1 << 20 };

static int deleted(MPI_Datatype type, int keyval, void *value, void *state)
{
    (void)type, (void)keyval, (void)value, (void)state;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static char in[BYTES], out[BYTES];
    int keyval = MPI_KEYVAL_INVALID;
    MPI_Request requests[2];
    check_begin(&argc, &argv);
    const int other = 1 - check_rank;
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, deleted, &keyval, NULL));
    for (int round = 0; round < ROUNDS; ++round) {
        CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[1]));
        compute(1);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Type_free_keyval(&keyval));
    return check_end();
}
