/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes that tests are run on, seen from inside: the ranks are where they should be, nodes
 * share nothing but files, what the launcher was given arrives, and messages of every pair of ranks
 * do too. The argument is the number of nodes.
 */
#include "../mpi/check.h"

#include <fcntl.h>

enum { TEXT = 128, SMALL = 8, LARGE = 1 << 20 };

struct place {
    char host[TEXT];      /* its name */
    char processes[TEXT]; /* identity of its process numbers */
    char network[TEXT];   /* identity of its network */
    char directory[TEXT]; /* where the rank was started */
};

static struct place place_of_this_rank(void)
{
    struct place place = {.host = ""};
    CHECK_EQ(gethostname(place.host, TEXT - 1), 0);
    CHECK(readlink("/proc/self/ns/pid", place.processes, TEXT - 1) > 0);
    CHECK(readlink("/proc/self/ns/net", place.network, TEXT - 1) > 0);
    CHECK(getcwd(place.directory, TEXT) != NULL);
    return place;
}

/* Ranks in equal parts, in order: two are neighbours exactly if MPI says so, and then everything is
 * the same, else everything but the directory differs. */
static void where_ranks_are(MPI_Comm node, int nodes)
{
    struct place* const places = malloc((size_t)check_size * sizeof *places);
    struct place const own = place_of_this_rank();
    int const each = check_size / nodes;
    int size = 0;
    check_step("where ranks are");
    MPI_Comm_size(node, &size);
    CHECK_EQ(size, each);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, places, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    for (int rank = 0; rank < check_size; ++rank) {
        bool const here = rank / each == check_rank / each;
        CHECK_EQ(strcmp(places[rank].host, own.host) == 0, here);
        CHECK_EQ(strcmp(places[rank].processes, own.processes) == 0, here);
        CHECK_EQ(strcmp(places[rank].network, own.network) == 0, here);
        CHECK(strcmp(places[rank].directory, own.directory) == 0);
    }
    free(places);
}

/* A file in /dev/shm is seen on its node and nowhere else. */
static void shared_memory_is_the_nodes(int nodes)
{
    char name[TEXT];
    int const each = check_size / nodes;
    check_step("shared memory");
    snprintf(name, sizeof name, "/dev/shm/sidelight-test-%d", check_rank);
    int const file = open(name, O_CREAT | O_RDWR, 0600);
    CHECK(file >= 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rank = 0; rank < check_size; ++rank) {
        char other[TEXT];
        snprintf(other, sizeof other, "/dev/shm/sidelight-test-%d", rank);
        CHECK_EQ(access(other, F_OK) == 0, rank / each == check_rank / each);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    close(file);
    unlink(name);
}

/* What the test is registered with: the environment of the launcher and of the program. */
static void environment_arrives(void)
{
    check_step("environment");
    CHECK(getenv("PATH") != NULL);
    CHECK(getenv("SIDELIGHT_TEST_RUN") != NULL);
    CHECK(getenv("LD_PRELOAD") != NULL && strstr(getenv("LD_PRELOAD"), "libsidelight") != NULL);
}

/* Every rank sends to every other one, further and further away. */
static void messages(int bytes)
{
    char* const sent = malloc((size_t)bytes);
    char* const received = malloc((size_t)bytes);
    check_step(bytes == SMALL ? "small messages" : "large messages");
    for (int away = 0; away < check_size; ++away) {
        int const to = (check_rank + away) % check_size;
        int const from = (check_rank + check_size - away) % check_size;
        memset(sent, check_rank + 1, (size_t)bytes);
        memset(received, 0, (size_t)bytes);
        CHECK_OK(MPI_Sendrecv(sent, bytes, MPI_BYTE, to, away, received, bytes, MPI_BYTE, from,
                              away, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(received[0], from + 1);
        CHECK_EQ(received[bytes - 1], from + 1);
    }
    free(sent);
    free(received);
}

static void reduction(void)
{
    int sum = 0;
    check_step("reduction");
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
}

int main(int argc, char** argv)
{
    MPI_Comm node;
    check_begin(&argc, &argv);
    int const nodes = (int)check_argument(argc, argv, 1, 1);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    where_ranks_are(node, nodes);
    shared_memory_is_the_nodes(nodes);
    environment_arrives();
    messages(SMALL);
    messages(LARGE);
    reduction();
    MPI_Comm_free(&node);
    return check_end();
}
