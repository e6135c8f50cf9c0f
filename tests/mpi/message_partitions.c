/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitions that become ready one after the other, with work between, as partitioned messages are
 * meant to be used: large ones, and small ones beside a large message. In Open MPI 5 progress of
 * the host between them is not survived.
 *
 * message_partitions
 */
#include "check.h"

#include <stdlib.h>
#include <time.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

enum { FIRST, SECOND, ROUNDS = 50, PARTITIONS = 16, MICROSECONDS = 200, BESIDE = 1 << 22 };

/* Without a call of MPI's. */
static void work(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 <
           MICROSECONDS);
}

static int32_t value_of(int round, int index) { return 1000 * round + index; }

/* `count` elements in each partition. */
static void exchange(int round, int count, int32_t *data, MPI_Request *request)
{
    int const all = PARTITIONS * count;
    for (int i = 0; i < all && check_rank == SECOND; ++i)
        data[i] = -1;
    CHECK_OK(MPI_Start(request));
    for (int partition = 0; partition < PARTITIONS; ++partition) {
        work();
        if (check_rank == FIRST) {
            for (int i = partition * count; i < (partition + 1) * count; ++i)
                data[i] = value_of(round, i);
            CHECK_OK(MPI_Pready(partition, *request));
        }
    }
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    for (int i = 0; i < all; ++i)
        CHECK_EQ(data[i], value_of(round, i));
}

static void exchange_all(int count, char *beside)
{
    int32_t *const data = calloc((size_t)(PARTITIONS * count), sizeof *data);
    MPI_Request request, others[2];
    if (check_rank == FIRST)
        CHECK_OK(MPI_Psend_init(data, PARTITIONS, count, MPI_INT32_T, SECOND, 3, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request));
    else
        CHECK_OK(MPI_Precv_init(data, PARTITIONS, count, MPI_INT32_T, FIRST, 3, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request));
    for (int round = 0; round < ROUNDS; ++round) {
        CHECK_OK(MPI_Irecv(beside, BESIDE, MPI_BYTE, 1 - check_rank, 7, MPI_COMM_WORLD, others));
        exchange(round, count, data, &request);
        CHECK_OK(MPI_Isend(beside + BESIDE, BESIDE, MPI_BYTE, 1 - check_rank, 7, MPI_COMM_WORLD,
                           others + 1));
        CHECK_OK(MPI_Waitall(2, others, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&request));
    free(data);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    char *const beside = calloc(2, BESIDE);
    check_step("large partitions");
    exchange_all(4096, beside);
    check_step("small ones");
    exchange_all(16, beside);
    free(beside);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    return check_skip("the host has no partitioned messages");
}

#endif
