/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts come to the queries: each batch gets each part and searches in the copy, while the next
 * one is on its way. A batch of all queries gets each part once.
 */
#include "search_way.h"

#include <stdbool.h>
#include <stdlib.h>

const char *const way_name = "search_get";
const int way_threads = MPI_THREAD_SINGLE;

struct Way {
    Job job;
    MPI_Win win;
    Part *own;
    Part *copies[2];
};

Way *way_create(const Job *job)
{
    Way *const way = calloc(1, sizeof *way);
    const Part outline = part_outline(job->length, job->rank, job->ranks);
    size_t largest = 0;
    way->job = *job;
    MPI_Win_allocate((MPI_Aint)part_bytes(&outline), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &way->own,
                     &way->win);
    part_build(way->own, &outline, job->genome, job->mismatches);
    for (int rank = 0; rank < job->ranks; ++rank) {
        const Part other = part_outline(job->length, rank, job->ranks);
        largest = part_bytes(&other) > largest ? part_bytes(&other) : largest;
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Alloc_mem((MPI_Aint)largest, MPI_INFO_NULL, &way->copies[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, way->win);
    return way;
}

/* The ranks in turn for each batch, the own one last; `step` counts both. */
static int target_of(const Job *job, int step) { return (job->rank + 1 + step) % job->ranks; }

/* Begins to get the part that the step needs, if it is another rank's. */
static MPI_Request begin_get(const Way *way, int step)
{
    const int target = target_of(&way->job, step % way->job.ranks);
    MPI_Request request = MPI_REQUEST_NULL;
    if (target != way->job.rank) {
        const Part outline = part_outline(way->job.length, target, way->job.ranks);
        const int bytes = (int)part_bytes(&outline);
        MPI_Rget(way->copies[step % 2], bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, way->win,
                 &request);
    }
    return request;
}

static const Part *part_of(const Way *way, int step)
{
    const bool own = target_of(&way->job, step % way->job.ranks) == way->job.rank;
    return own ? way->own : way->copies[step % 2];
}

void way_search(Way *way, const char *queries, int count, Answer *answers)
{
    const Job *const job = &way->job;
    const int steps = (count + job->batch - 1) / job->batch * job->ranks;
    for (int i = 0; i < count; ++i) {
        answers[i] = answer_empty();
    }
    MPI_Request coming = steps > 0 ? begin_get(way, 0) : MPI_REQUEST_NULL;
    for (int step = 0; step < steps; ++step) {
        MPI_Wait(&coming, MPI_STATUS_IGNORE);
        if (step + 1 < steps) {
            coming = begin_get(way, step + 1);
        }
        const int first = step / job->ranks * job->batch;
        const int end = first + job->batch < count ? first + job->batch : count;
        for (int i = first; i < end; ++i) {
            Answer found;
            part_search(part_of(way, step), queries + (size_t)i * LENGTH, &found);
            answer_merge(&answers[i], &found);
        }
    }
}

void way_destroy(Way *way)
{
    MPI_Win_unlock_all(way->win);
    MPI_Win_free(&way->win);
    MPI_Free_mem(way->copies[0]);
    MPI_Free_mem(way->copies[1]);
    free(way);
}
