/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program says: progress on the error stream, results as one line of JSON. */
#ifndef LU_REPORT_H
#define LU_REPORT_H

#include "lu_plan.h"

/* Counts messages; says "progress DONE/TOTAL" at most ten times a second, on rank 0. */
typedef struct {
    long total;
    long done;
    bool speaks;
    double spoken; /* when it last spoke */
} Progress;

Progress progress_create(const Plan *plan, int rounds);
void progress_step(Progress *progress);

/* One solve of the system, as rank 0 knows it. */
typedef struct {
    double seconds;  /* of the slowest rank */
    double mpi_mean; /* seconds inside MPI calls, mean over the ranks */
    double mpi_max;  /* the same, of the rank that spent most */
    double residual; /* |b - A x| / (|A| |x|), infinity norms */
    double error;    /* |x - known| / |known|, infinity norms */
} Round;

/* Gathers the times of this rank's solve on rank 0. Collective. */
void round_gather_times(Round *round, double seconds, double mpi_seconds, MPI_Comm comm);

/* Fills in residual and error. */
void round_judge(Round *round, const Matrix *matrix, const double *b, const double *x,
                 const double *known);

/* Prints the line of JSON: medians of the times, the worst residual and error. Sorts the rounds. */
void report_print(const char *program, const char *line, const Plan *plan, Round *rounds,
                  int count);

#endif
