/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic: this rank's rows and what is done to them, all of it through BLAS.
 *
 * Rows are stored with the cells of their band only. Row i starts one pitch after this rank's
 * previous row, i - ranks, so cell (i, j) lies at a fixed distance from cell (i - ranks, j): to
 * BLAS, any block of the band is a dense row-major block with leading dimension pitch - ranks.
 */
#ifndef LU_KERNEL_H
#define LU_KERNEL_H

#include "lu_plan.h"

#include <stddef.h>

typedef struct {
    const Plan *plan;
    int count;     /* rows of this rank */
    int leading;   /* from cell (i, j) to cell (i + ranks, j) */
    size_t length; /* cells stored */
    double *storage;
    ptrdiff_t shift; /* index in storage of cell (rank, 0), which itself need not be stored */
    double *side;    /* right-hand side, turned into y = L^-1 b, then into x; one per row */
} Rows;

Rows rows_create(const Plan *plan);
void rows_free(Rows *rows);

/* Sets the rows to those of A, and the right-hand side to theirs of b. */
void rows_load(Rows *rows, const Matrix *matrix, const double *b);

/* Writes this rank's entries of the solution into x, and leaves the others alone. */
void rows_store(const Rows *rows, double *x);

/* Most cells of one message: right-hand side, diagonal, and the rest of a row of U. */
int rows_message_cells(const Plan *plan);

/* Writes the message for this rank's finished row or entry into cells; returns how many. */
int rows_finish(Rows *rows, int message, double *cells);

/* Applies a message to those of this rank's rows that are in the range. */
void rows_apply(Rows *rows, int message, const double *cells, RowRange range);

#endif
