/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An origin offers what it has recorded, and computes; its target waits and performs that. One of
 * them is killed at a random moment of it, of a job whose launcher lets the others go on. The other
 * one ends its epoch, whole or with the loss, and works on with a third rank. A target whose origin
 * is dead may have to test for ever: all are on one node, where nobody is told. With
 * SIDELIGHT_OFFERS=1.
 */
#include "../kernel_copies.h"
#include "survivors.h"

#include <sidelight.h>

enum { ORIGIN, TARGET, WITNESS };
enum { PART = 1 << 20, PARTS = 4, HEALTHY_ROUNDS = 8, MOST_MICROSECONDS = 400 };

static const double seconds_of_testing = 0.5;

struct Job {
    MPI_Win win;
    unsigned char *base, *data;
    MPI_Group other;  /* of origin and target */
    int microseconds; /* until this rank dies, from when it has offered, or waits; 0: it lives on */
};

static void begin_to_die(const struct Job *job)
{
    if (job->microseconds != 0)
        die_in(job->microseconds);
}

static void compute(double time)
{
    const double end = check_seconds() + time;
    while (check_seconds() < end) {}
}

static bool is_over_or_lost(int code) { return code == MPI_SUCCESS || is_loss(code); }

static void offer(const struct Job *job, int round)
{
    MPI_Request requests[2];
    memset(job->data, round + 1, PART);
    CHECK_OK(MPIX_Win_istart(job->other, 0, job->win, &requests[0]));
    for (int part = 0; part < PARTS; ++part)
        CHECK_OK(MPI_Put(job->data, PART, MPI_BYTE, TARGET, (MPI_Aint)part * PART, PART, MPI_BYTE,
                         job->win));
    CHECK_OK(MPIX_Win_icomplete(job->win, &requests[1]));
    check_tell(TARGET);
    begin_to_die(job);
    compute(1e-6 * 10 * MOST_MICROSECONDS);
    for (int i = 0; i < 2; ++i)
        CHECK(is_over_or_lost(MPI_Wait(&requests[i], MPI_STATUS_IGNORE)));
}

static void wait_and_perform(const struct Job *job, int round, bool origin_may_die)
{
    int over = 0, code = MPI_SUCCESS;
    check_hear(ORIGIN);
    CHECK_OK(MPI_Win_post(job->other, 0, job->win));
    begin_to_die(job);
    const double begin = check_seconds();
    while (!over && code == MPI_SUCCESS &&
           !(origin_may_die && check_seconds() - begin > seconds_of_testing))
        code = MPI_Win_test(job->win, &over);
    CHECK(is_over_or_lost(code));
    for (int i = 0; over && code == MPI_SUCCESS && i < PARTS * PART; ++i)
        CHECK_EQ(job->base[i], (unsigned char)(round + 1));
}

/* Collective: a window of these two, null elsewhere. */
static MPI_Win window_of(const int ranks[2])
{
    MPI_Group all, two;
    MPI_Comm comm;
    MPI_Win win = MPI_WIN_NULL;
    int64_t *base;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, ranks, &two);
    MPI_Comm_create(MPI_COMM_WORLD, two, &comm);
    if (comm != MPI_COMM_NULL)
        CHECK_OK(MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, comm, &base, &win));
    MPI_Group_free(&all);
    MPI_Group_free(&two);
    return win;
}

static void work_on(MPI_Win with_witness)
{
    enum { OTHER = 1 };
    const int64_t sent = 4711;
    int64_t found = 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, OTHER, 0, with_witness));
    CHECK_OK(MPI_Put(&sent, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, with_witness));
    CHECK_OK(MPI_Win_flush(OTHER, with_witness));
    CHECK_OK(MPI_Get(&found, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, with_witness));
    CHECK_OK(MPI_Win_unlock(OTHER, with_witness));
    CHECK_EQ(found, sent);
}

int main(int argc, char **argv)
{
    static const int pairs[2][2] = {{ORIGIN, WITNESS}, {TARGET, WITNESS}};
    check_begin(&argc, &argv);
    uint64_t seed = check_argument(argc, argv, 1, 1);
    const int victim = (int)(seed % 2);
    const int microseconds = 1 + (int)(check_random(&seed) % MOST_MICROSECONDS);
    struct Job job = {.data = malloc(PART)};
    MPI_Win with_witness[2];
    MPI_Group all;
    const int other = 1 - check_rank;
    CHECK(kernel_copies());
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (check_rank != WITNESS)
        MPI_Group_incl(all, 1, &other, &job.other);
    CHECK_OK(MPI_Win_allocate((MPI_Aint)PARTS * PART, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &job.base,
                              &job.win));
    MPI_Win_set_errhandler(job.win, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of requests */
    for (int pair = 0; pair < 2; ++pair)
        with_witness[pair] = window_of(pairs[pair]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == WITNESS)
        sit_down();
    const double begin = check_seconds();
    for (int round = 0; round <= HEALTHY_ROUNDS; ++round) {
        const bool last = round == HEALTHY_ROUNDS;
        job.microseconds = last && check_rank == victim ? microseconds : 0;
        check_step(last ? "a rank dies" : "healthy");
        check_rank == ORIGIN ? offer(&job, round)
                             : wait_and_perform(&job, round, last && victim == ORIGIN);
    }
    if (check_rank == victim)
        raise(SIGKILL);
    work_on(with_witness[check_rank]);
    CHECK(check_seconds() - begin < SECONDS_UNTIL_TOLD);
    sit_down();
}
