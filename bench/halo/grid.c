/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"

#include <stdlib.h>

struct Halo halo_create(void)
{
    struct Halo halo = {.edges = calloc(SIDES, LARGEST_EDGE)};
    int ranks = 0;
    int dimensions[2] = {0, 0};
    const int periodic[2] = {0, 0};
    int several[SIDES];
    int count = 0;
    MPI_Group all;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dimensions);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periodic, 0, &halo.grid);
    MPI_Cart_shift(halo.grid, 0, 1, &halo.neighbours[0], &halo.neighbours[1]);
    MPI_Cart_shift(halo.grid, 1, 1, &halo.neighbours[2], &halo.neighbours[3]);
    for (int side = 0; side < SIDES; ++side) {
        if (halo.neighbours[side] != MPI_PROC_NULL) {
            several[count++] = halo.neighbours[side];
        }
    }
    MPI_Comm_group(halo.grid, &all);
    MPI_Group_incl(all, count, several, &halo.group);
    MPI_Group_free(&all);
    for (int turn = 0; turn < TURNS; ++turn) {
        MPI_Win_allocate((MPI_Aint)SIDES * LARGEST_EDGE, 1, MPI_INFO_NULL, halo.grid,
                         &halo.places[turn], &halo.wins[turn]);
    }
    return halo;
}

void halo_free(struct Halo *halo)
{
    for (int turn = 0; turn < TURNS; ++turn) {
        MPI_Win_free(&halo->wins[turn]);
    }
    MPI_Group_free(&halo->group);
    MPI_Comm_free(&halo->grid);
    free(halo->edges);
}
