/* SPDX-License-Identifier: BSD-3-Clause */
/* An interrupt thread is called for what is recorded, and for nothing else: counted, not timed. A
 * rank that computes here does so until a neighbour has written into its memory what it writes only
 * after its own wait; without progress that never happens. */
#define _GNU_SOURCE
#include "check.h"
#include "signals.h"

#include <dirent.h>
#include <sched.h>
#include <setjmp.h>

#include <sidelight.h>
#include <sidelight_am.h>

enum { ORIGIN, TARGET, ROUNDS = 20, WORDS = 1000 };

struct Job {
    MPI_Win win;            /* what epochs are about */
    struct signals signals; /* where the target says that it has gone on */
    int *memory;
    MPI_Group other;
    MPI_Op write; /* a handler */
    bool mapped;  /* all by words of memory */
};

struct Counts {
    MPI_Count calls, messages, futile, delay;
};

/* How late the target of a round is: once the origin's thread, which stands back after each round
 * for some time, sleeps again. */
static useconds_t lateness;

static struct Counts counts(void)
{
    struct Counts now;
    CHECK_OK(MPIX_Progress_counts(&now.calls, &now.messages, &now.futile, &now.delay));
    return now;
}

/* The origin has recorded what it does, and computes by now. */
static void be_late(void)
{
    check_hear(ORIGIN);
    usleep(lateness);
}

static void put_all(const struct Job *job, int round)
{
    for (int i = 0; i < WORDS; ++i)
        job->memory[i] = round + i;
    MPI_Put(job->memory, WORDS, MPI_INT, TARGET, 0, WORDS, MPI_INT, job->win);
}

static void post_and_wait(const struct Job *job, int round)
{
    be_late();
    CHECK_OK(MPI_Win_post(job->other, 0, job->win));
    CHECK_OK(MPI_Win_wait(job->win));
    CHECK_EQ(job->memory[WORDS - 1], round + WORDS - 1);
}

static void record_access(const struct Job *job, int round, MPI_Request requests[2])
{
    CHECK_OK(MPIX_Win_istart(job->other, 0, job->win, &requests[0]));
    put_all(job, round);
    CHECK_OK(MPIX_Win_icomplete(job->win, &requests[1]));
    check_tell(TARGET);
}

static void access_epoch(const struct Job *job, int round)
{
    MPI_Request requests[2];
    if (check_rank == TARGET) {
        post_and_wait(job, round);
        signal_to(&job->signals, ORIGIN, round);
        return;
    }
    record_access(job, round, requests);
    compute_until(&job->signals, round);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void write_first(void *in, int in_count, MPI_Datatype in_type, void *memory, int count,
                        MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                        int segments, int offset)
{
    (void)in_count, (void)in_type, (void)count, (void)type, (void)out, (void)out_count;
    (void)out_type, (void)segments, (void)offset;
    *(int *)memory = *(const int *)in;
}

/* Ends with its handler, which runs at the origin where memory is mapped. */
static void handler_epoch(const struct Job *job, int round)
{
    MPI_Request requests[2];
    if (check_rank == TARGET) {
        be_late();
        CHECK_OK(MPI_Win_post(job->other, 0, job->win));
        CHECK_OK(MPI_Win_wait(job->win));
        CHECK_EQ(job->memory[0], round);
        signal_to(&job->signals, ORIGIN, round);
        return;
    }
    CHECK_OK(MPIX_Win_istart(job->other, 0, job->win, &requests[0]));
    CHECK_OK(MPIX_Am(&round, 1, MPI_INT, NULL, 0, MPI_INT, 1, TARGET, MPI_INT, 0, 1, MPI_INT,
                     MPI_INT, job->write, job->win));
    CHECK_OK(MPIX_Win_icomplete(job->win, &requests[1]));
    check_tell(TARGET);
    compute_until(&job->signals, round);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void fence_epoch(const struct Job *job, int round)
{
    MPI_Request requests[2];
    if (check_rank == TARGET) {
        be_late();
        CHECK_OK(MPI_Win_fence(0, job->win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, job->win));
        CHECK_EQ(job->memory[0], round);
        signal_to(&job->signals, ORIGIN, round);
        return;
    }
    CHECK_OK(MPIX_Win_ifence(0, job->win, &requests[0]));
    put_all(job, round);
    CHECK_OK(MPIX_Win_ifence(MPI_MODE_NOSUCCEED, job->win, &requests[1]));
    check_tell(TARGET);
    compute_until(&job->signals, round);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* The target has the lock at first, and wants it again: the origin's epoch is between. */
static void lock_epoch(const struct Job *job, int round)
{
    MPI_Request requests[2];
    if (check_rank == TARGET)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, job->win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == TARGET) {
        be_late();
        CHECK_OK(MPI_Win_unlock(TARGET, job->win));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, job->win));
        if (job->mapped) /* else the origin's place may be asked for later */
            CHECK_EQ(job->memory[0], round);
        CHECK_OK(MPI_Win_unlock(TARGET, job->win));
        signal_to(&job->signals, ORIGIN, round);
        return;
    }
    CHECK_OK(MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, TARGET, 0, job->win, &requests[0]));
    put_all(job, round);
    CHECK_OK(MPIX_Win_iunlock(TARGET, job->win, &requests[1]));
    check_tell(TARGET);
    compute_until(&job->signals, round);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* A look at the thread from outside. */
struct Look {
    long sleeps; /* how often it has been taken off its core because it slept; -1: there is none */
    bool asleep;
};

static struct Look look_at_thread(void)
{
    char path[64], line[128];
    struct Look look = {-1, false};
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        bool ours = false;
        snprintf(path, sizeof path, "/proc/self/task/%.16s/status", task->d_name);
        FILE *status = fopen(path, "r");
        while (status != NULL && fgets(line, sizeof line, status) != NULL) {
            ours = ours || strcmp(line, "Name:\tsidelight\n") == 0;
            if (ours && strncmp(line, "State:", 6) == 0)
                look.asleep = strstr(line, "S (sleeping)") != NULL;
            if (ours)
                sscanf(line, "voluntary_ctxt_switches: %ld", &look.sleeps);
        }
        if (status != NULL)
            fclose(status);
    }
    closedir(tasks);
    return look;
}

/* Whether it has slept all the time between two looks. What has come last by a network may be heard
 * of late. */
static bool has_slept(const struct Job *job, struct Look before, struct Look after)
{
    return after.sleeps - before.sleeps <= (job->mapped ? 0 : 2);
}

/* Collective. Returns when the thread no longer stands back from what the program has called
 * before: it sleeps, and has done so for a while. */
static void wait_for_bedtime(const struct Job *job)
{
    struct Look before, after;
    MPI_Barrier(MPI_COMM_WORLD);
    do {
        before = look_at_thread();
        usleep(200000);
        after = look_at_thread();
    } while (!before.asleep || !after.asleep || !has_slept(job, before, after));
}

/* Whether the thread has been called for as many of some rounds as it should: for all, but for what
 * the host's loop may still be at when the event comes. */
static bool called_enough(const struct Job *job, struct Counts before, struct Counts after)
{
    if (!job->mapped)
        return after.calls + after.messages > before.calls + before.messages;
    return after.calls - before.calls >= ROUNDS - ROUNDS / 5 &&
           after.futile - before.futile <= ROUNDS / 5;
}

static bool play_rounds(const struct Job *job, void (*epoch)(const struct Job *, int), int first)
{
    const struct Counts before = counts();
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        epoch(job, first + round);
    }
    int enough = called_enough(job, before, counts());
    MPI_Bcast(&enough, 1, MPI_INT, ORIGIN, MPI_COMM_WORLD);
    return enough;
}

/* Each round calls the origin once where all is told by words; where messages tell it, more often.
 * A thread that got no core in time is not called, so the rounds are played again, with a target
 * that is later, until it was: a thread that is not called as it should be ends at the watchdog. */
static void check_kind(const struct Job *job, void (*epoch)(const struct Job *, int),
                       const char *name, int first)
{
    int round = 0;
    check_step(name);
    wait_for_bedtime(job);
    const struct Counts before = counts();
    for (lateness = 500; !play_rounds(job, epoch, first + round); lateness *= 2)
        round += ROUNDS;
    const struct Counts after = counts();
    if (check_rank == ORIGIN && job->mapped) {
        CHECK(after.calls - before.calls <= round + ROUNDS);
        CHECK_EQ(after.messages, before.messages);
    }
}

/* Exposures that nothing is recorded for, and locks that nobody waits for, call nobody. */
static void check_silence(const struct Job *job)
{
    check_step("silence");
    wait_for_bedtime(job);
    const struct Counts before = counts();
    for (int round = 0; round < ROUNDS; ++round) {
        if (check_rank == TARGET) {
            CHECK_OK(MPI_Win_post(job->other, 0, job->win));
            signal_to(&job->signals, ORIGIN, 40000 + round);
            CHECK_OK(MPI_Win_wait(job->win));
        } else {
            compute_until(&job->signals, 40000 + round);
            CHECK_OK(MPI_Win_start(job->other, 0, job->win));
            CHECK_OK(MPI_Win_complete(job->win));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const struct Counts after = counts();
    if (job->mapped) {
        CHECK_EQ(after.calls, before.calls);
        CHECK_EQ(after.messages, before.messages);
    }
}

/* With nothing recorded it does not even look at the clock: for so many seconds. */
static void check_sleep(const struct Job *job, int seconds)
{
    check_step("sleep");
    wait_for_bedtime(job);
    const struct Look before = look_at_thread();
    sleep((unsigned)seconds);
    CHECK(has_slept(job, before, look_at_thread()));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_modes(const struct Job *job)
{
    static const int modes[] = {MPIX_PROGRESS_CALLS, MPIX_PROGRESS_THREAD, MPIX_PROGRESS_SMART,
                                MPIX_PROGRESS_THREAD, MPIX_PROGRESS_SMART};
    int mode = -1;
    check_step("modes");
    CHECK_ERROR(MPIX_Progress_set(-1), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Progress_set(4), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Progress_get(NULL), MPI_ERR_ARG);
    for (int i = 0; i < 5; ++i) {
        CHECK_OK(MPIX_Progress_set(modes[i]));
        CHECK_OK(MPIX_Progress_get(&mode));
        CHECK_EQ(mode, modes[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (modes[i] != MPIX_PROGRESS_CALLS)
            access_epoch(job, 50000 + i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool has_thread(void) { return look_at_thread().sleeps >= 0; }

/* AUTO has the thread that it has without what was chosen before. */
static void check_auto(void)
{
    bool by_itself = false;
    check_step("auto");
    CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_CALLS));
    CHECK(!has_thread());
    CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_AUTO));
    by_itself = has_thread();
    for (int mode = MPIX_PROGRESS_THREAD; mode <= MPIX_PROGRESS_SMART; ++mode) {
        CHECK_OK(MPIX_Progress_set(mode));
        CHECK(has_thread());
        CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_AUTO));
        CHECK_EQ(has_thread(), by_itself);
    }
}

/* A thread that a window has asked for stays when the next one asks for none, and in AUTO: without
 * it the epoch does not end. */
static void check_keys(const struct Job *job)
{
    MPI_Win wins[2];
    MPI_Info info;
    void *memory;
    check_step("keys");
    CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_CALLS));
    MPI_Info_create(&info);
    MPI_Info_set(info, "sidelight_progress", "thread");
    for (int i = 0; i < 2; ++i)
        MPI_Win_allocate(8, 1, i == 0 ? info : MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &wins[i]);
    MPI_Info_free(&info);
    access_epoch(job, 60000);
    CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_AUTO));
    access_epoch(job, 61000);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i)
        MPI_Win_free(&wins[i]);
}

/* What a debugger shows of a window where nothing is pending, and of the thread. */
static void check_dump(bool has_thread)
{
    int ends[2];
    char text[4096];
    CHECK(pipe(ends) == 0);
    sidelight_dump(ends[1]);
    close(ends[1]);
    const ssize_t length = read(ends[0], text, sizeof text - 1);
    CHECK(length > 0);
    text[length > 0 ? length : 0] = '\0';
    CHECK(strstr(text, ": 0 epochs pending") != NULL);
    CHECK((strstr(text, "interrupt thread: called") != NULL) == has_thread);
    close(ends[0]);
}

static void check_no_thread(void)
{
    MPI_Win win;
    void *memory;
    check_step("no thread");
    CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_CALLS));
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    check_dump(false);
    MPI_Win_free(&win);
}

/* Is over at once, in another window. */
static void call_quickly(MPI_Win win)
{
    MPI_Win_lock(MPI_LOCK_SHARED, ORIGIN, 0, win);
    MPI_Win_unlock(ORIGIN, win);
}

/* The thread is called, finds that its program comes by again and again, and stands back for longer
 * each time. The target leaves the core alone meanwhile. */
static void chatter(const struct Job *job, MPI_Win other, int round)
{
    MPI_Request requests[2];
    if (check_rank == TARGET) {
        post_and_wait(job, round);
        usleep(300000);
    } else {
        record_access(job, round, requests);
        for (const double end = check_seconds() + 0.3; check_seconds() < end;)
            call_quickly(other);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A program that has called for long, and then computes for 30 ms between two calls: the thread has
 * to find out, else what is recorded waits for the next of these at each step. */
static void check_rare_calls(const struct Job *job)
{
    enum { CALLING = 70000, TRIES = 20 };
    int calls = 0, enough = 0;
    MPI_Win other;
    void *memory;
    check_step("rare calls");
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
    chatter(job, other, CALLING - 1);
    const struct Counts before = counts();
    for (int round = CALLING; round < CALLING + TRIES || !enough; ++round) {
        if (check_rank == TARGET) {
            post_and_wait(job, round);
            signal_to(&job->signals, ORIGIN, round);
        } else {
            MPI_Request requests[2];
            record_access(job, round, requests);
            while (*job->signals.word != round) {
                for (const double end = check_seconds() + 0.03;
                     check_seconds() < end && *job->signals.word != round;) {}
                call_quickly(other);
                ++calls;
            }
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        }
        const struct Counts now = counts();
        enough = now.calls + now.messages > before.calls + before.messages;
        MPI_Bcast(&enough, 1, MPI_INT, ORIGIN, MPI_COMM_WORLD);
    }
    CHECK(check_rank == TARGET || calls > 0);
    MPI_Win_free(&other);
}

/* More ranks than cores, wherever this runs, and whatever the launcher binds them to: before MPI
 * learns of it. */
static void share_one_core(void)
{
    bool shares = false;
    for (size_t core = 0; core < CPU_SETSIZE && !shares; ++core) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        shares = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    CHECK(shares);
}

static jmp_buf behind_the_call;

static void jump(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    longjmp(behind_the_call, 1);
}

/* Whoever leaves a call by way of an error handler is in it no more: what follows would not be
 * moved on else. */
static void leave_by_jump(MPI_Win win)
{
    MPI_Errhandler jumps, before;
    CHECK_OK(MPI_Win_create_errhandler(jump, &jumps));
    CHECK_OK(MPI_Win_get_errhandler(win, &before));
    CHECK_OK(MPI_Win_set_errhandler(win, jumps));
    if (setjmp(behind_the_call) == 0) {
        MPI_Win_complete(win);
        CHECK(false && "a call with an error comes back");
    }
    if (setjmp(behind_the_call) == 0) {
        MPI_Request request;
        MPIX_Win_icomplete(win, &request);
        CHECK(false && "a nonblocking call with an error comes back");
    }
    CHECK_OK(MPI_Win_set_errhandler(win, before));
    MPI_Errhandler_free(&before);
    MPI_Errhandler_free(&jumps);
}

/* smart_progress [SECONDS [crowded]] */
int main(int argc, char **argv)
{
    if (argc > 2)
        share_one_core();
    check_begin(&argc, &argv);
    const int other = 1 - check_rank;
    struct Job job;
    MPI_Comm node;
    int here = 0;
    check_no_thread();
    CHECK_OK(MPIX_Progress_set(MPIX_PROGRESS_SMART));
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    job.mapped = here == 2 && getenv("SIDELIGHT_ROUTE") == NULL;
    job.other = check_group(1, &other);
    MPI_Win_allocate(WORDS * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &job.memory, &job.win);
    job.signals = make_signals();
    CHECK_OK(MPIX_Am_op_create(write_first, &job.write));
    CHECK_OK(MPIX_Am_win_op_register(job.write, job.win));
    leave_by_jump(job.win);
    check_rare_calls(&job);
    check_kind(&job, access_epoch, "access epochs", 10000);
    check_kind(&job, handler_epoch, "epochs that end with a handler", 15000);
    check_kind(&job, fence_epoch, "fence epochs", 20000);
    check_kind(&job, lock_epoch, "lock epochs", 30000);
    check_silence(&job);
    check_sleep(&job, (int)check_argument(argc, argv, 1, 1));
    check_dump(true);
    check_modes(&job);
    check_auto();
    check_keys(&job);
    MPI_Op_free(&job.write);
    MPI_Group_free(&job.other);
    free_signals(&job.signals);
    MPI_Win_free(&job.win);
    return check_end();
}
