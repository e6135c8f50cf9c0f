/* SPDX-License-Identifier: BSD-3-Clause */
#include "lu_ring.h"

#include <stddef.h>
#include <stdlib.h>

/* The `count` ranks at distance step, 2 step, ... from this one, with wrap-around. */
static MPI_Group neighbours(const Plan *plan, MPI_Group all, int step, int count)
{
    int *ranks = malloc((size_t)count * sizeof *ranks);
    MPI_Group group;
    for (int i = 0; i < count; i++) {
        ranks[i] = (plan->rank + (step > 0 ? i + 1 : plan->ranks - 1 - i)) % plan->ranks;
    }
    MPI_Group_incl(all, count, ranks, &group);
    free(ranks);
    return group;
}

static void create_groups(Ring *ring, MPI_Comm comm)
{
    const Plan *plan = ring->plan;
    size_t bytes = (size_t)plan->ranks * sizeof(MPI_Group);
    MPI_Group all;
    MPI_Comm_group(comm, &all);
    ring->one = malloc(bytes);
    ring->after = malloc(bytes);
    ring->before = malloc(bytes);
    for (int rank = 0; rank < plan->ranks; rank++) {
        MPI_Group_incl(all, 1, &rank, &ring->one[rank]);
    }
    for (int count = 1; count < plan->ranks; count++) {
        ring->after[count] = neighbours(plan, all, 1, count);
        ring->before[count] = neighbours(plan, all, -1, count);
    }
    MPI_Group_free(&all);
}

Ring ring_create(const Plan *plan, int cells, MPI_Info info, MPI_Comm comm)
{
    Ring ring = {.plan = plan, .cells = cells, .buffer = ring_slots - 1};
    size_t bytes = (size_t)ring_slots * (size_t)cells * sizeof(double);
    MPI_Win_allocate((MPI_Aint)bytes, sizeof(double), info, comm, &ring.slots, &ring.win);
    ring.buffers = malloc(bytes);
    create_groups(&ring, comm);
    return ring;
}

void ring_free(Ring *ring)
{
    for (int rank = 0; rank < ring->plan->ranks; rank++) {
        MPI_Group_free(&ring->one[rank]);
    }
    for (int count = 1; count < ring->plan->ranks; count++) {
        MPI_Group_free(&ring->after[count]);
        MPI_Group_free(&ring->before[count]);
    }
    free(ring->one);
    free(ring->after);
    free(ring->before);
    free(ring->buffers);
    MPI_Win_free(&ring->win);
}

static double *buffer(const Ring *ring)
{
    return ring->buffers + (ptrdiff_t)ring->buffer * ring->cells;
}

double *ring_next_buffer(Ring *ring)
{
    ring->buffer = (ring->buffer + 1) % ring_slots;
    return buffer(ring);
}

const double *ring_slot(const Ring *ring, int message)
{
    return ring->slots + (ptrdiff_t)(message % ring_slots) * ring->cells;
}

void ring_expose(const Ring *ring, int message)
{
    MPI_Win_post(ring->one[plan_owner(ring->plan, message)], 0, ring->win);
}

void ring_put(const Ring *ring, int message, int count)
{
    const Plan *plan = ring->plan;
    int readers = plan_reader_count(plan, message);
    MPI_Group *group = plan_is_elimination(plan, message) ? ring->after : ring->before;
    MPI_Aint slot = (MPI_Aint)(message % ring_slots) * ring->cells;
    MPI_Win_start(group[readers], 0, ring->win);
    for (int i = 0; i < readers; i++) {
        MPI_Put(buffer(ring), count, MPI_DOUBLE, plan_reader(plan, message, i), slot, count,
                MPI_DOUBLE, ring->win);
    }
}
