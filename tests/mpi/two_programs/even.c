/* SPDX-License-Identifier: BSD-3-Clause */
/* The executable of even ranks. */
#include "program.h"

#include <sidelight.h>

const int program_number = 0;
const int program_creates[] = {DOUBLE, NEGATE};

static void double_by_adding(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                             MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                             int segments, int offset)
{
    (void)in_type, (void)memory, (void)count, (void)type, (void)out_type, (void)offset;
    for (int s = 0; s < segments; ++s) {
        const int value = ((const int *)in)[s * in_count];
        ((int *)out)[s * out_count] = value + value;
        ((int *)out)[s * out_count + 1] = program_number;
    }
}

static void negate_by_subtracting(void *in, int in_count, MPI_Datatype in_type, void *memory,
                                  int count, MPI_Datatype type, void *out, int out_count,
                                  MPI_Datatype out_type, int segments, int offset)
{
    (void)in_type, (void)memory, (void)count, (void)type, (void)out_type, (void)offset;
    for (int s = 0; s < segments; ++s) {
        ((int *)out)[s * out_count] = 0 - ((const int *)in)[s * in_count];
        ((int *)out)[s * out_count + 1] = program_number;
    }
}

MPIX_Am_user_function *const program_handlers[HANDLERS] = {double_by_adding, negate_by_subtracting};
