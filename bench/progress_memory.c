/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process takes of memory (P4, 4.5 and 5.4.3): after each rank has put to and sent to the
 * next one, VmRSS without what is mapped from files, in kilobytes, mean of all ranks; and all of
 * it.
 *
 *     progress_memory [--quick] [LINE...]
 *
 * The line is `memory`.
 */
#define _GNU_SOURCE
#include "overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 20, EXCHANGES = 20 };
enum { OWN, ALL, FIGURES };

static const char *const figures[FIGURES] = {"own", "all"};

/* Of this process, in kilobytes. Counted anew by the kernel, where VmRSS may be some pages old. */
static void read_memory(double *values)
{
    char line[256];
    FILE *const file = fopen("/proc/self/smaps_rollup", "r");
    values[OWN] = 0;
    values[ALL] = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Anonymous:", 10) == 0) {
            values[OWN] = atof(line + 10);
        } else if (strncmp(line, "Rss:", 4) == 0) {
            values[ALL] = atof(line + 4);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void exchange(const struct Job *job, char *out, char *in, MPI_Win win)
{
    MPI_Request requests[2];
    const int next = (job->rank + 1) % job->ranks;
    const int last = (job->rank + job->ranks - 1) % job->ranks;
    MPI_Irecv(in, BYTES, MPI_BYTE, last, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, BYTES, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[1]);
    work_for(&job->work, 500);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(out, BYTES, MPI_BYTE, next, 0, BYTES, MPI_BYTE, win);
    MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
    const struct Job job = begin_job(&argc, &argv);
    double mine[FIGURES];
    double sums[FIGURES];
    void *memory;
    MPI_Win win;
    if (begin_job_line(&job, "memory")) {
        char *const out = calloc(1, BYTES);
        char *const in = calloc(1, BYTES);
        memset(out, 1, BYTES);
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        memset(memory, 0, BYTES);
        for (int i = 0; i < EXCHANGES; ++i) {
            exchange(&job, out, in, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        read_memory(mine);
        MPI_Reduce(mine, sums, FIGURES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        for (int i = 0; i < FIGURES; ++i) {
            sums[i] /= job.ranks;
        }
        print_job_line(&job, "memory", figures, sums, FIGURES);
        MPI_Win_free(&win);
        free(out);
        free(in);
    }
    end_job();
    return 0;
}
