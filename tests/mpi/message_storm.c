/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in random order, by several threads at once that wait in every way, while another thread
 * looks after the large ones.
 *
 *     message_storm [MESSAGES [THREADS]]     of each rank
 */
#include "check.h"

#include <pthread.h>

enum { WINDOW = 12, MOST_BYTES = 60000, MOST_THREADS = 8 };

struct job {
    int thread;
    int messages;
};

static int threads = 4;

/* The same in sender and receiver. */
static int length_of(int thread, int from, int number)
{
    uint64_t state = (uint64_t)((thread * 7 + from) * 1000003 + number);
    const uint64_t drawn = check_random(&state);
    return (int)((drawn >> 8) % (drawn % 4 == 0 ? MOST_BYTES : 64));
}

static char mark_of(int thread, int from, int number)
{
    return (char)(thread * 31 + from * 7 + number);
}

struct slot {
    char *data;
    int number;
    bool receives;
};

static void begin(struct slot *slot, MPI_Request *request, const struct job *job, uint64_t *state)
{
    const int other = 1 - check_rank;
    const int from = slot->receives ? other : check_rank;
    const int bytes = length_of(job->thread, from, slot->number);
    const int tag = job->thread * 2000 + slot->number % 1000;
    if (slot->receives) {
        slot->data[0] = slot->data[bytes > 0 ? bytes - 1 : 0] = 0;
        CHECK_OK(MPI_Irecv(slot->data, MOST_BYTES, MPI_BYTE, other, tag, MPI_COMM_WORLD, request));
        return;
    }
    memset(slot->data, mark_of(job->thread, from, slot->number), (size_t)bytes);
    if (check_random(state) % 3 == 0)
        CHECK_OK(MPI_Issend(slot->data, bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD, request));
    else
        CHECK_OK(MPI_Isend(slot->data, bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD, request));
}

static void check_slot(const struct slot *slot, const struct job *job)
{
    const int from = 1 - check_rank;
    const int bytes = length_of(job->thread, from, slot->number);
    if (slot->receives && bytes > 0) {
        CHECK_EQ(slot->data[0], mark_of(job->thread, from, slot->number));
        CHECK_EQ(slot->data[bytes - 1], mark_of(job->thread, from, slot->number));
    }
}

/* Completes at least one; answers how many, their indices first. */
static int complete(MPI_Request *requests, int count, int *indices, uint64_t *state)
{
    int done = 0, flag = 0;
    while (done == 0) {
        switch (check_random(state) % 4) {
        case 0:
            CHECK_OK(MPI_Waitany(count, requests, indices, MPI_STATUS_IGNORE));
            return 1;
        case 1:
            CHECK_OK(MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE));
            break;
        case 2:
            CHECK_OK(MPI_Testany(count, requests, indices, &flag, MPI_STATUS_IGNORE));
            done = flag != 0;
            break;
        default:
            CHECK_OK(MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE));
        }
    }
    return done;
}

/* Slots send and receive by turns, so each number is sent once and received once by each rank. */
static void *run(void *argument)
{
    const struct job *job = argument;
    uint64_t state = (uint64_t)(job->thread + 100 * check_rank);
    struct slot slots[2 * WINDOW];
    MPI_Request requests[2 * WINDOW];
    int indices[2 * WINDOW], under_way = 0, next[2] = {0, 0};
    for (int i = 0; i < 2 * WINDOW; ++i) {
        slots[i] = (struct slot){malloc(MOST_BYTES), next[i % 2]++, i % 2 == 1};
        begin(&slots[i], &requests[i], job, &state);
        ++under_way;
    }
    while (under_way > 0) {
        const int done = complete(requests, 2 * WINDOW, indices, &state);
        for (int i = 0; i < done; ++i) {
            struct slot *slot = &slots[indices[i]];
            check_slot(slot, job);
            CHECK(requests[indices[i]] == MPI_REQUEST_NULL);
            if (next[slot->receives] < job->messages) {
                slot->number = next[slot->receives]++;
                begin(slot, &requests[indices[i]], job, &state);
            } else {
                --under_way;
            }
        }
        if (check_random(&state) % 64 == 0)
            usleep((unsigned)(check_random(&state) % 300));
    }
    for (int i = 0; i < 2 * WINDOW; ++i)
        free(slots[i].data);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1;
    pthread_t started[MOST_THREADS];
    struct job jobs[MOST_THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin_initialised();
    const int messages = (int)check_argument(argc, argv, 1, 20000);
    threads = (int)check_argument(argc, argv, 2, 4);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    check_step("storm");
    for (int i = 0; i < threads; ++i) {
        jobs[i] = (struct job){i, messages / threads};
        pthread_create(&started[i], NULL, run, &jobs[i]);
    }
    for (int i = 0; i < threads; ++i)
        pthread_join(started[i], NULL);
    return check_end();
}
