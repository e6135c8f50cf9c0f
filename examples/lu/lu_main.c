/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solves A x = b by LU factorisation without pivoting (so A should be positive definite), with a
 * right-hand side whose solution is known; several times over, for the sake of the clock. LINE is
 * what the report calls this run.
 */
#define _POSIX_C_SOURCE 200809L

#include "lu_clock.h"
#include "lu_solve.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    const char *path;
    const char *line;
    int rounds;   /* solves */
    double limit; /* seconds after which no further round begins */
} Options;

static Options read_options(int argc, char **argv)
{
    Options options = {.rounds = 1, .limit = 1e9};
    for (int option; (option = getopt(argc, argv, "r:t:")) != -1;) {
        if (option == 'r') {
            options.rounds = atoi(optarg);
        } else if (option == 't') {
            options.limit = atof(optarg);
        }
    }
    options.path = optind < argc ? argv[optind] : NULL;
    options.line = optind + 1 < argc ? argv[optind + 1] : exchange_program;
    return options;
}

/* A solution that is not smooth and whose entries are exact in binary. */
static double *known_solution(int n)
{
    double *x = malloc((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        x[i] = 1 + (double)(i % 7) / 8;
    }
    return x;
}

/* One solve and what came of it. x has room for n entries. Collective. */
static Round solve_round(Rows *rows, Exchange *exchange, Progress *progress, double *x)
{
    Round round = {0};
    const Plan *plan = rows->plan;
    MPI_Barrier(MPI_COMM_WORLD);
    double started = clock_now();
    solve(rows, exchange, progress);
    double seconds = clock_now() - started;
    round_gather_times(&round, seconds, exchange_mpi_seconds(exchange), MPI_COMM_WORLD);

    double *mine = calloc((size_t)plan->n, sizeof *mine);
    rows_store(rows, mine);
    MPI_Reduce(mine, x, plan->n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    free(mine);
    return round;
}

/* Rank 0 decides, for all, whether there is time for another round. */
static bool in_time(double deadline)
{
    int go = clock_now() < deadline;
    MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return go;
}

static void run_rounds(const Options *options, const Matrix *matrix, const Plan *plan)
{
    double *known = known_solution(matrix->n);
    double *b = malloc((size_t)matrix->n * sizeof *b);
    double *x = malloc((size_t)matrix->n * sizeof *x);
    Round *rounds = calloc((size_t)options->rounds, sizeof *rounds);
    Rows rows = rows_create(plan);
    Exchange *exchange = exchange_create(plan, rows_message_cells(plan), MPI_COMM_WORLD);
    Progress progress = progress_create(plan, options->rounds);
    double deadline = clock_now() + options->limit;
    int done = 0;

    matrix_multiply(matrix, known, b);
    do {
        rows_load(&rows, matrix, b);
        rounds[done] = solve_round(&rows, exchange, &progress, x);
        if (plan->rank == 0) {
            round_judge(&rounds[done], matrix, b, x, known);
        }
        done++;
    } while (done < options->rounds && in_time(deadline));
    if (plan->rank == 0) {
        report_print(exchange_program, options->line, plan, rounds, done);
    }
    exchange_free(exchange);
    rows_free(&rows);
    free(rounds);
    free(x);
    free(b);
    free(known);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    Options options = read_options(argc, argv);
    if (!options.path || options.rounds < 1) {
        fprintf(stderr, "usage: %s [-r ROUNDS] [-t SECONDS] MATRIX.mtx[.gz]|dense:N [LINE]\n",
                argv[0]);
        MPI_Finalize();
        return EXIT_FAILURE;
    }
    Matrix matrix = matrix_read(options.path, MPI_COMM_WORLD);
    Plan plan = plan_create(&matrix, MPI_COMM_WORLD);
    run_rounds(&options, &matrix, &plan);
    plan_free(&plan);
    matrix_free(&matrix);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
