/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages of the paper's two kinds, and others that are measured with them. */
#ifndef BENCH_AM_WORKLOAD_H
#define BENCH_AM_WORKLOAD_H

#include <mpi.h>
#include <stdbool.h>

enum Work {
    SEARCH,   /* 100 segments: 20 characters are looked for, and sent back where they are there */
    ABSOLUTE, /* 100 segments: sums of absolute values, of 100 integers each */
    LARGE,    /* 10 segments of 1,200 integers: more than the internal buffer holds */
    EMPTY,    /* one segment of 8 bytes each way, and nothing is done */
    WORKS
};

/* What a window for them is made with. */
struct Wishes {
    const char *ordering; /* am_ordering; NULL: the default */
    long buffer;          /* bytes that the target attaches; 0: none */
};

/* A window whose last rank is the target of the others. */
struct Workload {
    MPI_Win win;
    MPI_Op ops[WORKS];
    int rank;
    int ranks;
    int target;
    const char *memory; /* the target's has the same contents */
    char *buffer;       /* attached */
    char *input;
    /* What comes back, message behind message, until it is looked at; zeros from `used` on. */
    char *output;
    long used;
    unsigned char *works; /* what each of these messages is */
    int count;
    char *answers[WORKS]; /* what must come back */
    bool right;           /* so far all of it was */
    double looking;       /* microseconds that were spent on that */
};

/* What the handlers of this process have counted. */
struct Counts {
    double microseconds; /* inside: so many calls of median length */
    double calls;
    double segments;
    double in_buffer; /* of these, segments whose input lay in the attached buffer */
    double sent;      /* segments that this process has sent */
};

/* Collective. */
struct Workload workload_create(const struct Wishes *wishes);
void workload_free(struct Workload *workload);

/* Issues a message to the target, in an epoch that is open. When there is no more room for what
 * comes back it waits for all that are on their way, and looks at it. */
void workload_send(struct Workload *workload, enum Work work);
/* A message of EMPTY, and nothing beside the call: what takes nanoseconds is measured by it. */
void workload_send_empty(struct Workload *workload);

/* Looks at what came back for all messages since the last time, which are complete, and clears it.
 */
void workload_look(struct Workload *workload);

/* Whether handlers of EMPTY, which else do nothing at all, count themselves in this process. */
void count_empty(bool counted);

/* Collective: from zero. */
void counts_reset(void);

/* Collective: the sum over all ranks, in each, when no message is under way. */
struct Counts counts_sum(void);

#endif
