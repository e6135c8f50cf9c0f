/* SPDX-License-Identifier: BSD-3-Clause */
/* How the processes of MPI_COMM_WORLD agree on a batch. */
#ifndef BENCH_AGREE_H
#define BENCH_AGREE_H

/* Team.agree: rank 0 leads. */
long agree_by_mpi(void *context, long number);

#endif /* BENCH_AGREE_H */
