/* SPDX-License-Identifier: BSD-3-Clause */
#include "lu_matrix.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { line_length = 1024, largest_dense = 1 << 14 };

static void resize(Matrix *matrix, int entries)
{
    matrix->entries = entries;
    matrix->row = realloc(matrix->row, (size_t)entries * sizeof *matrix->row);
    matrix->column = realloc(matrix->column, (size_t)entries * sizeof *matrix->column);
    matrix->value = realloc(matrix->value, (size_t)entries * sizeof *matrix->value);
    if (!matrix->row || !matrix->column || !matrix->value) {
        perror("matrix");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

/* The first line that is not a comment; false at the end of the file. */
static bool next_line(gzFile file, char line[line_length])
{
    while (gzgets(file, line, line_length)) {
        if (line[0] != '%') {
            return true;
        }
    }
    return false;
}

/* The stored entries of the file, and room for the mirror image of each. */
static bool read_entries(gzFile file, Matrix *matrix)
{
    char line[line_length];
    int rows, columns, stored;
    if (!next_line(file, line) || sscanf(line, "%d %d %d", &rows, &columns, &stored) != 3 ||
        rows != columns || rows < 1 || stored < 1) {
        return false;
    }
    matrix->n = rows;
    resize(matrix, 2 * stored);
    for (int e = 0; e < stored; e++) {
        int row, column;
        if (!next_line(file, line) ||
            sscanf(line, "%d %d %lf", &row, &column, &matrix->value[e]) != 3 || row < 1 ||
            row > rows || column < 1 || column > rows) {
            return false;
        }
        matrix->row[e] = row - 1;
        matrix->column[e] = column - 1;
    }
    matrix->entries = stored;
    return true;
}

/* Adds the other triangle of a symmetric matrix. */
static void mirror(Matrix *matrix)
{
    int stored = matrix->entries;
    for (int e = 0; e < stored; e++) {
        if (matrix->row[e] != matrix->column[e]) {
            matrix->row[matrix->entries] = matrix->column[e];
            matrix->column[matrix->entries] = matrix->row[e];
            matrix->value[matrix->entries] = matrix->value[e];
            matrix->entries++;
        }
    }
}

static bool read_file(const char *path, Matrix *matrix)
{
    char header[line_length] = "";
    gzFile file = gzopen(path, "rb");
    if (!file) {
        return false;
    }
    bool good = gzgets(file, header, line_length) &&
                strstr(header, "%%MatrixMarket matrix coordinate real") == header &&
                read_entries(file, matrix);
    gzclose(file);
    if (good && strstr(header, "symmetric")) {
        mirror(matrix);
    }
    return good;
}

/* Every row is outweighed by its diagonal. */
static Matrix make_dense(int n)
{
    Matrix matrix = {.n = n};
    resize(&matrix, n * n);
    for (int e = 0; e < n * n; e++) {
        int row = matrix.row[e] = e / n;
        int column = matrix.column[e] = e % n;
        matrix.value[e] = row == column ? n : 1.0 / (1 + abs(row - column));
    }
    return matrix;
}

Matrix matrix_read(const char *path, MPI_Comm comm)
{
    Matrix matrix = {0};
    int rank, dense;
    if (sscanf(path, "dense:%d", &dense) == 1 && dense > 0 && dense <= largest_dense) {
        return make_dense(dense);
    }
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && !read_file(path, &matrix)) {
        fprintf(stderr, "%s: not a square real Matrix Market file that can be read\n", path);
        MPI_Abort(comm, EXIT_FAILURE);
    }
    int size[2] = {matrix.n, matrix.entries};
    MPI_Bcast(size, 2, MPI_INT, 0, comm);
    matrix.n = size[0];
    resize(&matrix, size[1]);
    MPI_Bcast(matrix.row, matrix.entries, MPI_INT, 0, comm);
    MPI_Bcast(matrix.column, matrix.entries, MPI_INT, 0, comm);
    MPI_Bcast(matrix.value, matrix.entries, MPI_DOUBLE, 0, comm);
    return matrix;
}

void matrix_free(Matrix *matrix)
{
    free(matrix->row);
    free(matrix->column);
    free(matrix->value);
    *matrix = (Matrix){0};
}

void matrix_multiply(const Matrix *matrix, const double *x, double *y)
{
    memset(y, 0, (size_t)matrix->n * sizeof *y);
    for (int e = 0; e < matrix->entries; e++) {
        y[matrix->row[e]] += matrix->value[e] * x[matrix->column[e]];
    }
}

double matrix_norm(const Matrix *matrix)
{
    double *sum = calloc((size_t)matrix->n, sizeof *sum);
    for (int e = 0; e < matrix->entries; e++) {
        sum[matrix->row[e]] += fabs(matrix->value[e]);
    }
    double norm = vector_norm(sum, matrix->n);
    free(sum);
    return norm;
}

double vector_norm(const double *x, int n)
{
    double norm = 0;
    for (int i = 0; i < n; i++) {
        norm = fmax(norm, fabs(x[i]));
    }
    return norm;
}
