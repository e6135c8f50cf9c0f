/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap.h"

#include "measure.h"

#include <getopt.h>
#include <stdio.h>

enum { ROUNDS = 31, QUICK_ROUNDS = 7 };

struct Job begin_job(int *argc, char ***argv)
{
    static const struct option options[] = {
        {"quick", no_argument, NULL, 'q'}, {"sleep", no_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
    struct Job job = {0};
    bool sleeps = false;
    int option = 0;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    while ((option = getopt_long(*argc, *argv, "", options, NULL)) == 'q' || option == 's') {
        job.quick |= option == 'q';
        sleeps |= option == 's';
    }
    if (option != -1 || job.ranks % 2 != 0 || !bind_to_core(job.rank, job.ranks)) {
        fprintf(stderr, "usage: %s [--quick] [--sleep] [LINE...], on an even number of ranks\n",
                (*argv)[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    job.names = *argv + optind;
    job.count = *argc - optind;
    job.work = work_begin(sleeps);
    MPI_Bcast(&job.work.turns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return job;
}

void end_job(void) { MPI_Finalize(); }

bool begin_job_line(const struct Job *job, const char *name)
{
    const bool wanted = chosen(name, job->names, job->count);
    if (wanted && job->rank == 0) {
        announce_line(name);
    }
    return wanted;
}

void print_job_line(const struct Job *job, const char *name, const char *const *figures,
                    const double *values, int count)
{
    if (job->rank == 0) {
        print_values(name, figures, values, count);
    }
}

struct Times time_action(const struct Job *job, Action_with_work *action, void *context,
                         double microseconds)
{
    double taken[ROUNDS];
    const int rounds = job->quick ? QUICK_ROUNDS : ROUNDS;
    for (int round = -1; round < rounds; ++round) { /* the first one is not counted */
        MPI_Barrier(MPI_COMM_WORLD);
        const double time = action(context, microseconds);
        taken[round < 0 ? 0 : round] = time;
    }
    const double own = median(taken, rounds);
    const double counts = own >= 0 ? 1 : 0;
    const double mine[2] = {own >= 0 ? own : 0, counts};
    double sums[2];
    struct Times times;
    MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &times.most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    times.mean = sums[0] / sums[1];
    return times;
}

double overlap_of(const struct Job *job, Action_with_work *action, void *context, double latency)
{
    double ratio = 0;
    for (int tenths = 1; tenths <= 11; ++tenths) {
        const double work = tenths * latency / 10;
        const struct Times times = time_action(job, action, context, work);
        if (times.most <= 1.1 * latency) {
            ratio = (work - (times.mean - latency)) / latency;
        }
    }
    return 100 * ratio;
}
