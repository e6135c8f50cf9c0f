/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No update is lost: all ranks update the same elements of one of them, of every predefined type,
 * with every operation and every call that accumulates. The ranks may well reach them by different
 * routes: one's own memory, mapped memory, messages.
 *
 * lost_updates [elements updated, in all]
 *
 * Reductions: what the ranks bring gives the same in any order, and is compared with that. Those
 * that only grow are looked at in between too: what one has brought has to be in them. Replacing:
 * each ticket that was written is fetched by one other, or is there in the end; and nobody fetches
 * what was never written. Swapping: each rank counts its own successes.
 */
#include "host_defects.h"
#include "random_operations/elements.h"

enum {
    CELLS = 5,    /* elements of one call */
    BATCH = 16,   /* calls between two flushes; each batch has a row of its own */
    ROWS = 32,    /* in turn, so that what only grows is not soon at its end */
    TICKETS = 64, /* values that every type but a logical one can have */
    ROW_BYTES = CELLS * ELEMENT_LARGEST
};

typedef unsigned char row[ROW_BYTES] __attribute__((aligned(16)));

struct storm {
    struct window *w;
    int target, rounds;
    const struct element *e;
    enum operator op;
};

static uint64_t updates; /* of this rank */

static MPI_Aint place(const struct storm *s, int k)
{
    return window_at(s->w, s->target, (MPI_Aint)(k / BATCH % ROWS) * ROW_BYTES);
}

static void fill_row(const struct element *e, unsigned char *at, const unsigned char *value)
{
    for (int i = 0; i < CELLS; ++i)
        memcpy(at + (size_t)i * e->size, value, e->size);
}

static void complain(const struct storm *s, const char *what)
{
    if (check_count())
        fprintf(stderr, "rank %d: %s: %s with %s on %s, at rank %d\n", check_rank, what, s->e->name,
                operator_names[s->op], flavor_names[s->w->flavor], s->target);
}

/* --- What is brought -------------------------------------------------------------------------- */

static bool only_grows(enum operator op)
{
    return op == MAX || op == MIN || op == LAND || op == LOR || op == BAND || op == BOR ||
           op == MINLOC || op == MAXLOC;
}

static void first_value(const struct element *e, enum operator op, unsigned char *at)
{
    static int64_t const first[OPERATORS] = {
        [PROD] = 1, [MIN] = 127, [LAND] = 1, [BAND] = -1, [MINLOC] = 127};
    element_set(e, at, first[op], e->kind == PAIR ? 99 : 0);
}

/* What a rank brings in one of its rounds. A sum of small numbers whose lack would be seen; factors
 * of 3, -1 and i; bits and numbers that come one after the other. */
static void contribution(const struct element *e, enum operator op, int rank, int k,
                         unsigned char *at)
{
    static int const terms[] = {3, -2, -1};
    uint64_t mixed = (uint64_t)k * 1000 + (uint64_t)rank;
    int const step = k % BATCH * 3 + rank;
    int64_t number = 0, second = step % 7;
    if (op == SUM)
        number = terms[k % 3];
    else if (op == PROD)
        number = e->kind == REAL ? -1 : e->kind == COMPLEX ? 0 : 3;
    else if (op == MAX || op == MAXLOC)
        number = step;
    else if (op == MIN || op == MINLOC)
        number = 100 - step;
    else if (op == LXOR || op == LAND)
        number = (k + rank) % 7 != 0;
    else if (op == LOR)
        number = (k + rank) % 7 == 0;
    else if (op == BXOR)
        number = (int64_t)check_random(&mixed);
    else if (op == BOR)
        number = INT64_C(1) << step % 64;
    else if (op == BAND)
        number = ~(INT64_C(1) << step % 64);
    element_set(e, at, number, op == PROD ? 1 : op == SUM ? -number : second);
}

/* --- Reductions ------------------------------------------------------------------------------- */

/* One call, or as many as there are cells; what it fetches is not looked at. */
static void update(const struct storm *s, int k, unsigned char *origin, unsigned char *result)
{
    MPI_Datatype const type = s->e->type;
    MPI_Op const op = operator_handle(s->op);
    MPI_Aint const at = place(s, k), size = (MPI_Aint)s->e->size;
    MPI_Win const win = s->w->win;
    MPI_Request request;
    updates += CELLS;
    switch ((k + s->w->rank) % 5) {
    case 0:
        CHECK_OK(MPI_Accumulate(origin, CELLS, type, s->target, at, CELLS, type, op, win));
        break;
    case 1:
        CHECK_OK(MPI_Get_accumulate(origin, CELLS, type, result, CELLS, type, s->target, at, CELLS,
                                    type, op, win));
        break;
    case 2:
        CHECK_OK(
            MPI_Raccumulate(origin, CELLS, type, s->target, at, CELLS, type, op, win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    case 3:
        CHECK_OK(MPI_Rget_accumulate(origin, CELLS, type, result, CELLS, type, s->target, at, CELLS,
                                     type, op, win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    default:
        for (int i = 0; i < CELLS; ++i)
            CHECK_OK(MPI_Fetch_and_op(origin + i * size, result + i * size, type, s->target,
                                      at + i * size / s->w->unit, op, win));
        break;
    }
}

/* After a flush: what this rank brought last is in what is there, if nothing takes it out. */
static void check_included(const struct storm *s, int k, unsigned char *brought)
{
    const struct element *const e = s->e;
    row seen, more;
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, seen, CELLS, e->type, s->target, place(s, k),
                                CELLS, e->type, MPI_NO_OP, s->w->win));
    CHECK_OK(MPI_Win_flush(s->target, s->w->win));
    memcpy(more, seen, sizeof more);
    for (int i = 0; i < CELLS; ++i) {
        unsigned char *const a = seen + (size_t)i * e->size, *const b = more + (size_t)i * e->size;
        element_combine(e, s->op, b, brought);
        element_normalise(e, a);
        element_normalise(e, b);
        if (memcmp(a, b, e->size) != 0)
            complain(s, "an own update is not there");
    }
}

static void bring(const struct storm *s)
{
    static row origin[BATCH], result[BATCH];
    for (int k = 0; k < s->rounds; ++k) {
        unsigned char value[ELEMENT_LARGEST];
        contribution(s->e, s->op, s->w->rank, k, value);
        fill_row(s->e, origin[k % BATCH], value);
        update(s, k, origin[k % BATCH], result[k % BATCH]);
        if (k % BATCH != BATCH - 1)
            continue;
        CHECK_OK(MPI_Win_flush(s->target, s->w->win));
        if (only_grows(s->op))
            check_included(s, k, value);
    }
    window_meet(s->w);
}

static void start_with(const struct storm *s, const unsigned char *value)
{
    window_meet(s->w);
    for (int r = 0; r < ROWS && s->w->rank == s->target; ++r)
        fill_row(s->e, s->w->base + (size_t)r * ROW_BYTES, value);
    window_meet(s->w);
}

/* At the target: every cell of a row as the updates of all ranks make it. */
static void check_row(const struct storm *s, int r)
{
    const struct element *const e = s->e;
    unsigned char expected[ELEMENT_LARGEST], value[ELEMENT_LARGEST];
    first_value(e, s->op, expected);
    for (int k = r * BATCH; k < s->rounds;
         k += k % BATCH == BATCH - 1 ? ROWS * BATCH - BATCH + 1 : 1)
        for (int rank = 0; rank < s->w->size; ++rank) {
            contribution(e, s->op, rank, k, value);
            element_combine(e, s->op, expected, value);
        }
    element_normalise(e, expected);
    for (int i = 0; i < CELLS; ++i) {
        unsigned char *const at = s->w->base + (size_t)r * ROW_BYTES + (size_t)i * e->size;
        element_normalise(e, at);
        if (memcmp(at, expected, e->size) != 0)
            complain(s, "updates are lost");
    }
}

static void reduce(const struct storm *s)
{
    unsigned char first[ELEMENT_LARGEST];
    first_value(s->e, s->op, first);
    start_with(s, first);
    bring(s);
    for (int r = 0; r < ROWS && s->w->rank == s->target; ++r)
        check_row(s, r);
}

/* --- Replacing -------------------------------------------------------------------------------- */

static unsigned char tickets[TICKETS][ELEMENT_LARGEST]; /* of the type at hand */

static int ticket_values(const struct element *e) { return e->kind == LOGICAL ? 2 : TICKETS; }

static void make_tickets(const struct element *e)
{
    for (int t = 0; t < ticket_values(e); ++t)
        element_set(e, tickets[t], t, t);
}

/* Which ticket it is; -1 if none, so that something has been seen half written. */
static int ticket_of(const struct element *e, unsigned char *at)
{
    element_clear_padding(e, at);
    for (int t = 0; t < ticket_values(e); ++t)
        if (memcmp(at, tickets[t], e->size) == 0)
            return t;
    return -1;
}

static void count_tickets(const struct storm *s, unsigned char *cells, int *count, int more)
{
    for (int i = 0; i < CELLS; ++i) {
        int const t = ticket_of(s->e, cells + (size_t)i * s->e->size);
        if (t >= 0)
            count[t] += more;
        else
            complain(s, "what nobody has written");
    }
}

static void replace(const struct storm *s)
{
    const struct element *const e = s->e;
    int balance[TICKETS] = {0}; /* written and not fetched */
    row mine, before;
    start_with(s, tickets[0]);
    for (int k = 0; k < s->rounds; ++k) {
        int const t = (k * s->w->size + s->w->rank) % ticket_values(e);
        fill_row(e, mine, tickets[t]);
        balance[t] += CELLS;
        updates += CELLS;
        CHECK_OK(MPI_Get_accumulate(mine, CELLS, e->type, before, CELLS, e->type, s->target,
                                    place(s, 0), CELLS, e->type, MPI_REPLACE, s->w->win));
        CHECK_OK(MPI_Win_flush(s->target, s->w->win));
        count_tickets(s, before, balance, -1);
    }
    window_meet(s->w);
    if (s->w->rank == s->target) {
        count_tickets(s, s->w->base, balance, -1);
        balance[0] += CELLS;
    }
    MPI_Allreduce(MPI_IN_PLACE, balance, TICKETS, MPI_INT, MPI_SUM, s->w->comm);
    for (int t = 0; t < TICKETS && s->w->rank == 0; ++t)
        if (balance[t] != 0)
            complain(s, "a value is lost, or was fetched twice");
}

/* --- Swapping --------------------------------------------------------------------------------- */

/* The next ticket in the place of the present one, as often as there are rounds. */
static void swap(const struct storm *s)
{
    const struct element *const e = s->e;
    int const values = ticket_values(e), rounds = s->rounds / BATCH + 1;
    row found;
    int t = 0;
    start_with(s, tickets[0]);
    for (int done = 0; done < rounds;) {
        int const next = (t + 1) % values;
        CHECK_OK(MPI_Compare_and_swap(tickets[next], tickets[t], found, e->type, s->target,
                                      place(s, 0), s->w->win));
        CHECK_OK(MPI_Win_flush(s->target, s->w->win));
        ++updates;
        int const seen = ticket_of(e, found);
        if (seen < 0) {
            complain(s, "a swap has found what nobody has written");
            break;
        }
        done += seen == t;
        t = seen == t ? next : seen;
    }
    window_meet(s->w);
    if (s->w->rank == s->target && ticket_of(e, s->w->base) != rounds * s->w->size % values)
        complain(s, "swaps are lost");
}

/* --- All of it -------------------------------------------------------------------------------- */

static void all_of_type(struct storm *s)
{
    static char step[64];
    snprintf(step, sizeof step, "%s on %s", s->e->name, flavor_names[s->w->flavor]);
    check_step(step);
    for (int op = 0; op < REPLACE; ++op) {
        s->op = (enum operator)op;
        if (element_allows(s->e, s->op))
            reduce(s);
    }
    make_tickets(s->e);
    s->op = REPLACE;
    replace(s);
    if (element_swaps(s->e))
        swap(s);
}

/* Types and operations that go together, with some more for what replaces. */
static int combinations(void)
{
    int count = 0;
    for (int e = 0; e < element_count; ++e)
        for (int op = 0; op <= REPLACE; ++op)
            count += element_allows(&element_table[e], (enum operator)op);
    return count;
}

int main(int argc, char **argv)
{
    struct window windows[FLAVORS];
    uint64_t all = 0;
    check_begin(&argc, &argv);
    elements_begin();
    uint64_t const wanted = check_argument(argc, argv, 1, 200000);
    int const rounds = 1 + (int)(wanted / CELLS / (uint64_t)(combinations() * check_size));
    if (host_is_alone())
        return check_skip("the hosts lose some");
    for (int f = 0; f < FLAVORS; ++f) {
        windows[f] = window_open((enum flavor)f, MPI_COMM_WORLD, (MPI_Aint)ROWS * ROW_BYTES, 1);
        CHECK_OK(MPI_Win_lock_all(0, windows[f].win));
    }
    for (int e = 0; e < element_count; ++e) {
        struct storm s = {&windows[e % FLAVORS], e / FLAVORS % check_size, rounds,
                          &element_table[e], SUM};
        all_of_type(&s);
    }
    for (int f = 0; f < FLAVORS; ++f) {
        CHECK_OK(MPI_Win_unlock_all(windows[f].win));
        window_close(&windows[f]);
    }
    MPI_Reduce(&updates, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check_rank == 0)
        printf("%llu updates, %d combinations of a type and an operation\n",
               (unsigned long long)all, combinations());
    return check_end();
}
