/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of a program that never calls MPI_Init: sessions, one after the other in one process,
 * and two at the same time. One more is open from the start to the end, unless the argument is
 * "again": then MPI ends with each session and starts again with the next. With "rising" a session
 * without threads has a window, and what begins after it has threads, which use others. With
 * "world" the world of each process ends while others use the window of a session. With "together"
 * two threads have sessions of their own, of which either may be the last. With "strict" the host
 * refuses to end a session that has a window; with "apart" it ends one beside another's window.
 * With "raised" a session without threads has a window, beside which one with threads begins and
 * ends.
 */
#include "host_defects.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

enum { ROUNDS = 50 };

static MPI_Comm processes_of(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Group_from_session_pset(session, set, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

static MPI_Comm all_processes(MPI_Session session, const char *tag)
{
    return processes_of(session, "mpi://WORLD", tag);
}

/* The group of a window in a session is of no other. */
static void groups(struct window *w)
{
    MPI_Group of_window = MPI_GROUP_NULL, of_comm = MPI_GROUP_NULL;
    int same = MPI_UNEQUAL;
    CHECK_OK(MPI_Win_get_group(w->win, &of_window));
    CHECK_OK(MPI_Comm_group(w->comm, &of_comm));
    CHECK_OK(MPI_Group_compare(of_window, of_comm, &same));
    CHECK_EQ(same, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&of_window));
    CHECK_OK(MPI_Group_free(&of_comm));
}

static void fences(struct window *w)
{
    int const right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    int64_t const mine = 100 + w->rank;
    int64_t value = -1;
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(&mine, 1, MPI_INT64_T, right, window_at(w, right, 0), 1, MPI_INT64_T, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    memcpy(&value, w->base, sizeof value);
    CHECK_EQ(value, 100 + left);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

static void locks(struct window *w)
{
    int64_t const one = 1;
    int64_t value = -1;
    for (int k = 0; k < ROUNDS; ++k)
        for (int target = 0; target < w->size; ++target) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, window_at(w, target, 8), 1,
                                    MPI_INT64_T, MPI_SUM, w->win));
            CHECK_OK(MPI_Win_unlock(target, w->win));
        }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Fetch_and_op(NULL, &value, MPI_INT64_T, w->rank, window_at(w, w->rank, 8),
                              MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_EQ(value, ROUNDS * w->size);
}

/* Windows report errors as their session's communicator says, or as they themselves do. */
static void errors(struct window *w)
{
    int64_t const value = 1;
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    int code = MPI_Put(&value, 1, MPI_INT64_T, 0, 1 << 20, 1, MPI_INT64_T, w->win);
    if (code == MPI_SUCCESS && w->flavor == FLAVOR_DYNAMIC) /* the target tells */
        code = MPI_Win_flush(0, w->win);
    CHECK_ERROR(code, MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

static void use_windows(MPI_Comm comm)
{
    bool const alone = host_is_alone();
    for (int flavor = FLAVOR_ALLOCATE; flavor < (alone ? FLAVOR_CREATE : FLAVORS); ++flavor) {
        struct window w = window_open((enum flavor)flavor, comm, 16, 1);
        groups(&w);
        fences(&w);
        locks(&w);
        if (!alone)
            errors(&w);
        window_close(&w);
    }
}

static MPI_Session session_with(const char *level)
{
    MPI_Info info;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", level);
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    MPI_Info_free(&info);
    return session;
}

static MPI_Session session_open(void) { return session_with("MPI_THREAD_MULTIPLE"); }

static void begin(MPI_Comm comm)
{
    MPI_Comm_rank(comm, &check_rank);
    MPI_Comm_size(comm, &check_size);
    check_watch();
}

/* A handle that is made when the communicator is gone that others were made of. */
static void duplicated(struct window *w)
{
    typedef int dup_with_info(MPI_Win, MPI_Info, MPI_Win *);
    void *const symbol = dlsym(RTLD_DEFAULT, "MPIX_Win_dup_with_info");
    MPI_Win const first = w->win;
    MPI_Win other = MPI_WIN_NULL;
    if (symbol == NULL)
        return;
    dup_with_info *duplicate;
    memcpy(&duplicate, &symbol, sizeof symbol);
    CHECK_OK(duplicate(first, MPI_INFO_NULL, &other));
    w->win = other;
    fences(w);
    locks(w);
    w->win = first;
    memset(w->base, 0, (size_t)w->bytes);
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_free(&other));
}

/* A session from its start to its end. */
static void one_session(void)
{
    check_step("one session");
    MPI_Session session = session_open();
    MPI_Comm comm = all_processes(session, "sidelight.test.one");
    begin(comm);
    use_windows(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* Two sessions at the same time: the first one ends while a window of the second one lives. */
static void two_sessions(void)
{
    check_step("two sessions");
    MPI_Session first = session_open(), second = session_open();
    MPI_Comm inner = all_processes(first, "sidelight.test.first");
    MPI_Comm outer = all_processes(second, "sidelight.test.second");
    struct window w = window_open(FLAVOR_ALLOCATE, outer, 16, 1);
    use_windows(inner);
    CHECK_OK(MPI_Comm_free(&inner));
    CHECK_OK(MPI_Session_finalize(&first));
    duplicated(&w);
    fences(&w);
    locks(&w);
    window_close(&w);
    CHECK_OK(MPI_Comm_free(&outer));
    CHECK_OK(MPI_Session_finalize(&second));
}

static void *count(void *window)
{
    enum { TIMES = 3000 };
    struct window *w = window;
    int64_t const one = 1;
    int const right = (w->rank + 1) % w->size;
    for (int k = 0; k < TIMES; ++k) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, right, window_at(w, right, 0), 1, MPI_INT64_T,
                                MPI_SUM, w->win));
        CHECK_OK(MPI_Win_unlock(right, w->win));
    }
    return NULL;
}

static atomic_bool enough;

static void *begin_and_end_sessions(void *nothing)
{
    while (!atomic_load(&enough)) {
        MPI_Session session = session_open();
        CHECK_OK(MPI_Session_finalize(&session));
    }
    return nothing;
}

static void requests(const struct window *w)
{
    int64_t const value = 3;
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int k = 0; k < 4; ++k) {
        MPI_Request request;
        CHECK_OK(MPI_Rput(&value, 1, MPI_INT64_T, w->rank, window_at(w, w->rank, 0), 1, MPI_INT64_T,
                          w->win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

/* One thread ends sessions, while another one makes windows in a session that goes on, and asks for
 * requests in them. */
static void beside_ending_sessions(void)
{
    enum { WINDOWS = 5000 };
    check_step("sessions that end beside windows that are made, and requests");
    MPI_Session session = session_open();
    MPI_Comm comm = processes_of(session, "mpi://SELF", "sidelight.test.beside");
    pthread_t thread;
    atomic_store(&enough, false);
    pthread_create(&thread, NULL, begin_and_end_sessions, NULL);
    for (int k = 0; k < WINDOWS; ++k) {
        struct window w = window_open(FLAVOR_ALLOCATE, comm, 16, 1);
        requests(&w);
        window_close(&w);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* Whether a datatype is committed, the host says at its first use, by a communicator that is not to
 * go with a session. */
static void checks_types(const struct window *w)
{
    int const value = 7;
    MPI_Datatype type;
    MPI_Type_contiguous(1, MPI_INT, &type);
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    CHECK_ERROR(MPI_Put(&value, 1, type, w->rank, window_at(w, w->rank, 0), 1, MPI_INT, w->win),
                MPI_ERR_TYPE);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    MPI_Type_free(&type);
}

/* Each has a window of its own. */
static void use_from_threads(void)
{
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    struct window windows[THREADS];
    for (int k = 0; k < THREADS; ++k)
        windows[k] = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 16, 1);
    for (int k = 0; k < THREADS; ++k)
        pthread_create(&threads[k], NULL, count, &windows[k]);
    for (int k = 0; k < THREADS; ++k)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < THREADS; ++k)
        window_close(&windows[k]);
}

/* Answers whether the host gives threads to what begins later. */
static bool rising(void)
{
    int provided = -1;
    MPI_Session session = session_with("MPI_THREAD_SINGLE");
    MPI_Comm comm = all_processes(session, "sidelight.test.single");
    begin(comm);
    struct window w = window_open(FLAVOR_ALLOCATE, comm, 16, 1);
    fences(&w);
    CHECK_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    if (provided == MPI_THREAD_MULTIPLE)
        use_from_threads();
    struct window of_world = window_open(FLAVOR_ALLOCATE, MPI_COMM_WORLD, 16, 1);
    window_close(&w);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    checks_types(&of_world);
    requests(&of_world);
    window_close(&of_world);
    CHECK_OK(MPI_Finalize());
    return provided == MPI_THREAD_MULTIPLE;
}

/* What others do in a window of a session while the world of this process ends, which waits for
 * their worlds, too. */
static void world_ends_first(void)
{
    int64_t const one = 1;
    MPI_Init(NULL, NULL);
    MPI_Session session = session_with("MPI_THREAD_SINGLE");
    MPI_Comm comm = all_processes(session, "sidelight.test.world");
    begin(comm);
    struct window w = window_open(FLAVOR_CREATE, comm, 16, 1);
    MPI_Barrier(comm);
    if (w.rank == w.size - 1) {
        usleep(200000);
        for (int target = 0; target < w.size; ++target) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, window_at(&w, target, 8), 1,
                                    MPI_INT64_T, MPI_SUM, w.win));
            CHECK_OK(MPI_Win_unlock(target, w.win));
        }
    }
    CHECK_OK(MPI_Finalize());
    MPI_Barrier(comm);
    int64_t value = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w.rank, 0, w.win));
    memcpy(&value, w.base + 8, sizeof value);
    CHECK_OK(MPI_Win_unlock(w.rank, w.win));
    CHECK_EQ(value, one);
    fences(&w);
    window_close(&w);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

static atomic_int arrived;

/* By turns of a loop: to be woken up takes longer than to end a session. */
static void meet(int times)
{
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2 * times)
        ;
}

/* Every other time both end theirs at the same moment, and MPI with them: MPICH 5.0.2 begins no
 * more than 85 times. */
static void *sessions_of_a_thread(void *tag)
{
    int const sessions = strcmp(CHECK_HOST, "mpich5") == 0 ? 40 : 200;
    for (int k = 0; k < sessions; ++k) {
        MPI_Session session = session_open();
        MPI_Comm comm = processes_of(session, "mpi://SELF", tag);
        struct window w = window_open(FLAVOR_ALLOCATE, comm, 16, 1);
        requests(&w);
        window_close(&w);
        CHECK_OK(MPI_Comm_free(&comm));
        if (k % 2 == 0)
            meet(k / 2 + 1);
        CHECK_OK(MPI_Session_finalize(&session));
    }
    return NULL;
}

static void together(void)
{
    static char first[] = "sidelight.test.first", second[] = "sidelight.test.second";
    pthread_t thread;
    check_watch();
    check_step("two threads that end their sessions at any time");
    pthread_create(&thread, NULL, sessions_of_a_thread, first);
    sessions_of_a_thread(second);
    pthread_join(thread, NULL);
}

static void *one_with_threads(void *nothing)
{
    MPI_Session session = session_open();
    CHECK_OK(MPI_Session_finalize(&session));
    atomic_fetch_add(&arrived, 1);
    return nothing;
}

/* What the window's requests are made of is not to end with the other session. */
static void raised(void)
{
    pthread_t thread;
    check_watch();
    check_step("a session with threads that ends beside a window of one without");
    MPI_Session session = session_with("MPI_THREAD_SERIALIZED");
    MPI_Comm comm = processes_of(session, "mpi://SELF", "sidelight.test.raised");
    struct window w = window_open(FLAVOR_ALLOCATE, comm, 16, 1);
    pthread_create(&thread, NULL, one_with_threads, NULL);
    while (atomic_load(&arrived) == 0)
        requests(&w);
    pthread_join(thread, NULL);
    requests(&w);
    window_close(&w);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

static MPI_Session strict_session_open(void)
{
    MPI_Info info;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Info_set(info, "strict_finalize", "true");
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    MPI_Info_free(&info);
    return session;
}

/* Nothing of a session is left when its own windows are gone, whatever others have. */
static void beside_windows_of_another(void)
{
    check_step("a session that ends beside windows of another");
    MPI_Session first = strict_session_open(), second = session_open();
    MPI_Comm inner = all_processes(first, "sidelight.test.inner");
    MPI_Comm outer = all_processes(second, "sidelight.test.outer");
    use_windows(inner);
    struct window w = window_open(FLAVOR_ALLOCATE, outer, 16, 1);
    use_windows(inner);
    CHECK_OK(MPI_Comm_free(&inner));
    CHECK_OK(MPI_Session_finalize(&first));
    fences(&w);
    window_close(&w);
    CHECK_OK(MPI_Comm_free(&outer));
    CHECK_OK(MPI_Session_finalize(&second));
}

/* A window lives on when the host has refused to end its session, by messages, too. */
static void refused(void)
{
    MPI_Session session = strict_session_open();
    MPI_Comm comm = all_processes(session, "sidelight.test.strict");
    begin(comm);
    check_step("a session that is not ended while it has a window");
    struct window w = window_open(FLAVOR_ALLOCATE, comm, 16, 1);
    fences(&w);
    MPI_Barrier(comm);
    CHECK(MPI_Session_finalize(&session) != MPI_SUCCESS);
    CHECK(session != MPI_SESSION_NULL);
    locks(&w);
    fences(&w);
    window_close(&w);
    use_windows(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* Of what an argument asks for; null: it asks for something else. */
static void (*asked_for(const char *argument))(void)
{
    if (strcmp(argument, "world") == 0)
        return world_ends_first;
    if (strcmp(argument, "together") == 0)
        return together;
    if (strcmp(argument, "apart") == 0)
        return beside_windows_of_another;
    if (strcmp(argument, "raised") == 0)
        return raised;
    return strcmp(argument, "strict") == 0 ? refused : NULL;
}

int main(int argc, char **argv)
{
    bool const again = argc > 1 && strcmp(argv[1], "again") == 0;
    if (argc > 1 && strcmp(argv[1], "rising") == 0) {
        if (!rising() && check_rank == 0)
            printf("check_skip: the host gives no threads to what begins behind a session\n");
        return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (argc > 1 && asked_for(argv[1]) != NULL) {
        asked_for(argv[1])();
        if (check_failures == 0 && check_rank == 0)
            printf("ok\n");
        return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    MPI_Session whole_program = again ? MPI_SESSION_NULL : session_open();
    for (int k = 0; k < 3; ++k)
        one_session();
    two_sessions();
    beside_ending_sessions();
    if (!again)
        CHECK_OK(MPI_Session_finalize(&whole_program));
    if (check_failures == 0 && check_rank == 0)
        printf("ok\n");
    return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#else

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    return check_skip("this host has no sessions");
}

#endif
