/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of a genome with its index: one block of memory without pointers, so that it can lie in a
 * window and be copied; and what is searched in it.
 */
#ifndef SEARCH_PART_H
#define SEARCH_PART_H

#include <stddef.h>
#include <stdint.h>

enum {
    LENGTH = 20,       /* characters of a query */
    SEED = 6,          /* characters that the index is made of */
    SEED_DISTANCE = 7, /* between the beginnings of a query's seeds, which do not overlap */
    MOST_MISMATCHES = 2,
    WORDS = 1 << (2 * SEED), /* how many seeds there are */
    BEST = 2                 /* matches that an answer tells more about */
};

/* A place where a query fits. Of several the better one has fewer mismatches, then the lower
 * position, then the forward strand. */
typedef struct {
    int position; /* in the genome, of the first character; -1: none */
    int reverse;  /* 1: it is the query's reverse complement that fits */
    int mismatches;
} Match;

/* What is sent back for a query: ANSWER_INTS ints. */
typedef struct {
    int found;        /* all matches */
    Match best[BEST]; /* the best of them first */
} Answer;

enum { ANSWER_INTS = sizeof(Answer) / sizeof(int) };

typedef struct {
    int first;              /* position in the genome of the first character here */
    int starts;             /* matches begin at one of so many; those behind are of the next part */
    int bases;              /* characters here, LENGTH - 1 of them the next part's, too */
    int mismatches;         /* at most that many make a match */
    int buckets[WORDS + 1]; /* where among the places those of a seed begin */
    _Alignas(uint64_t) unsigned char contents[]; /* its characters, and the places of each seed */
} Part;

/* Where part `number` of `parts` lies in a genome of `length` characters; without its contents. */
Part part_outline(int length, int number, int parts);

/* Its size with its contents. A multiple of a word's. */
size_t part_bytes(const Part *outline);

/* Fills in a part in place, of memory of part_bytes(outline). */
void part_build(Part *part, const Part *outline, const char *genome, int mismatches);

/* Looks for all matches of the query's LENGTH characters, on both strands. */
void part_search(const Part *part, const char *query, Answer *answer);

/* An answer without matches. */
Answer answer_empty(void);

/* Adds what was found. */
void answer_add(Answer *answer, const Match *match);
void answer_merge(Answer *answer, const Answer *other);

/* A, C, G, T as 0 to 3; anything else, which matches nothing, as -1. */
int base_code(char base);

void reverse_complement(const char *query, char *reversed);

#endif
