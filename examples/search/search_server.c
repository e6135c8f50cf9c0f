/* SPDX-License-Identifier: BSD-3-Clause */
/* The queries go to the parts, as messages to a thread of each rank that waits for them. */
#include "search_way.h"

#include <pthread.h>
#include <stdlib.h>

enum { QUESTION = 1, ANSWER };

const char *const way_name = "search_server";
const int way_threads = MPI_THREAD_MULTIPLE;

struct Way {
    Job job;
    MPI_Comm comm;
    Part *part;
    pthread_t server;
    Answer *answers; /* of one part after the other */
    MPI_Request *requests;
    int room; /* in each */
};

/* Answers each batch of queries; one of none ends it. */
static void *serve(void *argument)
{
    const Way *const way = argument;
    const int batch = way->job.batch;
    char *const queries = malloc((size_t)batch * LENGTH);
    Answer *const answers = malloc((size_t)batch * sizeof *answers);
    for (;;) {
        MPI_Status status;
        int bytes = 0;
        MPI_Recv(queries, batch * LENGTH, MPI_CHAR, MPI_ANY_SOURCE, QUESTION, way->comm, &status);
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        if (bytes == 0) {
            break;
        }
        const int count = bytes / LENGTH;
        for (int i = 0; i < count; ++i) {
            part_search(way->part, queries + (size_t)i * LENGTH, &answers[i]);
        }
        MPI_Send(answers, count * ANSWER_INTS, MPI_INT, status.MPI_SOURCE, ANSWER, way->comm);
    }
    free(queries);
    free(answers);
    return NULL;
}

Way *way_create(const Job *job)
{
    Way *const way = calloc(1, sizeof *way);
    const Part outline = part_outline(job->length, job->rank, job->ranks);
    way->job = *job;
    way->part = malloc(part_bytes(&outline));
    part_build(way->part, &outline, job->genome, job->mismatches);
    MPI_Comm_dup(MPI_COMM_WORLD, &way->comm);
    pthread_create(&way->server, NULL, serve, way);
    return way;
}

/* Room for so many answers of each rank, and for the requests of all batches. */
static void make_room(Way *way, int count)
{
    if (count > way->room) {
        const size_t batches = (size_t)(count + way->job.batch - 1) / (size_t)way->job.batch;
        const size_t ranks = (size_t)way->job.ranks;
        way->room = count;
        way->answers = realloc(way->answers, ranks * (size_t)count * sizeof *way->answers);
        way->requests = realloc(way->requests, 2 * ranks * batches * sizeof *way->requests);
    }
}

/* Sends all of them to that rank, and is ready for its answers. Returns the next free request. */
static MPI_Request *ask(Way *way, int target, const char *queries, int count, MPI_Request *request)
{
    const int batch = way->job.batch;
    Answer *const there = way->answers + (size_t)target * (size_t)way->room;
    for (int first = 0; first < count; first += batch) {
        const int some = count - first < batch ? count - first : batch;
        MPI_Irecv(there + first, some * ANSWER_INTS, MPI_INT, target, ANSWER, way->comm, request++);
        MPI_Isend(queries + (size_t)first * LENGTH, some * LENGTH, MPI_CHAR, target, QUESTION,
                  way->comm, request++);
    }
    return request;
}

/* Looks into the own part while the others do so in theirs. */
void way_search(Way *way, const char *queries, int count, Answer *answers)
{
    const Job *const job = &way->job;
    make_room(way, count);
    MPI_Request *end = way->requests;
    for (int next = 1; next < job->ranks; ++next) {
        end = ask(way, (job->rank + next) % job->ranks, queries, count, end);
    }
    for (int i = 0; i < count; ++i) {
        part_search(way->part, queries + (size_t)i * LENGTH, &answers[i]);
    }
    MPI_Waitall((int)(end - way->requests), way->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) {
        for (int target = 0; target < job->ranks; ++target) {
            if (target != job->rank) {
                answer_merge(&answers[i],
                             &way->answers[(size_t)target * (size_t)way->room + (size_t)i]);
            }
        }
    }
}

/* After all have their answers. */
void way_destroy(Way *way)
{
    MPI_Barrier(way->comm);
    MPI_Send(NULL, 0, MPI_CHAR, way->job.rank, QUESTION, way->comm);
    pthread_join(way->server, NULL);
    MPI_Comm_free(&way->comm);
    free(way->part);
    free(way->answers);
    free(way->requests);
    free(way);
}
