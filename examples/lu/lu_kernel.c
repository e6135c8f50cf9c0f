/* SPDX-License-Identifier: BSD-3-Clause */
#include "lu_kernel.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

/* How many of this rank's rows come before row i. */
static int rows_before(const Rows *rows, int i)
{
    int rank = rows->plan->rank;
    int ranks = rows->plan->ranks;
    return i <= rank ? 0 : (i - rank + ranks - 1) / ranks;
}

static double *cell(const Rows *rows, int local, int column)
{
    return rows->storage + (rows->shift + (ptrdiff_t)local * rows->leading + column);
}

Rows rows_create(const Plan *plan)
{
    Rows rows = {.plan = plan};
    int band = plan->lower + 1 + plan->upper;
    /* BLAS wants a leading dimension no less than the columns of a block. */
    int pitch = band > plan->upper + 1 + plan->ranks ? band : plan->upper + 1 + plan->ranks;
    rows.count = rows_before(&rows, plan->n);
    rows.leading = pitch - plan->ranks;
    rows.length = (size_t)rows.count * (size_t)pitch;
    rows.storage = calloc(rows.length + 1, sizeof *rows.storage);
    rows.shift = plan->lower - plan->rank;
    rows.side = calloc((size_t)rows.count + 1, sizeof *rows.side);
    if (!rows.storage || !rows.side) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    openblas_set_num_threads(1);
    return rows;
}

void rows_free(Rows *rows)
{
    free(rows->storage);
    free(rows->side);
}

void rows_load(Rows *rows, const Matrix *matrix, const double *b)
{
    const Plan *plan = rows->plan;
    memset(rows->storage, 0, rows->length * sizeof *rows->storage);
    for (int e = 0; e < matrix->entries; e++) {
        if (matrix->row[e] % plan->ranks == plan->rank) {
            *cell(rows, matrix->row[e] / plan->ranks, matrix->column[e]) += matrix->value[e];
        }
    }
    for (int local = 0; local < rows->count; local++) {
        rows->side[local] = b[local * plan->ranks + plan->rank];
    }
}

void rows_store(const Rows *rows, double *x)
{
    for (int local = 0; local < rows->count; local++) {
        x[local * rows->plan->ranks + rows->plan->rank] = rows->side[local];
    }
}

int rows_message_cells(const Plan *plan) { return plan->upper + 2; }

int rows_finish(Rows *rows, int message, double *cells)
{
    int k = plan_row(rows->plan, message);
    int local = k / rows->plan->ranks;
    const double *diagonal = cell(rows, local, k);
    if (!plan_is_elimination(rows->plan, message)) {
        rows->side[local] /= *diagonal;
        cells[0] = rows->side[local];
        return 1;
    }
    int count = rows->plan->right[k] - k + 1;
    cells[0] = rows->side[local];
    cblas_dcopy(count, diagonal, 1, cells + 1, 1);
    return count + 1;
}

/* Gaussian elimination: multipliers, then the block to the right of them, then b (which makes the
 * forward solve a part of the factorisation). */
static void eliminate(Rows *rows, int k, const double *cells, int local, int count)
{
    const double *pivot = cells + 1;
    double *multipliers = cell(rows, local, k);
    int width = rows->plan->right[k] - k;
    cblas_dscal(count, 1 / pivot[0], multipliers, rows->leading);
    cblas_dger(CblasRowMajor, count, width, -1, multipliers, rows->leading, pivot + 1, 1,
               multipliers + 1, rows->leading);
    cblas_daxpy(count, -cells[0], multipliers, rows->leading, rows->side + local, 1);
}

void rows_apply(Rows *rows, int message, const double *cells, RowRange range)
{
    int k = plan_row(rows->plan, message);
    int local = rows_before(rows, range.first);
    int count = rows_before(rows, range.last + 1) - local;
    if (count <= 0) {
        return;
    }
    if (plan_is_elimination(rows->plan, message)) {
        eliminate(rows, k, cells, local, count);
    } else {
        cblas_daxpy(count, -cells[0], cell(rows, local, k), rows->leading, rows->side + local, 1);
    }
}
