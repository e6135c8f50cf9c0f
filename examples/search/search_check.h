/* SPDX-License-Identifier: BSD-3-Clause */
/* The plain search by one process, that others are checked against. */
#ifndef SEARCH_CHECK_H
#define SEARCH_CHECK_H

#include "search_input.h"
#include "search_part.h"

#include <stdbool.h>
#include <stdint.h>

/* Compares the query with every place of the genome, on both strands, without parts or index. */
Answer plain_search(const Input *input, const char *query, int mismatches);

/* Whether the answers to all queries are those of the plain search; says which one is not. */
bool answers_agree(const Input *input, const Answer *answers, int mismatches);

/* A number that differs where any answer does. */
uint64_t answers_digest(const Answer *answers, int count);

#endif
