/* SPDX-License-Identifier: BSD-3-Clause */
/* A blocking MPI_Win_complete returns although its target is late (sidelight_early_return). The
 * target posts only when it has been told that the call has returned; the origin makes no call
 * until the target has seen the data. Argument "offered": no thread finishes what is left, but the
 * target itself, and that is one access of some whole pieces. */
#include "check.h"
#include "signals.h"

enum { ORIGIN, TARGET, ROUNDS = 20, WORDS = 3000 };

struct Pair {
    double value;
    int index;
};

struct Job {
    MPI_Win win;
    int *memory;
    struct signals signals; /* where the target says that it has gone on */
    MPI_Group other;
};

static MPI_Win make_window(int words, const char *room, int **memory)
{
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sidelight_early_return", room);
    CHECK_OK(MPI_Win_allocate((MPI_Aint)sizeof(int) * words, sizeof(int), info, MPI_COMM_WORLD,
                              memory, &win));
    MPI_Info_free(&info);
    memset(*memory, 0, sizeof(int) * (size_t)words);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void expose(const struct Job *job)
{
    CHECK_OK(MPI_Win_post(job->other, 0, job->win));
    CHECK_OK(MPI_Win_wait(job->win));
}

static void start_at_target(const struct Job *job)
{
    const int target = TARGET;
    MPI_Group group = check_group(1, &target);
    CHECK_OK(MPI_Win_start(group, 0, job->win));
    MPI_Group_free(&group); /* the epoch goes on without it */
}

/* What the origin does in an epoch, and what the target then has. */
typedef void Operations(const struct Job *job, int round);

static void put_block(const struct Job *job, int round)
{
    int *data = malloc(sizeof(int) * WORDS);
    start_at_target(job);
    for (int i = 0; i < WORDS; ++i)
        data[i] = round + i;
    MPI_Put(data, WORDS, MPI_INT, TARGET, 0, WORDS, MPI_INT, job->win);
    CHECK_OK(MPI_Win_complete(job->win));
    memset(data, 0xee, sizeof(int) * WORDS);
    free(data);
}

static void has_block(const struct Job *job, int round)
{
    CHECK_EQ(job->memory[0], round);
    CHECK_EQ(job->memory[WORDS - 1], round + WORDS - 1);
}

/* Every other word, by a type that is gone when the target comes; what lies between is left out. */
static void put_strided(const struct Job *job, int round)
{
    MPI_Datatype strided;
    int data[2 * WORDS];
    MPI_Type_vector(WORDS / 2, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    start_at_target(job);
    for (int i = 0; i < 2 * WORDS; ++i)
        data[i] = round + i;
    MPI_Put(data, 1, strided, TARGET, 1, WORDS / 2, MPI_INT, job->win);
    MPI_Put(data + 1, 1, strided, TARGET, WORDS, 1, strided, job->win);
    MPI_Type_free(&strided);
    CHECK_OK(MPI_Win_complete(job->win));
    memset(data, 0xee, sizeof data);
}

static void has_strided(const struct Job *job, int round)
{
    CHECK_EQ(job->memory[2], round + 2);
    CHECK_EQ(job->memory[WORDS / 2], round + WORDS - 2);
    CHECK_EQ(job->memory[WORDS + 2], round + 3);
    CHECK_EQ(job->memory[WORDS + 3], 0);
}

static void accumulate(const struct Job *job, int round)
{
    struct Pair pairs[2] = {{.value = -round, .index = round}, {.value = 5, .index = 2}};
    int ones[WORDS / 2];
    MPI_Datatype strided;
    start_at_target(job);
    for (int i = 0; i < WORDS / 2; ++i)
        ones[i] = 1;
    MPI_Type_vector(4, 1, 3, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Accumulate(pairs, 2, MPI_DOUBLE_INT, TARGET, 0, 2, MPI_DOUBLE_INT, MPI_MINLOC, job->win);
    MPI_Accumulate(ones, WORDS / 2, MPI_INT, TARGET, 100, WORDS / 2, MPI_INT, MPI_SUM, job->win);
    MPI_Accumulate(ones, 1, strided, TARGET, 100, 4, MPI_INT, MPI_SUM, job->win);
    MPI_Type_free(&strided);
    CHECK_OK(MPI_Win_complete(job->win));
    memset(pairs, 0xee, sizeof pairs);
    memset(ones, 0xee, sizeof ones);
}

static void has_accumulated(const struct Job *job, int round)
{
    struct Pair pair;
    memcpy(&pair, job->memory, sizeof pair);
    CHECK_EQ(pair.index, round);
    CHECK_EQ(job->memory[100], 2 * (round + 1));
    CHECK_EQ(job->memory[110], round + 1);
}

static void check_kind(const struct Job *job, const char *name, Operations *operations,
                       Operations *has)
{
    check_step(name);
    memset(job->memory, 0, sizeof(int) * 3 * WORDS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == ORIGIN) {
            operations(job, round);
            check_tell(TARGET);
            compute_until(&job->signals, round);
        } else {
            check_hear(ORIGIN);
            expose(job);
            has(job, round);
            signal_to(&job->signals, ORIGIN, round);
        }
    }
}

/* Many epochs ahead of the target, which comes to all of them in their order. The next exposure,
 * and one of the origin's own, do not wait for them. */
static void check_far_ahead(const struct Job *job)
{
    check_step("far ahead");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == ORIGIN) {
        for (int round = 0; round < ROUNDS; ++round)
            put_block(job, round);
        check_tell(TARGET);
        expose(job);
        CHECK_EQ(job->memory[0], 77);
    } else {
        const int value = 77;
        check_hear(ORIGIN);
        CHECK_OK(MPI_Win_start(job->other, 0, job->win));
        MPI_Put(&value, 1, MPI_INT, ORIGIN, 0, 1, MPI_INT, job->win);
        CHECK_OK(MPI_Win_complete(job->win));
        for (int round = 0; round < ROUNDS; ++round) {
            expose(job);
            has_block(job, round);
        }
    }
}

/* What it fetches has come when the call returns. */
static void check_get(const struct Job *job)
{
    int old = -1;
    check_step("get");
    job->memory[5] = 500 + check_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; ++round) {
        if (check_rank == TARGET) {
            usleep(200);
            expose(job);
            continue;
        }
        start_at_target(job);
        MPI_Get(&old, 1, MPI_INT, TARGET, 5, 1, MPI_INT, job->win);
        MPI_Put(&round, 1, MPI_INT, TARGET, 6, 1, MPI_INT, job->win);
        CHECK_OK(MPI_Win_complete(job->win));
        CHECK_EQ(old, 500 + TARGET);
        old = -1;
    }
}

/* A fence and a lock come behind what is kept, and so does the end of the window. */
static void check_what_waits(const struct Job *job)
{
    check_step("what waits");
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == ORIGIN) {
            put_block(job, round);
            const int last = -1;
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, job->win));
            MPI_Put(&last, 1, MPI_INT, TARGET, 0, 1, MPI_INT, job->win);
            CHECK_OK(MPI_Win_unlock(TARGET, job->win));
            check_tell(TARGET);
            put_block(job, round + 1);
        } else {
            usleep(500);
            expose(job);
            check_hear(ORIGIN);
            CHECK_EQ(job->memory[0], -1);
            CHECK_EQ(job->memory[1], round + 1);
            usleep(500);
            expose(job);
        }
        CHECK_OK(MPI_Win_fence(0, job->win));
        if (check_rank == TARGET)
            has_block(job, round + 1);
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, job->win));
    }
}

static void check_freed(const struct Job *job, const char *room)
{
    check_step("freed");
    struct Job own = *job;
    own.win = make_window(WORDS, room, &own.memory);
    if (check_rank == ORIGIN) {
        put_block(&own, 42);
        put_block(&own, 43);
    } else {
        usleep(2000);
        expose(&own);
        expose(&own);
        has_block(&own, 43);
    }
    CHECK_OK(MPI_Win_free(&own.win));
}

static void check_key(MPI_Win win, const char *expected)
{
    char value[32] = "";
    int found = 0;
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(win, &info));
    MPI_Info_get(info, "sidelight_early_return", sizeof value - 1, value, &found);
    CHECK(found && strcmp(value, expected) == 0);
    MPI_Info_free(&info);
}

static void set_key(MPI_Win win, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sidelight_early_return", value);
    CHECK_OK(MPI_Win_set_info(win, info));
    MPI_Info_free(&info);
}

static void check_keys(MPI_Win win)
{
    static const char *const words[] = {"off", "4096", "64K", "2M", "auto"};
    check_step("keys");
    check_key(win, "auto");
    for (int i = 0; i < 5; ++i) {
        set_key(win, words[i]);
        check_key(win, words[i]);
        set_key(win, "some");
        set_key(win, "12x");
        set_key(win, "K");
        check_key(win, words[i]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const int other = 1 - check_rank;
    struct Job job = {.other = check_group(1, &other)};
    job.win = make_window(3 * WORDS, "auto", &job.memory);
    job.signals = make_signals();
    check_keys(job.win);
    check_kind(&job, "put", put_block, has_block);
    if (argc == 1) {
        *job.signals.word = -1;
        check_kind(&job, "strided put", put_strided, has_strided);
        *job.signals.word = -1;
        check_kind(&job, "accumulate", accumulate, has_accumulated);
        check_far_ahead(&job);
    }
    check_get(&job);
    check_what_waits(&job);
    check_freed(&job, "auto");
    check_freed(&job, "14K"); /* for one of them */
    check_freed(&job, "off");
    MPI_Group_free(&job.other);
    CHECK_OK(MPI_Win_free(&job.win));
    free_signals(&job.signals);
    return check_end();
}
