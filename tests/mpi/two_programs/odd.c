/* SPDX-License-Identifier: BSD-3-Clause */
/* The executable of odd ranks: one function does both, and the operations are created in another
 * order. */
#include "program.h"

#include <sidelight.h>

const int program_number = 1;
const int program_creates[] = {NEGATE, DOUBLE};

static void multiply(const int *in, int in_count, int *out, int out_count, int segments, int factor)
{
    for (int s = segments - 1; s >= 0; --s) {
        out[s * out_count] = factor * in[s * in_count];
        out[s * out_count + 1] = program_number;
    }
}

static void multiply_by_minus_one(void *in, int in_count, MPI_Datatype in_type, void *memory,
                                  int count, MPI_Datatype type, void *out, int out_count,
                                  MPI_Datatype out_type, int segments, int offset)
{
    (void)in_type, (void)memory, (void)count, (void)type, (void)out_type, (void)offset;
    multiply(in, in_count, out, out_count, segments, -1);
}

static void multiply_by_two(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                            MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                            int segments, int offset)
{
    (void)in_type, (void)memory, (void)count, (void)type, (void)out_type, (void)offset;
    multiply(in, in_count, out, out_count, segments, 2);
}

MPIX_Am_user_function *const program_handlers[HANDLERS] = {multiply_by_two, multiply_by_minus_one};
