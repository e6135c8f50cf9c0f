/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known to be wrong in a host MPI, as data. An entry matters only where the host does the
 * work: when the program runs without Sidelight, or with SIDELIGHT_ENABLE=0. Found by running these
 * programs on the hosts alone.
 */
#ifndef SIDELIGHT_TESTS_HOST_DEFECTS_H
#define SIDELIGHT_TESTS_HOST_DEFECTS_H

#include "windows.h"
#include <dlfcn.h>

struct host_defect {
    const char *host;
    const char *test; /* NULL: any test, on windows of one rank */
    unsigned flavors; /* a bit for each flavour */
    const char *reason;
};

enum {
    ON_ALLOCATE = 1 << FLAVOR_ALLOCATE,
    ON_CREATE = 1 << FLAVOR_CREATE,
    ON_DYNAMIC = 1 << FLAVOR_DYNAMIC,
    ON_OWN_MEMORY = ON_CREATE | ON_DYNAMIC,
    ON_ANY = (1 << FLAVORS) - 1
};

static const struct host_defect host_defects[] = {
    {"openmpi4", "reductions", ON_OWN_MEMORY, "logical operations are done bitwise"},
    {"openmpi5", "reductions", ON_OWN_MEMORY, "logical operations are done bitwise"},
    {"openmpi4", "operations", ON_ANY, "compare_and_swap crashes"},
    {"openmpi4", "atomicity", ON_ANY, "compare_and_swap crashes"},
    {"openmpi4", "ordering", ON_ANY, "compare_and_swap crashes"},
    {"openmpi4", "compare_and_swap", ON_ANY, "compare_and_swap crashes"},
    {"openmpi4", NULL, ON_OWN_MEMORY, "no windows on one rank"},
    {"openmpi4", "datatype_edges", ON_OWN_MEMORY, "accumulates of no bytes do not end"},
    {"openmpi5", "datatype_edges", ON_OWN_MEMORY, "accumulates of no bytes do not end"},
    {"openmpi4", "datatypes", ON_ANY, "accumulates refuse resized types"},
    {"openmpi5", "datatypes", ON_ANY, "accumulates refuse resized types"},
    {"mpich4", "operations", ON_ALLOCATE, "wrong target address if sizes are not multiples of 16"},
};

static inline bool host_is_alone(void)
{
    const char *const enabled = getenv("SIDELIGHT_ENABLE");
    return dlsym(RTLD_DEFAULT, "MPIX_Win_ifence") == NULL ||
           (enabled != NULL && strcmp(enabled, "0") == 0);
}

/* Why a test cannot be run on such windows here, or NULL if it can. */
static inline const char *host_defect(const char *test, enum flavor flavor, int ranks)
{
    size_t const count = sizeof host_defects / sizeof *host_defects;
    for (size_t i = 0; i < count && host_is_alone(); ++i) {
        const struct host_defect *const d = &host_defects[i];
        bool const applies = d->test == NULL ? ranks == 1 : strcmp(d->test, test) == 0;
        if (strcmp(d->host, CHECK_HOST) == 0 && applies && (d->flavors & 1u << flavor) != 0)
            return d->reason;
    }
    return NULL;
}

/* True, and said at rank 0, if a defect of the host keeps a test from being made. */
static inline bool host_is_defective(const char *test, enum flavor flavor, int ranks)
{
    const char *const reason = host_defect(test, flavor, ranks);
    if (reason != NULL && check_rank == 0)
        printf("left out: %s, %s on %d ranks: %s\n", test, flavor_names[flavor], ranks, reason);
    return reason != NULL;
}

/* The same, and for a host alone with memory that the program brings, in jobs of more than two
 * ranks: hosts crawl with more ranks than cores, and Open MPI 4 cannot make two windows at once on
 * disjoint communicators. */
static inline bool host_cannot(const char *test, enum flavor flavor, int ranks)
{
    return (check_size > 2 && (1u << flavor & ON_OWN_MEMORY) != 0 && host_is_alone()) ||
           host_is_defective(test, flavor, ranks);
}

/* Runs a test on a window of each flavour on the world, a reversed copy of it, its halves, and
 * each process alone. */
static inline void run_everywhere(const char *name, void (*test)(struct window *), MPI_Aint bytes,
                                  int unit)
{
    static const char *const comm_names[] = {"world", "reversed", "halves", "self"};
    static char step[64];
    MPI_Comm comms[4];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &comms[2]);
    MPI_Comm_dup(MPI_COMM_SELF, &comms[3]);
    for (int c = 0; c < 4; ++c) {
        int ranks;
        MPI_Comm_size(comms[c], &ranks);
        for (int flavor = 0; flavor < FLAVORS; ++flavor) {
            snprintf(step, sizeof step, "%s on %s", flavor_names[flavor], comm_names[c]);
            check_step(step);
            if (host_cannot(name, (enum flavor)flavor, ranks))
                continue;
            struct window w = window_open((enum flavor)flavor, comms[c], bytes, unit);
            test(&w);
            window_close(&w);
        }
        MPI_Comm_free(&comms[c]);
    }
}

#endif /* SIDELIGHT_TESTS_HOST_DEFECTS_H */
