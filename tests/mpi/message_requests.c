/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that end otherwise than by a wait, while another thread looks after large ones: each is
 * left alone once the program has it no more, and no result differs. Between the steps the program
 * computes, so that there are looks at what it has.
 *
 *     message_requests [LEVEL [FILES]]     the level that the program asks for, 0 to 3; FILES: 1,
 * it uses a file first
 */
#include "check.h"
#include "compute.h"

#include <pthread.h>
#include <sys/wait.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT_COLLECTIVES
#endif

enum { ROUNDS = 20, BYTES = 200000, SEVERAL = 16 };

static char *out, *in;
static pthread_t main_thread;
static volatile int foreign_calls; /* of functions of the program, by another thread */

static int other(void) { return 1 - check_rank; }

static void cancelled(void)
{
    MPI_Request requests[SEVERAL];
    MPI_Status status;
    for (int i = 0; i < SEVERAL; ++i)
        CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &requests[i]));
    compute(0.3);
    for (int i = 0; i < SEVERAL; ++i) {
        int flag = 0;
        CHECK_OK(MPI_Cancel(&requests[i]));
        if (i % 2 == 0)
            compute(0.1);
        CHECK_OK(MPI_Wait(&requests[i], &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
}

static void truncated(void)
{
    MPI_Request request;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (check_rank == 0) {
        CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, 1, 41, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Irecv(in, BYTES / 2, MPI_BYTE, 0, 41, MPI_COMM_WORLD, &request));
        compute(1);
        CHECK_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    }
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* The communicator is freed while a message of it is under way. */
static void freed_communicator(void)
{
    MPI_Comm comm;
    MPI_Request requests[2];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    memset(in, 0, BYTES);
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, other(), 42, comm, &requests[0]));
    CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, other(), 42, comm, &requests[1]));
    CHECK_OK(MPI_Comm_free(&comm));
    compute(0.5);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(memcmp(in, out, BYTES), 0);
}

/* A send that is freed under way arrives; its handle may be another request's by then. */
static void freed_requests(void)
{
    MPI_Request sends[SEVERAL], receives[SEVERAL];
    memset(in, 0, BYTES);
    for (int i = 0; i < SEVERAL; ++i) {
        CHECK_OK(MPI_Isend(out, BYTES / SEVERAL, MPI_BYTE, other(), 43, MPI_COMM_WORLD, &sends[i]));
        CHECK_OK(MPI_Request_free(&sends[i]));
        CHECK_OK(MPI_Irecv(in + i * (BYTES / SEVERAL), BYTES / SEVERAL, MPI_BYTE, other(), 43,
                           MPI_COMM_WORLD, &receives[i]));
    }
    compute(0.5);
    CHECK_OK(MPI_Waitall(SEVERAL, receives, MPI_STATUSES_IGNORE));
    for (int i = 0; i < SEVERAL; ++i)
        CHECK_EQ(memcmp(in + i * (BYTES / SEVERAL), out, BYTES / SEVERAL), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each way to complete some of many. */
static void ways(int round)
{
    MPI_Request requests[2 * SEVERAL];
    int indices[2 * SEVERAL], done = 0, count = 0, flag = 0;
    const int part = BYTES / SEVERAL;
    memset(in, 0, BYTES);
    for (int i = 0; i < SEVERAL; ++i) {
        CHECK_OK(MPI_Irecv(in + i * part, part, MPI_BYTE, other(), 50 + i, MPI_COMM_WORLD,
                           &requests[i]));
        CHECK_OK(MPI_Issend(out + i * part, part, MPI_BYTE, other(), 50 + i, MPI_COMM_WORLD,
                            &requests[SEVERAL + i]));
    }
    while (done < 2 * SEVERAL) {
        int way = (round + done) % 7, index = MPI_UNDEFINED;
        flag = 0;
        if (done % 5 == 0)
            compute(0.1);
        if (way == 0) {
            CHECK_OK(MPI_Waitany(2 * SEVERAL, requests, &index, MPI_STATUS_IGNORE));
            ++done;
        } else if (way == 1) {
            CHECK_OK(MPI_Testany(2 * SEVERAL, requests, &index, &flag, MPI_STATUS_IGNORE));
            done += flag && index != MPI_UNDEFINED;
        } else if (way == 2) {
            CHECK_OK(MPI_Waitsome(2 * SEVERAL, requests, &count, indices, MPI_STATUSES_IGNORE));
            done += count;
        } else if (way == 3) {
            CHECK_OK(MPI_Testsome(2 * SEVERAL, requests, &count, indices, MPI_STATUSES_IGNORE));
            done += count;
        } else if (way == 4) {
            CHECK_OK(MPI_Testall(2 * SEVERAL, requests, &flag, MPI_STATUSES_IGNORE));
            done = flag ? 2 * SEVERAL : done;
        } else {
            for (index = 0; requests[index] == MPI_REQUEST_NULL; ++index) {}
            if (way == 5)
                CHECK_OK(MPI_Request_get_status(requests[index], &flag, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Test(&requests[index], &flag, MPI_STATUS_IGNORE));
            done += flag != 0;
        }
        if (way == 6 && done < 2 * SEVERAL && !flag) { /* the ways must not turn in a circle */
            CHECK_OK(MPI_Waitany(2 * SEVERAL, requests, &index, MPI_STATUS_IGNORE));
            ++done;
        }
    }
    CHECK_EQ(memcmp(in, out, BYTES), 0);
}

static void persistent(void)
{
    MPI_Request requests[2];
    int flag = 0;
    CHECK_OK(MPI_Recv_init(in, BYTES, MPI_BYTE, other(), 44, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Send_init(out, BYTES, MPI_BYTE, other(), 44, MPI_COMM_WORLD, &requests[1]));
    compute(0.2); /* nothing is under way */
    for (int i = 0; i < 4; ++i) {
        memset(in, 0, BYTES);
        CHECK_OK(MPI_Startall(2, requests));
        compute(0.3);
        if (i % 2 == 0)
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        else
            for (flag = 0; !flag;)
                CHECK_OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
        CHECK_EQ(memcmp(in, out, BYTES), 0);
        compute(0.2);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

static void add(void *first, void *second, int *length, MPI_Datatype *type)
{
    (void)type;
    if (!pthread_equal(pthread_self(), main_thread))
        ++foreign_calls;
    for (int i = 0; i < *length; ++i)
        ((int *)second)[i] += ((int *)first)[i];
}

/* The program's own operators run on its own thread. */
static void reductions(void)
{
    enum { COUNT = 20000 };
    static int given[COUNT], sum[COUNT];
    MPI_Request request;
    MPI_Op op;
    CHECK_OK(MPI_Op_create(add, 1, &op));
    for (int i = 0; i < COUNT; ++i)
        given[i] = i + check_rank;
    foreign_calls = 0;
    CHECK_OK(MPI_Iallreduce(given, sum, COUNT, MPI_INT, op, MPI_COMM_WORLD, &request));
    compute(2);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(sum[COUNT - 1], 2 * (COUNT - 1) + 1);
    CHECK_EQ(foreign_calls, 0);
    CHECK_OK(MPI_Iallreduce(given, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    compute(2);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(sum[COUNT - 1], 2 * (COUNT - 1) + 1);
#ifdef HAS_PERSISTENT_COLLECTIVES
    CHECK_OK(MPI_Allreduce_init(given, sum, COUNT, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &request));
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(MPI_Start(&request));
        compute(0.5);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(sum[COUNT - 1], 2 * (COUNT - 1) + 1);
    }
    CHECK_OK(MPI_Request_free(&request));
    CHECK_EQ(foreign_calls, 0);
#endif
    CHECK_OK(MPI_Op_free(&op));
}

/* What the host keeps with the datatypes of files runs on no thread of the program's. */
static void use_a_file(void)
{
    enum { NUMBERS = 8 };
    static int numbers[NUMBERS];
    char name[64];
    MPI_Datatype every_fourth;
    MPI_File file;
    snprintf(name, sizeof name, "message_requests.%d", (int)getpid());
    CHECK_OK(MPI_Type_vector(NUMBERS, 1, 4, MPI_INT, &every_fourth));
    CHECK_OK(MPI_Type_commit(&every_fourth));
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, name,
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, every_fourth, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write(file, numbers, NUMBERS, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_Type_free(&every_fourth));
}

/* Comes when the last request of the datatype has gone. */
static int deleted(MPI_Datatype type, int keyval, void *value, void *state)
{
    int flag;
    (void)type, (void)keyval, (void)value, (void)state;
    if (!pthread_equal(pthread_self(), main_thread))
        ++foreign_calls;
    return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Attributes of a datatype that has been freed go on the program's own thread. */
static void attributes(void)
{
    enum { BLOCKS = 1 << 17 };
    static int sent[2 * BLOCKS], received[2 * BLOCKS];
    int keyval;
    MPI_Datatype type;
    MPI_Request request;
    check_step("a datatype's attribute");
    foreign_calls = 0;
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, deleted, &keyval, NULL));
    CHECK_OK(MPI_Type_vector(BLOCKS / 2, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_set_attr(type, keyval, &keyval));
    CHECK_OK(MPI_Ialltoall(sent, 1, type, received, 1, type, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Type_free(&type));
    compute(2);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(foreign_calls, 0);
    CHECK_OK(MPI_Type_free_keyval(&keyval));
}

/* A child that calls no MPI comes and goes while a request is under way. */
static void forked(void)
{
    MPI_Request requests[2];
    int status = -1;
    CHECK_OK(MPI_Irecv(in, BYTES, MPI_BYTE, other(), 45, MPI_COMM_WORLD, &requests[0]));
    compute(0.3);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        char *memory = malloc(1 << 20);
        memset(memory, 1, 1 << 20);
        _exit(memory[1000] == 1 ? 0 : 1);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, other(), 45, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* To nobody, and of nothing: complete at once, and some hosts give them all one handle. */
static void nothing(void)
{
    MPI_Request requests[4];
    for (int i = 0; i < 4; ++i)
        CHECK_OK(
            i % 2 == 0
                ? MPI_Irecv(in, BYTES, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[i])
                : MPI_Isend(out, BYTES, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[i]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    compute(0.3);
    CHECK_OK(MPI_Waitall(3, requests + 1, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    int provided = -1;
    const int level = (int)check_argument(argc, argv, 1, MPI_THREAD_SINGLE);
    MPI_Init_thread(&argc, &argv, level, &provided);
    check_begin_initialised();
    CHECK_EQ(provided, level);
    main_thread = pthread_self();
    if (check_argument(argc, argv, 2, 0) != 0)
        use_a_file();
    out = malloc(BYTES);
    in = malloc(BYTES);
    for (int i = 0; i < BYTES; ++i)
        out[i] = (char)(i * 7);
    for (int round = 0; round < ROUNDS; ++round) {
        struct {
            const char *name;
            void (*run)(void);
        } const steps[] = {{"cancelled", cancelled},
                           {"truncated", truncated},
                           {"freed communicator", freed_communicator},
                           {"freed requests", freed_requests},
                           {"persistent", persistent},
                           {"forked", forked},
                           {"nothing", nothing}};
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
            check_step(steps[i].name);
            steps[i].run();
        }
        check_step("ways");
        ways(round);
        check_step("reductions");
        reductions();
    }
    attributes(); /* from now on nothing moves beside the program */
    free(out);
    free(in);
    return check_end();
}
