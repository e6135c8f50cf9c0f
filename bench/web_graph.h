/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directed graph of pages, as every process holds its part: the links that leave its own pages.
 * Pages are in blocks of equal length by rank.
 */
#ifndef BENCH_WEB_GRAPH_H
#define BENCH_WEB_GRAPH_H

#include <mpi.h>

struct WebGraph {
    int pages;    /* all of them */
    int block;    /* of each process; the last ones may have fewer */
    int links;    /* of this process's pages, in the order of these */
    int *from;    /* [link] */
    int *to;      /* [link] */
    int *degrees; /* [page of this process] links that leave it */
};

/* Collective. Rank 0 reads the file (Matrix Market, coordinate pattern general, plain or gzip): an
 * entry is a link from the page of its row to that of its column. A file that cannot be read ends
 * the job with a message. */
struct WebGraph web_graph_read(const char *path, MPI_Comm comm);
void web_graph_free(struct WebGraph *graph);

#endif
