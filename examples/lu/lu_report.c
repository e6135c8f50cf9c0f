/* SPDX-License-Identifier: BSD-3-Clause */
#include "lu_report.h"

#include "lu_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps_between_looks = 64 };

static const double seconds_between_words = 0.1;

Progress progress_create(const Plan *plan, int rounds)
{
    return (Progress){.total = (long)rounds * plan->messages, .speaks = plan->rank == 0};
}

void progress_step(Progress *progress)
{
    progress->done++;
    if (!progress->speaks || progress->done % steps_between_looks != 0) {
        return;
    }
    double now = clock_now();
    if (now - progress->spoken >= seconds_between_words) {
        fprintf(stderr, "progress %ld/%ld\n", progress->done, progress->total);
        progress->spoken = now;
    }
}

void round_gather_times(Round *round, double seconds, double mpi_seconds, MPI_Comm comm)
{
    int ranks;
    double sum = 0;
    double mine[2] = {seconds, mpi_seconds};
    double largest[2] = {0, 0};
    MPI_Comm_size(comm, &ranks);
    MPI_Reduce(mine, largest, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
    MPI_Reduce(&mpi_seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    round->seconds = largest[0];
    round->mpi_max = largest[1];
    round->mpi_mean = sum / ranks;
}

void round_judge(Round *round, const Matrix *matrix, const double *b, const double *x,
                 const double *known)
{
    int n = matrix->n;
    double *difference = malloc((size_t)n * sizeof *difference);
    matrix_multiply(matrix, x, difference);
    for (int i = 0; i < n; i++) {
        difference[i] = b[i] - difference[i];
    }
    round->residual = vector_norm(difference, n) / (matrix_norm(matrix) * vector_norm(x, n));
    for (int i = 0; i < n; i++) {
        difference[i] = x[i] - known[i];
    }
    round->error = vector_norm(difference, n) / vector_norm(known, n);
    free(difference);
}

static int by_seconds(const void *left, const void *right)
{
    double a = ((const Round *)left)->seconds;
    double b = ((const Round *)right)->seconds;
    return (a > b) - (a < b);
}

void report_print(const char *program, const char *line, const Plan *plan, Round *rounds, int count)
{
    double residual = 0;
    double error = 0;
    for (int i = 0; i < count; i++) {
        residual = fmax(residual, rounds[i].residual);
        error = fmax(error, rounds[i].error);
    }
    qsort(rounds, (size_t)count, sizeof *rounds, by_seconds);
    Round middle = rounds[count / 2];
    printf("{\"program\": \"%s\", \"line\": \"%s\", \"ranks\": %d, \"n\": %d, \"rounds\": %d, "
           "\"residual\": %.17g, "
           "\"error\": %.17g, \"seconds\": %.9f, \"seconds_in_mpi_mean\": %.9f, "
           "\"seconds_in_mpi_max\": %.9f}\n",
           program, line, plan->ranks, plan->n, count, residual, error, middle.seconds,
           middle.mpi_mean, middle.mpi_max);
    fflush(stdout);
}
