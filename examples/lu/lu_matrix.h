/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system A x = b as every rank holds it: the entries of a sparse matrix, as read from a Matrix
 * Market file, both triangles present.
 */
#ifndef LU_MATRIX_H
#define LU_MATRIX_H

#include <mpi.h>

typedef struct {
    int n;       /* rows and columns */
    int entries; /* length of the three arrays */
    int *row;    /* from 0 */
    int *column; /* from 0 */
    double *value;
} Matrix;

/* Rank 0 reads the file (Matrix Market, real, symmetric or general, plain or gzip) and broadcasts
 * it; or the path is `dense:N`, a full symmetric positive definite matrix of N rows. Collective; a
 * file that cannot be read ends the job with a message. */
Matrix matrix_read(const char *path, MPI_Comm comm);

void matrix_free(Matrix *matrix);

/* y = A x */
void matrix_multiply(const Matrix *matrix, const double *x, double *y);

/* The largest sum of absolute values of a row. */
double matrix_norm(const Matrix *matrix);

/* The entry of largest absolute value. */
double vector_norm(const double *x, int n);

#endif
