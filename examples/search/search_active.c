/* SPDX-License-Identifier: BSD-3-Clause */
/* The queries go to the parts, as active messages. Nothing here is done for those of others. */
#include "search_way.h"

#include <sidelight.h>
#include <stdlib.h>

const char *const way_name = "search_active";
const int way_threads = MPI_THREAD_SINGLE;

struct Way {
    Job job;
    MPI_Win win;
    MPI_Op op;
    void *buffer;    /* for the questions of others and their answers */
    Answer *answers; /* of one part after the other */
    int room;        /* in each */
};

enum { BUFFER = 1 << 18 };

/* The handler. A segment is a query; it only reads the part. */
static void search_segments(void *input, int input_count, MPI_Datatype input_type, void *part,
                            int part_count, MPI_Datatype part_type, void *output, int output_count,
                            MPI_Datatype output_type, int segments, int offset)
{
    (void)input_type, (void)part_count, (void)part_type, (void)output_type, (void)offset;
    for (int i = 0; i < segments; ++i) {
        const char *const query = (const char *)input + (size_t)i * (size_t)input_count;
        int *const answer = (int *)output + (size_t)i * (size_t)output_count;
        part_search(part, query, (Answer *)answer);
    }
}

Way *way_create(const Job *job)
{
    Way *const way = calloc(1, sizeof *way);
    const Part outline = part_outline(job->length, job->rank, job->ranks);
    Part *part = NULL;
    way->job = *job;
    MPI_Win_allocate((MPI_Aint)part_bytes(&outline), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part,
                     &way->win);
    part_build(part, &outline, job->genome, job->mismatches);
    MPIX_Am_op_create(search_segments, &way->op);
    MPIX_Am_win_op_register(way->op, way->win);
    way->buffer = malloc(BUFFER);
    MPIX_Am_win_buffer_attach(way->buffer, BUFFER, way->win);
    MPI_Barrier(MPI_COMM_WORLD); /* all parts are there */
    MPI_Win_lock_all(MPIX_MODE_CONCURRENT_AM, way->win);
    return way;
}

static void ask(Way *way, int target, const char *queries, int count, Answer *answers)
{
    const Part outline = part_outline(way->job.length, target, way->job.ranks);
    MPIX_Am(queries, LENGTH, MPI_CHAR, answers, ANSWER_INTS, MPI_INT, count, target, MPI_CHAR, 0,
            (int)part_bytes(&outline), MPI_BYTE, MPI_INT, way->op, way->win);
}

/* To all other ranks first: they search while this one does so in its own part. */
void way_search(Way *way, const char *queries, int count, Answer *answers)
{
    const Job *const job = &way->job;
    if (count > way->room) {
        way->room = count;
        way->answers = realloc(way->answers, (size_t)job->ranks * (size_t)count * sizeof(Answer));
    }
    for (int next = 1; next <= job->ranks; ++next) {
        const int target = (job->rank + next) % job->ranks;
        Answer *const there = way->answers + (size_t)target * (size_t)way->room;
        for (int first = 0; first < count; first += job->batch) {
            const int some = count - first < job->batch ? count - first : job->batch;
            ask(way, target, queries + (size_t)first * LENGTH, some, there + first);
        }
    }
    MPI_Win_flush_all(way->win);
    for (int i = 0; i < count; ++i) {
        answers[i] = answer_empty();
        for (int target = 0; target < job->ranks; ++target) {
            answer_merge(&answers[i],
                         &way->answers[(size_t)target * (size_t)way->room + (size_t)i]);
        }
    }
}

void way_destroy(Way *way)
{
    MPI_Win_unlock_all(way->win);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody asks any more */
    MPIX_Am_win_buffer_detach(way->win);
    MPI_Op_free(&way->op);
    MPI_Win_free(&way->win);
    free(way->buffer);
    free(way->answers);
    free(way);
}
