/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An application beside which messages move (P4, figure 4.14): penta-diagonal systems along each
 * line of a cube, in each direction in turn, in the manner of NAS SP. The cube is cut into q x q x
 * q cells for q x q ranks, each of which has one cell of every plane (multi-partition): so all
 * ranks work in each stage of a sweep. A rank posts the receive of what its cell's predecessor has
 * eliminated, computes the coefficients and right-hand sides of the cell meanwhile, and waits for
 * it and for its own message of the stage before.
 *
 *     solver [--quick] [LINE...]
 *
 * A line is the edge of the cube, a multiple of q. Figures: `milliseconds` of an iteration, three
 * directions; `bytes` of a message; and `error`, the largest difference from the solution, which is
 * known: more than 1e-9 ends the job.
 */
#include "overlap.h"

#include "measure.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPONENTS = 5, BANDS = 2, ITERATIONS = 9, QUICK_ITERATIONS = 3 };
/* Of a line, what the next cell or the one before it needs: two rows of upper coefficients and
 * right-hand sides forwards, two values of the solution backwards. */
enum { FORWARD = 2 * (BANDS + COMPONENTS), BACKWARD = 2 * COMPONENTS };

static const double most_error = 1e-9;
static const char *const edges[] = {"16", "24", "36", "48", "72", "96"};
static const char *const figures[] = {"milliseconds", "bytes", "error"};

enum { EDGES = sizeof edges / sizeof edges[0], FIGURES = sizeof figures / sizeof figures[0] };

/* A row of a line: two upper coefficients, the diagonal having become 1, and right-hand sides,
 * which become the solution. */
struct Row {
    double upper[BANDS];
    double values[COMPONENTS];
};

struct Solver {
    const struct Job *job;
    int q, i, j;      /* the ranks are a square, and this one's place in it */
    int edge, length; /* of the cube, and of a cell */
    struct Row *rows; /* of one cell of each stage: [stage][line][place] */
    double *out, *in; /* a message each */
    MPI_Request receiving, sending;
    double error;
};

static int wrap(int number, int q) { return (number % q + q) % q; }

static int rank_of(const struct Solver *solver, int i, int j)
{
    return wrap(i, solver->q) * solver->q + wrap(j, solver->q);
}

/* The rank that has the next cell in that direction; `by` -1: the one before. Cell (x, y, z)
 * belongs to the rank (x - z, y - z). */
static int neighbour(const struct Solver *solver, int direction, int by)
{
    const int i = solver->i;
    const int j = solver->j;
    return direction == 0   ? rank_of(solver, i + by, j)
           : direction == 1 ? rank_of(solver, i, j + by)
                            : rank_of(solver, i - by, j - by);
}

/* Where the line lies across that direction, as a number, so that each has a solution of its own.
 */
static double across(const struct Solver *solver, int direction, int stage, int line)
{
    const int q = solver->q;
    const int z = direction == 2   ? stage
                  : direction == 0 ? wrap(stage - solver->i, q)
                                   : wrap(stage - solver->j, q);
    const int x = wrap(solver->i + z, q);
    const int y = wrap(solver->j + z, q);
    const int first = direction == 0 ? y : x;
    const int second = direction == 2 ? y : z;
    const int length = solver->length;
    const double a = first * length + line / length;
    const double b = second * length + line % length;
    return (a + 0.37 * b) / solver->edge;
}

static double solution(double line, int place, int component)
{
    return sin(0.1 * place + line) + component;
}

/* The bands of a row, diagonally dominant, and smaller than the cube at its faces. */
static double band(double line, int place, int offset)
{
    static const double weights[] = {0.11, -0.43, 2.3, -0.41, 0.13};
    return weights[offset + BANDS] * (1 + 0.1 * cos(line + place));
}

struct Bands {
    double lower[BANDS], diagonal, upper[BANDS]; /* lower[0] is the nearer one, as is upper[0] */
};

/* What does not need the cell before. */
static void compute_row(const struct Solver *solver, double line, int place, struct Bands *bands,
                        struct Row *row)
{
    const int edge = solver->edge;
    bands->diagonal = band(line, place, 0);
    for (int k = 1; k <= BANDS; ++k) {
        bands->lower[k - 1] = place >= k ? band(line, place, -k) : 0;
        bands->upper[k - 1] = place + k < edge ? band(line, place, k) : 0;
    }
    for (int component = 0; component < COMPONENTS; ++component) {
        double sum = bands->diagonal * solution(line, place, component);
        for (int k = 1; k <= BANDS; ++k) {
            sum += bands->lower[k - 1] * solution(line, place - k, component);
            sum += bands->upper[k - 1] * solution(line, place + k, component);
        }
        row->values[component] = sum;
    }
}

/* With the two rows before it, which are eliminated already. */
static void eliminate(struct Bands bands, const struct Row *one, const struct Row *two,
                      struct Row *row)
{
    const double far = bands.lower[1];
    const double near = bands.lower[0] - far * two->upper[0];
    const double diagonal = bands.diagonal - far * two->upper[1] - near * one->upper[0];
    row->upper[0] = (bands.upper[0] - near * one->upper[1]) / diagonal;
    row->upper[1] = bands.upper[1] / diagonal;
    for (int component = 0; component < COMPONENTS; ++component) {
        row->values[component] = (row->values[component] - far * two->values[component] -
                                  near * one->values[component]) /
                                 diagonal;
    }
}

static struct Row *row_of(const struct Solver *solver, int stage, int line, int place)
{
    const size_t lines = (size_t)solver->length * (size_t)solver->length;
    const size_t index = (size_t)stage * lines + (size_t)line;
    return &solver->rows[index * (size_t)solver->length + (size_t)place];
}

static int lines_of(const struct Solver *solver) { return solver->length * solver->length; }

static void pack(const struct Row *row, double *to)
{
    memcpy(to, row->upper, sizeof row->upper);
    memcpy(to + BANDS, row->values, sizeof row->values);
}

static struct Row unpack(const double *from)
{
    struct Row row;
    memcpy(row.upper, from, sizeof row.upper);
    memcpy(row.values, from + BANDS, sizeof row.values);
    return row;
}

/* The cell of one stage, from its first place to its last. */
static void sweep_forward(struct Solver *solver, int direction, int stage, struct Bands *bands)
{
    const int length = solver->length;
    const int lines = lines_of(solver);
    const int count = lines * FORWARD;
    if (stage > 0) {
        MPI_Irecv(solver->in, count, MPI_DOUBLE, neighbour(solver, direction, -1), stage,
                  MPI_COMM_WORLD, &solver->receiving);
    }
    for (int line = 0; line < lines; ++line) {
        const double where = across(solver, direction, stage, line);
        for (int place = 0; place < length; ++place) {
            compute_row(solver, where, stage * length + place, &bands[line * length + place],
                        row_of(solver, stage, line, place));
        }
    }
    MPI_Wait(&solver->receiving, MPI_STATUS_IGNORE);
    MPI_Wait(&solver->sending, MPI_STATUS_IGNORE); /* of the stage before */
    for (int line = 0; line < lines; ++line) {
        struct Row two = {{0}, {0}};
        struct Row one = two;
        if (stage > 0) {
            two = unpack(solver->in + (ptrdiff_t)line * FORWARD);
            one = unpack(solver->in + (ptrdiff_t)line * FORWARD + FORWARD / 2);
        }
        for (int place = 0; place < length; ++place) {
            struct Row *const row = row_of(solver, stage, line, place);
            eliminate(bands[line * length + place], &one, &two, row);
            two = one;
            one = *row;
        }
        pack(&two, solver->out + (ptrdiff_t)line * FORWARD);
        pack(&one, solver->out + (ptrdiff_t)line * FORWARD + FORWARD / 2);
    }
    if (stage < solver->q - 1) {
        MPI_Isend(solver->out, count, MPI_DOUBLE, neighbour(solver, direction, 1), stage + 1,
                  MPI_COMM_WORLD, &solver->sending);
    }
}

static void check(struct Solver *solver, double line, int place, const double *values)
{
    for (int component = 0; component < COMPONENTS; ++component) {
        const double error = fabs(values[component] - solution(line, place, component));
        if (!(error <= most_error)) { /* nor if it is no number */
            fprintf(stderr, "solver: off the solution by %g\n", error);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        solver->error = error > solver->error ? error : solver->error;
    }
}

/* And from its last to its first, with the two values of the cell behind it. */
static void sweep_backward(struct Solver *solver, int direction, int stage)
{
    const int length = solver->length;
    const int lines = lines_of(solver);
    const int count = lines * BACKWARD;
    const bool last = stage == solver->q - 1;
    if (!last) {
        MPI_Recv(solver->in, count, MPI_DOUBLE, neighbour(solver, direction, 1), solver->q + stage,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&solver->sending, MPI_STATUS_IGNORE);
    for (int line = 0; line < lines; ++line) {
        double next[2][COMPONENTS] = {{0}};
        const double where = across(solver, direction, stage, line);
        if (!last) {
            memcpy(next, solver->in + (ptrdiff_t)line * BACKWARD, sizeof next);
        }
        for (int place = length - 1; place >= 0; --place) {
            struct Row *const row = row_of(solver, stage, line, place);
            for (int component = 0; component < COMPONENTS; ++component) {
                row->values[component] -=
                    row->upper[0] * next[0][component] + row->upper[1] * next[1][component];
            }
            memcpy(next[1], next[0], sizeof next[0]);
            memcpy(next[0], row->values, sizeof next[0]);
            check(solver, where, stage * length + place, row->values);
        }
        memcpy(solver->out + (ptrdiff_t)line * BACKWARD, next, sizeof next);
    }
    if (stage > 0) {
        MPI_Isend(solver->out, count, MPI_DOUBLE, neighbour(solver, direction, -1),
                  solver->q + stage - 1, MPI_COMM_WORLD, &solver->sending);
    }
}

static void iterate(struct Solver *solver, struct Bands *bands)
{
    for (int direction = 0; direction < 3; ++direction) {
        for (int stage = 0; stage < solver->q; ++stage) {
            sweep_forward(solver, direction, stage, bands);
        }
        for (int stage = solver->q - 1; stage >= 0; --stage) {
            sweep_backward(solver, direction, stage);
        }
        MPI_Wait(&solver->sending, MPI_STATUS_IGNORE);
    }
}

static void run_line(struct Solver *solver, const char *name)
{
    const int iterations = solver->job->quick ? QUICK_ITERATIONS : ITERATIONS;
    double taken[ITERATIONS];
    double values[FIGURES];
    solver->edge = atoi(name);
    solver->length = solver->edge / solver->q;
    solver->error = 0;
    const size_t lines = (size_t)lines_of(solver);
    const size_t places = lines * (size_t)solver->length;
    struct Bands *const bands = malloc(places * sizeof *bands);
    solver->rows = malloc((size_t)solver->q * places * sizeof *solver->rows);
    solver->out = malloc(lines * FORWARD * sizeof(double));
    solver->in = malloc(lines * FORWARD * sizeof(double));
    iterate(solver, bands);
    for (int iteration = 0; iteration < iterations; ++iteration) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = now_microseconds();
        iterate(solver, bands);
        MPI_Barrier(MPI_COMM_WORLD);
        taken[iteration] = (now_microseconds() - start) / 1000;
    }
    values[0] = median(taken, iterations);
    values[1] = (double)(lines * FORWARD * sizeof(double));
    MPI_Reduce(&solver->error, &values[2], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    print_job_line(solver->job, name, figures, values, FIGURES);
    free(bands);
    free(solver->rows);
    free(solver->out);
    free(solver->in);
}

int main(int argc, char **argv)
{
    const struct Job job = begin_job(&argc, &argv);
    struct Solver solver = {.job = &job,
                            .q = (int)lround(sqrt(job.ranks)),
                            .receiving = MPI_REQUEST_NULL,
                            .sending = MPI_REQUEST_NULL};
    if (solver.q * solver.q != job.ranks) {
        fprintf(stderr, "solver: the number of ranks must be a square\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    solver.i = job.rank / solver.q;
    solver.j = job.rank % solver.q;
    for (int line = 0; line < EDGES; ++line) {
        if (atoi(edges[line]) % solver.q == 0 && begin_job_line(&job, edges[line])) {
            run_line(&solver, edges[line]);
        }
    }
    end_job();
    return 0;
}
