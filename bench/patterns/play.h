/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pattern of patterns.c is a few roles, one for each process. What a role has while it is played,
 * and what it is made of.
 */
#ifndef BENCH_PATTERNS_PLAY_H
#define BENCH_PATTERNS_PLAY_H

#include "../epochs.h"
#include "../measure.h"

enum { MEGABYTE = 1 << 20, SLOTS = 2, MOST_ROLES = 4 };

/* Kinds of repetitions: someone is late or works; nobody is or does; what follows the epochs. */
enum Kind { LATE, PROMPT, ACTIVITY_ALONE, KINDS };

/* What is measured, each by one process: its epoch, what follows it, both; what the first and the
 * second of two processes or epochs take; what nobody shows. */
enum Figure { EPOCH, ACTIVITY, BOTH, FIRST, SECOND, OTHER, FIGURES };

/* What a process has while it plays its role. Times are microseconds of the common clock. */
struct Play {
    struct Epochs epochs;
    MPI_Comm comm; /* of the processes with a role, in the order of the roles */
    int rank;
    int bytes;    /* of a put */
    char *data;   /* of MEGABYTE, to be put or sent */
    char *arrive; /* likewise, to be received */
    bool sleeps;
    double delay; /* how long the one who is late or works is that */
    enum Kind kind;
    double agreed;           /* when all began this repetition */
    double start;            /* when this process's time began */
    double figures[FIGURES]; /* since the start; 0: not this process's */
};

typedef void Role(struct Play *play);

/* The figures of a pattern are measured by one process each. */
struct Pattern {
    const char *name;
    int bytes; /* of a put */
    Role *roles[MOST_ROLES];
    enum Figure victim; /* of the process that waits for the delay of another; FIGURES: nobody */
    const char *key;    /* the reorder key that lets go of the delay */
    bool fenced;        /* a fence opens the epoch before the start */
    bool activity;      /* what follows the epoch is measured alone, too */
};

extern const struct Pattern inefficiencies[]; /* figures 2 to 6; the last has no name */
extern const struct Pattern reordered[];      /* figures 7 to 11, likewise */

void sleep_until(double moment);

/* Works, or is late, for as long as the pattern says in this kind of repetition. */
void work(const struct Play *play);

/* Work inside an epoch, which standard calls close after it and nonblocking ones before it. */
void work_before_closing(const struct Play *play);
void work_after_closing(const struct Play *play);

/* The figure is the time until now, or until the epoch that was closed as number `which` was
 * complete. */
void record(struct Play *play, enum Figure figure);
void record_done(struct Play *play, enum Figure figure, int which);

void put(const struct Play *play, int target, int slot);

/* Epochs with one put, or with one origin. */
void access_target(struct Play *play, int target, int slot);
void expose_to(struct Play *play, int origin);
void lock_and_put(struct Play *play, int target, int slot);

/* An empty message: who waits for it goes on when another has opened its epoch. */
void tell(const struct Play *play, int role);
void wait_for(const struct Play *play, int role);

/* The role of a target that is asked for locks: it sits in the barrier behind each repetition. */
void wait_passively(struct Play *play);

#endif
