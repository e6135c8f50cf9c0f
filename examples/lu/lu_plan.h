/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who sends what to whom, and when: known to every rank from the shape of the matrix alone.
 *
 * The work is a sequence of 2n messages. Message m < n is row m of U, sent by its owner when it is
 * finished; message n + t is entry n-1-t of the solution, sent when it is known. Row k belongs to
 * rank k mod ranks. A message goes to the ranks that own a row which it changes, and to no others.
 */
#ifndef LU_PLAN_H
#define LU_PLAN_H

#include "lu_matrix.h"

#include <stdbool.h>

/* Rows first..last; empty when last < first. */
typedef struct {
    int first;
    int last;
} RowRange;

typedef struct {
    int n;
    int rank;
    int ranks;
    int messages; /* 2n */
    int lower;    /* most cells left of the diagonal in a row */
    int upper;    /* most cells right of the diagonal in a row */
    int *below;   /* [k] last row with a cell in column k, fill included */
    int *right;   /* [k] last column with a cell in row k of U, fill included */
    int *above;   /* [k] first row of U with a cell in column k, fill included */
} Plan;

Plan plan_create(const Matrix *matrix, MPI_Comm comm);
void plan_free(Plan *plan);

/* The row, or entry of the solution, that a message carries. */
int plan_row(const Plan *plan, int message);

/* Does the message carry a row of U (else an entry of the solution)? */
bool plan_is_elimination(const Plan *plan, int message);

/* The rows that the message changes. */
RowRange plan_changed(const Plan *plan, int message);

int plan_owner(const Plan *plan, int message);

/* How many ranks other than the owner need the message. They follow the owner in rank order (with
 * wrap-around) in the elimination, and precede it in the substitution. */
int plan_reader_count(const Plan *plan, int message);

/* The reader number i of the message, from 0. */
int plan_reader(const Plan *plan, int message, int i);

/* Is this rank a reader of the message? */
bool plan_reads(const Plan *plan, int message);

/* The first message from `message` on that this rank reads; plan->messages when there is none. */
int plan_next_read(const Plan *plan, int message);

#endif
