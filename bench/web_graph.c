/* SPDX-License-Identifier: BSD-3-Clause */
#include "web_graph.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LINE_LENGTH = 1024, CHUNK = 1 << 16 };

static void fail(const char *path, MPI_Comm comm)
{
    fprintf(stderr, "%s: not a pattern in Matrix Market's format that can be read\n", path);
    MPI_Abort(comm, 2);
}

/* The first line that is not a comment; false at the end of the file. */
static bool next_line(gzFile file, char line[LINE_LENGTH])
{
    while (gzgets(file, line, LINE_LENGTH)) {
        if (line[0] != '%') {
            return true;
        }
    }
    return false;
}

/* Opens the file behind its header; size is pages, pages, links. Null where it is no such file. */
static gzFile open_file(const char *path, int size[3])
{
    char line[LINE_LENGTH] = "";
    gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    gzbuffer(file, 1 << 17);
    if (gzgets(file, line, LINE_LENGTH) == NULL ||
        strstr(line, "%%MatrixMarket matrix coordinate pattern general") != line ||
        !next_line(file, line) || sscanf(line, "%d %d %d", &size[0], &size[1], &size[2]) != 3 ||
        size[0] != size[1] || size[0] < 1 || size[2] < 1) {
        gzclose(file);
        return NULL;
    }
    return file;
}

static bool read_links(gzFile file, int pages, int *pairs, int count)
{
    char line[LINE_LENGTH];
    for (int i = 0; i < count; ++i) {
        int *const pair = pairs + 2 * i;
        if (!next_line(file, line) || sscanf(line, "%d %d", &pair[0], &pair[1]) != 2 ||
            pair[0] < 1 || pair[0] > pages || pair[1] < 1 || pair[1] > pages) {
            return false;
        }
    }
    return true;
}

/* Those of the pairs that leave this process's pages. */
static void keep_own(struct WebGraph *graph, int rank, const int *pairs, int count)
{
    for (int i = 0; i < count; ++i) {
        if ((pairs[2 * i] - 1) / graph->block == rank) {
            graph->from[graph->links] = pairs[2 * i] - 1;
            graph->to[graph->links++] = pairs[2 * i + 1] - 1;
        }
    }
}

/* Brings the links into the order of the pages that they leave. */
static void sort_by_page(struct WebGraph *graph, int rank)
{
    const int first = rank * graph->block;
    const size_t bytes = (size_t)(graph->links + 1) * sizeof(int);
    int *const places = calloc((size_t)graph->block + 1, sizeof *places);
    int *const from = malloc(bytes);
    int *const to = malloc(bytes);
    graph->degrees = calloc((size_t)graph->block, sizeof *graph->degrees);
    for (int i = 0; i < graph->links; ++i) {
        ++graph->degrees[graph->from[i] - first];
    }
    for (int page = 0; page < graph->block; ++page) {
        places[page + 1] = places[page] + graph->degrees[page];
    }
    for (int i = 0; i < graph->links; ++i) {
        const int place = places[graph->from[i] - first]++;
        from[place] = graph->from[i];
        to[place] = graph->to[i];
    }
    free(places);
    free(graph->from);
    free(graph->to);
    graph->from = from;
    graph->to = to;
}

struct WebGraph web_graph_read(const char *path, MPI_Comm comm)
{
    struct WebGraph graph = {0};
    int size[3] = {0};
    int rank = 0;
    int ranks = 0;
    gzFile file = NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank == 0 && (file = open_file(path, size)) == NULL) {
        fail(path, comm);
    }
    MPI_Bcast(size, 3, MPI_INT, 0, comm);
    graph.pages = size[0];
    graph.block = (graph.pages + ranks - 1) / ranks;
    graph.from = malloc((size_t)size[2] * sizeof *graph.from);
    graph.to = malloc((size_t)size[2] * sizeof *graph.to);
    int *const pairs = malloc(2 * CHUNK * sizeof *pairs);
    for (int left = size[2]; left > 0;) {
        const int count = left < CHUNK ? left : CHUNK;
        if (rank == 0 && !read_links(file, graph.pages, pairs, count)) {
            fail(path, comm);
        }
        MPI_Bcast(pairs, 2 * count, MPI_INT, 0, comm);
        keep_own(&graph, rank, pairs, count);
        left -= count;
    }
    if (file != NULL) {
        gzclose(file);
    }
    free(pairs);
    sort_by_page(&graph, rank);
    return graph;
}

void web_graph_free(struct WebGraph *graph)
{
    free(graph->from);
    free(graph->to);
    free(graph->degrees);
}
