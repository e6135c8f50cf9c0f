/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of all flavours come, are used and go at random, some tens at a time, on the world, on
 * duplicates and parts of it and on each process alone, which come and go as well. Every now and
 * then all are freed, and what the process holds is measured: it must not have grown.
 *
 * soak [seconds [seed]]
 */
#include "footprint.h"
#include "host_defects.h"

enum {
    POOL = 24,          /* windows at a time, at most */
    COMMS = 5,          /* the world, its reverse, a duplicate, halves, self */
    TURNS = 80,         /* things done between two measurements */
    LEAST_BEFORE = 20,  /* measurements in the first half, also where that takes its time */
    LEAST_MEASURED = 4, /* and in the second */
    /* What may be more in the second half, however long it is: caches and pools that are seldom
     * needed to their full, and pieces of the heap that have been shared and are mapped apart. */
    MORE_HEAP = 512 << 10,
    MORE_RESIDENT = 4 << 20,
    MORE_MAPPINGS = 256
};

struct pool {
    MPI_Comm comms[COMMS];
    struct window windows[POOL];
    int owner[POOL]; /* its communicator; -1: no window */
    uint64_t seed;   /* the same on all ranks */
    long made;
};

static uint64_t draw(struct pool *p, uint64_t limit) { return check_random(&p->seed) % limit; }

/* --- Communicators ---------------------------------------------------------------------------- */

static MPI_Comm make_comm(int kind)
{
    MPI_Comm comm;
    if (kind == 0)
        return MPI_COMM_WORLD;
    if (kind == 1)
        MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comm);
    else if (kind == 2)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (kind == 3)
        MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &comm);
    else
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
    return comm;
}

static bool is_in_use(const struct pool *p, int comm)
{
    for (int i = 0; i < POOL; ++i)
        if (p->owner[i] == comm)
            return true;
    return false;
}

/* Another one in its place, unless a window is on it. */
static void renew_comm(struct pool *p, int comm)
{
    if (comm == 0 || is_in_use(p, comm))
        return;
    MPI_Comm_free(&p->comms[comm]);
    p->comms[comm] = make_comm(comm);
}

/* --- Windows ---------------------------------------------------------------------------------- */

static void make_window(struct pool *p, int slot)
{
    static MPI_Aint const sizes[] = {64, 64, 4096, 10000, 1 << 16, 1 << 20};
    int const comm = (int)draw(p, COMMS);
    enum flavor const flavor = (enum flavor)draw(p, FLAVORS);
    MPI_Aint const bytes = sizes[draw(p, 6)];
    MPI_Info info;
    MPI_Info_create(&info);
    if (draw(p, 2) != 0)
        MPI_Info_set(info, "accumulate_ordering", "none");
    if (flavor == FLAVOR_SHARED && draw(p, 2) != 0)
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    p->windows[slot] = window_open_with(info, flavor, p->comms[comm], bytes, 8);
    p->owner[slot] = comm;
    ++p->made;
    MPI_Info_free(&info);
}

static void free_window(struct pool *p, int slot)
{
    window_close(&p->windows[slot]);
    p->owner[slot] = -1;
}

static MPI_Aint word(const struct window *w, int target, int index)
{
    return window_at(w, target, 8 * index);
}

static void put_and_add(struct window *w, int target)
{
    static int64_t const values[2] = {3, 4};
    static int64_t old;
    MPI_Win const win = w->win;
    CHECK_OK(MPI_Put(values, 1, MPI_INT64_T, target, word(w, target, 0), 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Accumulate(values, 2, MPI_INT64_T, target, word(w, target, 1), 2, MPI_INT64_T,
                            MPI_SUM, win));
    CHECK_OK(MPI_Fetch_and_op(values, &old, MPI_INT64_T, target, word(w, target, 3), MPI_SUM, win));
}

static void use_fence(struct window *w)
{
    CHECK_OK(MPI_Win_fence(0, w->win));
    put_and_add(w, (w->rank + 1) % w->size);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

static void use_groups(struct window *w)
{
    MPI_Group group;
    CHECK_OK(MPI_Win_get_group(w->win, &group));
    CHECK_OK(MPI_Win_post(group, 0, w->win));
    CHECK_OK(MPI_Win_start(group, 0, w->win));
    put_and_add(w, (w->rank + 1) % w->size);
    CHECK_OK(MPI_Win_complete(w->win));
    CHECK_OK(MPI_Win_wait(w->win));
    CHECK_OK(MPI_Group_free(&group));
}

/* With a derived type, which goes before its operation is complete, and with requests. */
static void use_lock_all(struct window *w)
{
    int const target = (w->rank + 1) % w->size;
    int64_t in[3] = {0};
    MPI_Datatype type;
    MPI_Request request;
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    put_and_add(w, target);
    MPI_Type_vector(3, 1, 2, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Rget(in, 3, MPI_INT64_T, target, word(w, target, 2), 1, type, w->win, &request));
    MPI_Type_free(&type);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

static void use_locks(struct window *w)
{
    for (int target = 0; target < w->size; ++target) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        put_and_add(w, target);
        CHECK_OK(MPI_Win_unlock(target, w->win));
    }
}

static int delete_attribute(MPI_Win win, int key, void *value, void *state)
{
    (void)win, (void)key, (void)state;
    free(value);
    return MPI_SUCCESS;
}

/* What is hung on a window goes with it. */
static void decorate(struct window *w)
{
    int key;
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, &key, NULL));
    CHECK_OK(MPI_Win_set_attr(w->win, key, malloc(1000)));
    CHECK_OK(MPI_Win_free_keyval(&key));
    CHECK_OK(MPI_Win_set_name(w->win, "a window that does not last"));
}

static void use_window(struct pool *p, int slot)
{
    static void (*const ways[])(struct window *) = {use_fence, use_groups, use_lock_all, use_locks,
                                                    decorate};
    ways[draw(p, 5)](&p->windows[slot]);
}

/* --- The soak --------------------------------------------------------------------------------- */

static void one_turn(struct pool *p)
{
    int const slot = (int)draw(p, POOL);
    if (draw(p, 12) == 0)
        renew_comm(p, (int)draw(p, COMMS));
    if (p->owner[slot] < 0)
        make_window(p, slot);
    else if (draw(p, 3) != 0)
        use_window(p, slot);
    else
        free_window(p, slot);
}

static void free_all(struct pool *p)
{
    for (int i = 0; i < POOL; ++i)
        if (p->owner[i] >= 0)
            free_window(p, i);
}

/* All stop together. */
static bool is_over(double end)
{
    int over = check_seconds() > end;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return over != 0;
}

static void most(struct footprint *f, struct footprint more)
{
    f->heap = more.heap > f->heap ? more.heap : f->heap;
    f->resident = more.resident > f->resident ? more.resident : f->resident;
    f->descriptors = more.descriptors > f->descriptors ? more.descriptors : f->descriptors;
    f->mappings = more.mappings > f->mappings ? more.mappings : f->mappings;
}

/* Whoever wakes a thread of Sidelight's for the first time opens a pipe of its process's, and keeps
 * it: up to one for each process. */
static int pipes_of_threads(void)
{
    const char *const progress = getenv("SIDELIGHT_PROGRESS");
    return progress != NULL && strcmp(progress, "smart") == 0 ? check_size : 0;
}

/* The host's UCX notes each munmap until its cache of registrations is next used, which only long
 * messages of the host do: some 60 to 700 bytes for a window, in blocks of 150 KB, which are part
 * of MPICH 4's heap and mappings elsewhere. Nothing of it with UCX_RCACHE_ENABLE=n. */
static void check_flat(const struct footprint *first, const struct footprint *last, long windows)
{
    enum { NOTED = 1024, WINDOWS_NOTED_IN_A_BLOCK = 1000 };
    bool const in_heap = strcmp(CHECK_HOST, "mpich4") == 0;
    CHECK(last->heap <= first->heap + MORE_HEAP + (in_heap ? NOTED * windows : 0));
    CHECK(last->resident <= first->resident + MORE_RESIDENT + NOTED * windows);
    CHECK(last->descriptors <= first->descriptors + pipes_of_threads());
    CHECK(last->mappings <= first->mappings + MORE_MAPPINGS + windows / WINDOWS_NOTED_IN_A_BLOCK);
}

static struct footprint measure(struct pool *p, bool show)
{
    char when[32];
    check_step("windows at random");
    for (int turn = 0; turn < TURNS; ++turn)
        one_turn(p);
    free_all(p);
    MPI_Barrier(MPI_COMM_WORLD);
    struct footprint const f = footprint_now();
    snprintf(when, sizeof when, "%7ld windows", p->made);
    if (check_rank == 0 && show)
        footprint_print(when, &f);
    return f;
}

/* The end is compared with the most that there was in the first half. */
static void soak(struct pool *p, double seconds)
{
    struct footprint first = {0}, last = {0};
    double const begin = check_seconds();
    int k = 0;
    for (; k < LEAST_BEFORE || !is_over(begin + seconds / 2); ++k)
        most(&first, measure(p, (k & (k - 1)) == 0));
    int const half = k;
    long const made = p->made;
    for (; k < half + LEAST_MEASURED || !is_over(begin + seconds); ++k)
        last = measure(p, (k & (k - 1)) == 0 || k == half);
    if (check_rank == 0)
        footprint_print("at the end", &last);
    check_flat(&first, &last, p->made - made);
}

int main(int argc, char **argv)
{
    static struct pool pool;
    check_begin(&argc, &argv);
    double const seconds = (double)check_argument(argc, argv, 1, 15);
    pool.seed = check_argument(argc, argv, 2, 1);
    if (host_is_alone())
        return check_skip("the hosts' own windows are not what is tested");
    for (int c = 0; c < COMMS; ++c)
        pool.comms[c] = make_comm(c);
    for (int i = 0; i < POOL; ++i)
        pool.owner[i] = -1;
    soak(&pool, seconds);
    for (int c = 1; c < COMMS; ++c)
        MPI_Comm_free(&pool.comms[c]);
    return check_end();
}
