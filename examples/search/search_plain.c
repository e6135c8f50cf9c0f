/* SPDX-License-Identifier: BSD-3-Clause */
/* No parts, no index and nobody to ask: to be run by one process, as what the others must find. */
#include "search_check.h"
#include "search_way.h"

#include <stdlib.h>
#include <string.h>

const char *const way_name = "search_plain";
const int way_threads = MPI_THREAD_SINGLE;

struct Way {
    Input input; /* the genome alone */
    int mismatches;
};

Way *way_create(const Job *job)
{
    Way *const way = calloc(1, sizeof *way);
    way->input.length = job->length;
    way->input.genome = malloc((size_t)job->length);
    memcpy(way->input.genome, job->genome, (size_t)job->length);
    way->mismatches = job->mismatches;
    return way;
}

void way_search(Way *way, const char *queries, int count, Answer *answers)
{
    for (int i = 0; i < count; ++i) {
        answers[i] = plain_search(&way->input, queries + (size_t)i * LENGTH, way->mismatches);
    }
}

void way_destroy(Way *way)
{
    input_free(&way->input);
    free(way);
}
