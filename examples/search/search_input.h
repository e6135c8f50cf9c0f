/* SPDX-License-Identifier: BSD-3-Clause */
/* What is searched, and where: from files, or made up. */
#ifndef SEARCH_INPUT_H
#define SEARCH_INPUT_H

#include <stdbool.h>

typedef struct {
    char *genome; /* A, C, G, T and possibly others, in capitals */
    int length;
    char *queries; /* LENGTH characters each: the beginnings of the reads */
    int count;
} Input;

/* Reads a genome (FASTA) and at most `most` reads (FASTQ), each possibly compressed with gzip.
 * Returns false, having said why, where that fails. */
bool input_read(Input *input, const char *genome, const char *reads, int most);

/* A random genome, and reads of both of its strands with errors and unknown characters; the same
 * for the same numbers. */
void input_make(Input *input, int length, int count);

void input_free(Input *input);

#endif
