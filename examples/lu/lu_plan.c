/* SPDX-License-Identifier: BSD-3-Clause */
#include "lu_plan.h"

#include <stdlib.h>

static int larger(int a, int b) { return a > b ? a : b; }

static int smaller(int a, int b) { return a < b ? a : b; }

/* Without pivoting, fill stays inside the envelope: what has a cell in column k has one, at worst,
 * in every later column up to its own diagonal. So each reach never shrinks from row to row. */
static void find_reaches(Plan *plan, const Matrix *matrix)
{
    for (int k = 0; k < plan->n; k++) {
        plan->below[k] = plan->right[k] = plan->above[k] = k;
    }
    for (int e = 0; e < matrix->entries; e++) {
        int row = matrix->row[e];
        int column = matrix->column[e];
        plan->below[column] = larger(plan->below[column], row);
        plan->right[row] = larger(plan->right[row], column);
    }
    for (int k = 1; k < plan->n; k++) {
        plan->below[k] = larger(plan->below[k], plan->below[k - 1]);
        plan->right[k] = larger(plan->right[k], plan->right[k - 1]);
    }
    for (int column = 0, k = 0; column < plan->n; column++) {
        while (plan->right[k] < column) {
            k++;
        }
        plan->above[column] = k;
    }
    for (int k = 0; k < plan->n; k++) {
        plan->lower = larger(plan->lower, plan->below[k] - k);
        plan->upper = larger(plan->upper, plan->right[k] - k);
    }
}

Plan plan_create(const Matrix *matrix, MPI_Comm comm)
{
    size_t bytes = (size_t)matrix->n * sizeof(int);
    Plan plan = {.n = matrix->n, .messages = 2 * matrix->n};
    MPI_Comm_rank(comm, &plan.rank);
    MPI_Comm_size(comm, &plan.ranks);
    plan.below = malloc(bytes);
    plan.right = malloc(bytes);
    plan.above = malloc(bytes);
    find_reaches(&plan, matrix);
    return plan;
}

void plan_free(Plan *plan)
{
    free(plan->below);
    free(plan->right);
    free(plan->above);
}

int plan_row(const Plan *plan, int message)
{
    return message < plan->n ? message : plan->messages - 1 - message;
}

bool plan_is_elimination(const Plan *plan, int message) { return message < plan->n; }

RowRange plan_changed(const Plan *plan, int message)
{
    int k = plan_row(plan, message);
    if (plan_is_elimination(plan, message)) {
        return (RowRange){k + 1, plan->below[k]};
    }
    return (RowRange){plan->above[k], k - 1};
}

int plan_owner(const Plan *plan, int message) { return plan_row(plan, message) % plan->ranks; }

int plan_reader_count(const Plan *plan, int message)
{
    RowRange changed = plan_changed(plan, message);
    return smaller(changed.last - changed.first + 1, plan->ranks - 1);
}

int plan_reader(const Plan *plan, int message, int i)
{
    int distance = plan_is_elimination(plan, message) ? i + 1 : plan->ranks - 1 - i;
    return (plan_owner(plan, message) + distance) % plan->ranks;
}

bool plan_reads(const Plan *plan, int message)
{
    int distance = (plan->rank - plan_owner(plan, message) + plan->ranks) % plan->ranks;
    if (!plan_is_elimination(plan, message)) {
        distance = plan->ranks - distance;
    }
    return distance % plan->ranks != 0 && distance <= plan_reader_count(plan, message);
}

int plan_next_read(const Plan *plan, int message)
{
    while (message < plan->messages && !plan_reads(plan, message)) {
        message++;
    }
    return message;
}
