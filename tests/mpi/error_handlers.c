/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each class of error goes to the handler of the window that it belongs to, once, and the call
 * returns it. With MPI_ERRORS_RETURN nothing is written: not to a window, not to what a call would
 * have fetched, not to a request, and not to the terminal.
 */
#include "noted_errors.h"
#include "wrong_calls.h"

/* --- The wrong calls -------------------------------------------------------------------------- */

static MPI_Aint first(const struct window *w) { return cell_at(w, 0, 0); }

static int wrong_rank(struct window *w) { return issue(w, RGET, at_cell(w->size, 0, 1)); }

static int wrong_count(struct window *w) { return issue(w, GET, at_cell(0, first(w), -1)); }

static int wrong_type(struct window *w)
{
    return issue(w, RGET_ACCUMULATE, (struct access){0, first(w), 1, MPI_DATATYPE_NULL, MPI_NO_OP});
}

static int wrong_op(struct window *w)
{
    return issue(w, FETCH_AND_OP, (struct access){0, first(w), 1, MPI_FLOAT, MPI_BXOR});
}

static int wrong_assertion(struct window *w) { return MPI_Win_fence(1 << 27, w->win); }

static int wrong_lock(struct window *w) { return MPI_Win_lock(4711, 0, 0, w->win); }

static int wrong_group(struct window *w) { return MPI_Win_post(MPI_GROUP_NULL, 0, w->win); }

static int wrong_order(struct window *w) { return MPI_Win_complete(w->win); }

static int no_epoch(struct window *w) { return issue(w, GET_ACCUMULATE, at_cell(0, first(w), 1)); }

static int out_of_range(struct window *w)
{
    return issue(w, COMPARE_AND_SWAP, at_cell(0, cell_at(w, 0, CELLS), 1));
}

static int attached_twice(struct window *w) { return MPI_Win_attach(w->win, w->base, BYTES); }

static int never_attached(struct window *w) { return MPI_Win_detach(w->win, w->base + 1); }

static int negative_size(struct window *w) { return MPI_Win_attach(w->win, w->base, -1); }

static int wrong_flavor(struct window *w)
{
    MPI_Aint size = 17;
    int unit = 18;
    void *base = &size;
    int const code = MPI_Win_shared_query(w->win, 0, &size, &unit, &base);
    CHECK(size == 17 && unit == 18 && base == (void *)&size);
    return code;
}

struct wrong_call {
    const char *what;
    int (*call)(struct window *);
    int class;
    unsigned flavors; /* a bit for each one that it is made on */
    bool in_epoch;    /* under a lock of rank 0 */
};

enum { CALLS = 14 };

static struct wrong_call wrong_calls[CALLS];

/* The classes are no constants on every host. */
static void list_wrong_calls(void)
{
    struct wrong_call const all[CALLS] = {
        {"rank", wrong_rank, MPI_ERR_RANK, ON_ANY, true},
        {"count", wrong_count, MPI_ERR_COUNT, ON_ANY, true},
        {"type", wrong_type, MPI_ERR_TYPE, ON_ANY, true},
        {"operation", wrong_op, MPI_ERR_OP, ON_ANY, true},
        {"assertion", wrong_assertion, MPI_ERR_ASSERT, ON_ANY, false},
        {"type of lock", wrong_lock, MPI_ERR_LOCKTYPE, ON_ANY, false},
        {"group", wrong_group, MPI_ERR_GROUP, ON_ANY, false},
        {"order of calls", wrong_order, MPI_ERR_RMA_SYNC, ON_ANY, false},
        {"no epoch", no_epoch, MPI_ERR_RMA_SYNC, ON_ANY, false},
        {"range", out_of_range, MPI_ERR_RMA_RANGE, ON_ANY, true},
        {"attached twice", attached_twice, MPI_ERR_RMA_ATTACH, ON_DYNAMIC, false},
        {"never attached", never_attached, MPI_ERR_BASE, ON_DYNAMIC, false},
        {"size", negative_size, MPI_ERR_SIZE, ON_DYNAMIC, false},
        {"flavor", wrong_flavor, MPI_ERR_RMA_FLAVOR, ON_DYNAMIC, false}};
    memcpy(wrong_calls, all, sizeof all);
}

/* What is attached is known at the target alone: then the call that completes the wrong one says
 * it. */
static int make_call(struct window *w, const struct wrong_call *c)
{
    if (c->in_epoch)
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    int const code = c->call(w);
    int const later = c->in_epoch ? MPI_Win_unlock(0, w->win) : MPI_SUCCESS;
    return code != MPI_SUCCESS ? code : later;
}

/* --- A handler of one's own ------------------------------------------------------------------- */

static void own_handler(struct window *w, const struct wrong_call *c)
{
    note_errors(w->win);
    CHECK_ERROR(make_call(w, c), c->class);
    CHECK_EQ(handled, 1);
    CHECK_EQ(handled_class, c->class);
    CHECK(handled_window == w->win);
}

/* --- Nothing is written ----------------------------------------------------------------------- */

/* Standard output and standard error go to a file until they are given back. */
struct silence {
    FILE *file;
    int saved[2];
};

static struct silence silence_begin(void)
{
    struct silence s = {.file = tmpfile()};
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; ++i) {
        s.saved[i] = dup(STDOUT_FILENO + i);
        dup2(fileno(s.file), STDOUT_FILENO + i);
    }
    return s;
}

/* How many bytes were written. */
static long silence_end(struct silence *s)
{
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; ++i) {
        dup2(s->saved[i], STDOUT_FILENO + i);
        close(s->saved[i]);
    }
    fseek(s->file, 0, SEEK_END);
    long const bytes = ftell(s->file);
    fclose(s->file);
    return bytes;
}

static void returned(struct window *w, const struct wrong_call *c)
{
    int class = MPI_SUCCESS;
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    memset(result_memory, 0x5a, sizeof result_memory);
    struct silence s = silence_begin();
    int const code = make_call(w, c);
    long const printed = silence_end(&s);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, c->class);
    CHECK_EQ(printed, 0);
    for (int i = 0; i < LARGE; ++i)
        if (!CHECK_EQ(result_memory[i], 0x5a))
            break;
}

static void everything(struct window *w)
{
    static char step[64];
    fill(w);
    MPI_Barrier(w->comm);
    for (int i = 0; i < CALLS; ++i) {
        const struct wrong_call *const c = &wrong_calls[i];
        if ((c->flavors & 1u << w->flavor) == 0)
            continue;
        snprintf(step, sizeof step, "wrong %s on %s", c->what, flavor_names[w->flavor]);
        check_step(step);
        own_handler(w, c);
        returned(w, c);
        check_untouched(w);
    }
    check_usable(w, 0);
}

/* --- Windows that are not made ---------------------------------------------------------------- */

static int comm_handled;

static void on_comm_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    ++comm_handled;
}

/* Their errors go to the communicator. */
static void creation(void)
{
    int memory[4] = {0};
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_comm_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    CHECK_ERROR(MPI_Win_create(memory, -4, 1, MPI_INFO_NULL, comm, &win), MPI_ERR_SIZE);
    CHECK_ERROR(MPI_Win_create(memory, 16, 0, MPI_INFO_NULL, comm, &win), MPI_ERR_DISP);
    CHECK_ERROR(MPI_Win_create(memory, 16, -1, MPI_INFO_NULL, comm, &win), MPI_ERR_DISP);
    CHECK(win == MPI_WIN_NULL);
    CHECK_EQ(comm_handled, 3);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* Memory of several nodes cannot be shared. */
static void across_nodes(void)
{
    void *base = NULL;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Comm comm;
    if (window_is_on_one_node(MPI_COMM_WORLD))
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_ERROR(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, comm, &base, &win),
                MPI_ERR_RMA_SHARED);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (host_is_alone())
        return check_skip("the hosts do not check what is tested here");
    wrong_calls_begin();
    list_wrong_calls();
    run_everywhere("errors", everything, BYTES, UNIT);
    check_step("creation");
    creation();
    check_step("shared memory across nodes");
    across_nodes();
    return check_end();
}
