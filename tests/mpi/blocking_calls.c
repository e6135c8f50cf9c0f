/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is pending moves on in whatever blocking call its process sits. Rank 1 has an epoch that
 * waits for a lock and enters a call that ends when rank 0 comes; rank 0 comes when that epoch has
 * been granted, performed and ended, which needs rank 1.
 */
#include "windows.h"
#include <sidelight.h>

enum { CELLS = 8, TAG = 5 };

static MPI_Comm world; /* of these two ranks */
static struct window order;
static int64_t seen;

static void receive(int rank)
{
    int64_t const value = 3;
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT64_T, 1, TAG, world);
    else
        MPI_Recv(&seen, 1, MPI_INT64_T, 0, TAG, world, MPI_STATUS_IGNORE);
}

static void synchronous_send(int rank)
{
    if (rank == 0)
        MPI_Recv(&seen, 1, MPI_INT64_T, 1, TAG, world, MPI_STATUS_IGNORE);
    else
        MPI_Ssend(&seen, 1, MPI_INT64_T, 0, TAG, world);
}

static void send_and_receive(int rank)
{
    int64_t mine = rank, other = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT64_T, 1 - rank, TAG, &other, 1, MPI_INT64_T, 1 - rank, TAG, world,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&mine, 1, MPI_INT64_T, 1 - rank, TAG, 1 - rank, TAG, world,
                         MPI_STATUS_IGNORE);
    CHECK_EQ(other, 1 - rank);
    CHECK_EQ(mine, 1 - rank);
}

static void probe(int rank)
{
    if (rank == 1)
        MPI_Probe(0, TAG, world, MPI_STATUS_IGNORE);
    receive(rank);
}

static void matched_probe(int rank)
{
    if (rank == 1) {
        MPI_Message message;
        MPI_Mprobe(0, TAG, world, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&seen, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE);
    } else {
        receive(rank);
    }
}

/* Rank 1 has two receives pending, of which one has a message. */
static void with_requests(int rank, void (*wait)(MPI_Request *requests))
{
    if (rank == 1) {
        MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Irecv(&seen, 1, MPI_INT64_T, 0, TAG, world, &r[1]);
        wait(r);
        CHECK(r[1] == MPI_REQUEST_NULL);
    } else {
        receive(rank);
    }
}

static void wait_one(MPI_Request *r) { MPI_Wait(&r[1], MPI_STATUS_IGNORE); }
static void wait_all(MPI_Request *r) { MPI_Waitall(2, r, MPI_STATUSES_IGNORE); }

static void wait_any(MPI_Request *r)
{
    int index = -1;
    MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    CHECK_EQ(index, 1);
}

static void wait_some(MPI_Request *r)
{
    int count = -1, indices[2] = {-1, -1};
    MPI_Waitsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
    CHECK_EQ(count, 1);
}

static void call_wait(int rank) { with_requests(rank, wait_one); }
static void call_wait_all(int rank) { with_requests(rank, wait_all); }
static void call_wait_any(int rank) { with_requests(rank, wait_any); }
static void call_wait_some(int rank) { with_requests(rank, wait_some); }

static void persistent(int rank)
{
    if (rank == 1) {
        MPI_Request r;
        MPI_Recv_init(&seen, 1, MPI_INT64_T, 0, TAG, world, &r);
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Request_free(&r);
    } else {
        receive(rank);
    }
}

static void barrier(int rank)
{
    (void)rank;
    MPI_Barrier(world);
}

static void broadcast(int rank)
{
    (void)rank;
    MPI_Bcast(&seen, 1, MPI_INT64_T, 0, world);
}

static void reduce(int rank)
{
    int64_t const one = 1;
    int64_t sum = 0;
    MPI_Reduce(&one, &sum, 1, MPI_INT64_T, MPI_SUM, 1, world);
    CHECK_EQ(sum, rank == 1 ? 2 : 0);
}

static void reduce_to_all(int rank)
{
    int64_t sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, world);
    CHECK_EQ(sum, 1);
}

static void gather_and_scatter(int rank)
{
    int64_t mine = rank, all[2] = {-1, -1};
    MPI_Gather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, 1, world);
    MPI_Scatter(all, 1, MPI_INT64_T, &mine, 1, MPI_INT64_T, 1, world);
    CHECK_EQ(mine, rank);
    MPI_Allgather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, world);
    CHECK_EQ(all[1 - rank], 1 - rank);
}

static void all_to_all(int rank)
{
    int64_t const mine[2] = {rank, rank};
    int64_t all[2] = {-1, -1};
    MPI_Alltoall(mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, world);
    CHECK_EQ(all[1 - rank], 1 - rank);
}

static void scans(int rank)
{
    int64_t const one = 1;
    int64_t sum = 0;
    MPI_Scan(&one, &sum, 1, MPI_INT64_T, MPI_SUM, world);
    CHECK_EQ(sum, rank + 1);
}

static void new_communicators(int rank)
{
    MPI_Comm copy, part, between, merged;
    MPI_Comm_dup(world, &copy);
    MPI_Comm_split(copy, rank, 0, &part);
    MPI_Intercomm_create(part, 0, copy, 1 - rank, TAG, &between);
    MPI_Intercomm_merge(between, rank, &merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
}

static void nonblocking_barrier(int rank)
{
    MPI_Request r;
    (void)rank;
    MPI_Ibarrier(world, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* A number that no other job has: the nodes of several jobs may share /tmp, and each counts
 * processes by itself. */
static uint64_t draw_number(void)
{
    uint64_t number = 0;
    FILE *const source = fopen("/dev/urandom", "rb");
    CHECK(source != NULL && fread(&number, sizeof number, 1, source) == 1);
    if (source != NULL)
        fclose(source);
    return number;
}

static void file(int rank)
{
    char name[64];
    int64_t const value = rank;
    uint64_t number = rank == 0 ? draw_number() : 0;
    MPI_File handle;
    MPI_Bcast(&number, 1, MPI_UINT64_T, 0, world);
    snprintf(name, sizeof name, "/tmp/blocking_calls.%llx", (unsigned long long)number);
    int const opened =
        MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &handle);
    CHECK_OK(opened);
    if (opened != MPI_SUCCESS)
        return;
    MPI_File_write_at_all(handle, 8 * rank, &value, 1, MPI_INT64_T, MPI_STATUS_IGNORE);
    MPI_File_close(&handle);
}

static const struct {
    const char *name;
    void (*call)(int rank);
} calls[] = {
    {"receive", receive},
    {"synchronous send", synchronous_send},
    {"send and receive", send_and_receive},
    {"probe", probe},
    {"matched probe", matched_probe},
    {"wait", call_wait},
    {"wait for all", call_wait_all},
    {"wait for any", call_wait_any},
    {"wait for some", call_wait_some},
    {"persistent receive", persistent},
    {"barrier", barrier},
    {"broadcast", broadcast},
    {"reduce", reduce},
    {"allreduce", reduce_to_all},
    {"gather and scatter", gather_and_scatter},
    {"alltoall", all_to_all},
    {"scan", scans},
    {"new communicators", new_communicators},
    {"nonblocking barrier", nonblocking_barrier},
    {"file", file},
};

static void through(struct window *w, void (*call)(int rank), int64_t number)
{
    MPI_Request opening, closing;
    if (w->rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        check_tell(1);
        check_hear(1); /* it stands in the queue behind this lock */
        CHECK_OK(MPI_Win_unlock(0, w->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win)); /* behind that of rank 1 */
        CHECK_EQ(window_cell(w, 0), number);
        CHECK_OK(MPI_Win_unlock(0, w->win));
        call(0);
    } else {
        check_hear(0);
        CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win, &opening));
        CHECK_OK(MPI_Request_free(&opening));
        CHECK_OK(MPI_Put(&number, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w->win));
        CHECK_OK(MPIX_Win_iunlock(0, w->win, &closing));
        window_arrive(&order, 0);
        check_tell(0);
        call(1);
        CHECK_OK(MPI_Wait(&closing, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    struct window w;
    check_begin(&argc, &argv);
    world = MPI_COMM_WORLD;
    w = window_open(FLAVOR_ALLOCATE, world, 8 * CELLS, 8);
    order = window_open_order(world);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        check_step(calls[i].name);
        through(&w, calls[i].call, (int64_t)i + 1);
    }
    window_close_order(&order);
    window_close(&w);
    return check_end();
}
