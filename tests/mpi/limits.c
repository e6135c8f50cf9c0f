/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of every flavour under limits that somebody else has set: made, used in every way, freed,
 * and made again. Either all of them work, be they the library's or the host's, or the call that
 * makes one says so to all its members alike. Prints "begun <rank>" behind MPI_Init, and at the end
 * "windows <rank> <ours> <host's> <refused>".
 *
 * An argument is a limit that begins after MPI_Init, or behind as many rounds as the next argument
 * says: on the last rank alone "nofile" (no descriptor more) and "as=MEGABYTES" (so many of
 * addresses more), on all "fsize" (files of 1 KiB). One more, "large": what MPI allocates for
 * a window is 32 MB from then on.
 */
#include "windows.h"

#include <sys/resource.h>

enum { ROUNDS = 3, CELLS = 512 };

static int ours, hosts, refused;
static MPI_Aint allocated = CELLS * 8; /* bytes, where the program brings none */

static bool is_ours(MPI_Win win)
{
    char value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    int found = 0;
    if (MPI_Win_get_info(win, &info) != MPI_SUCCESS)
        return false;
    MPI_Info_get(info, "sidelight_share_memory", sizeof value - 1, value, &found);
    MPI_Info_free(&info);
    return found != 0;
}

static int make(struct window *w)
{
    w->unit = w->flavor == FLAVOR_DYNAMIC ? 1 : 8;
    w->bytes = w->base != NULL ? CELLS * 8 : allocated;
    switch (w->flavor) {
    case FLAVOR_ALLOCATE:
        return MPI_Win_allocate(w->bytes, 8, MPI_INFO_NULL, w->comm, &w->base, &w->win);
    case FLAVOR_SHARED:
        return MPI_Win_allocate_shared(w->bytes, 8, MPI_INFO_NULL, w->comm, &w->base, &w->win);
    case FLAVOR_CREATE:
        return MPI_Win_create(w->base, w->bytes, 8, MPI_INFO_NULL, w->comm, &w->win);
    default:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, w->comm, &w->win);
    }
}

/* Whether all have made it, and all say alike. */
static bool made(struct window *w)
{
    int const code = make(w);
    int sum = 0, mine = code != MPI_SUCCESS;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, w->comm);
    CHECK(sum == 0 || sum == w->size);
    if (mine) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        fprintf(stderr, "refused: %s: %.*s\n", flavor_names[w->flavor], length, text);
    }
    return sum == 0;
}

static void tell_addresses(struct window *w)
{
    MPI_Aint first = 0;
    if (w->flavor == FLAVOR_DYNAMIC) {
        CHECK_OK(MPI_Win_attach(w->win, w->base, w->bytes));
        MPI_Get_address(w->base, &first);
    }
    MPI_Allgather(&first, 1, MPI_AINT, w->origin, 1, MPI_AINT, w->comm);
}

static void use(struct window *w)
{
    int const to = (w->rank + 1) % w->size, from = (w->rank + w->size - 1) % w->size;
    int64_t const value = 1000 + w->rank, one = 1;
    int64_t seen[CELLS], sum = 0;
    MPI_Win const win = w->win;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, to, window_at(w, to, 8), 1, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(seen, CELLS, MPI_INT64_T, to, window_at(w, to, 0), CELLS, MPI_INT64_T, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(seen[1], value);
    CHECK_EQ(((volatile int64_t *)w->base)[1], 1000 + from);
    for (int target = 0; target < w->size; ++target) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, window_at(w, target, 16), 1,
                                MPI_INT64_T, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(target, win));
    }
    MPI_Barrier(w->comm);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Fetch_and_op(NULL, &sum, MPI_INT64_T, to, window_at(w, to, 16), MPI_NO_OP, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_EQ(sum, w->size);
}

static void flavor(enum flavor of)
{
    struct window w = {.win = MPI_WIN_NULL, .comm = MPI_COMM_WORLD, .flavor = of};
    bool const brings = of == FLAVOR_CREATE || of == FLAVOR_DYNAMIC;
    static int64_t memory[CELLS];
    check_step(flavor_names[of]);
    w.rank = check_rank;
    w.size = check_size;
    w.base = brings ? (unsigned char *)memory : NULL;
    if (!made(&w)) {
        refused++;
        return;
    }
    *(is_ours(w.win) ? &ours : &hosts) += 1;
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    memset(w.base, 0, (size_t)w.bytes);
    tell_addresses(&w);
    use(&w);
    MPI_Barrier(w.comm);
    if (of == FLAVOR_DYNAMIC)
        CHECK_OK(MPI_Win_detach(w.win, w.base));
    CHECK_OK(MPI_Win_free(&w.win));
}

static void no_more(int resource, rlim_t now)
{
    struct rlimit const limit = {now, now};
    setrlimit((__rlimit_resource_t)resource, &limit);
}

/* What there is already stays. */
static void set_limit(const char *name)
{
    if (strcmp(name, "fsize") == 0)
        no_more(RLIMIT_FSIZE, 1024);
    if (check_rank != check_size - 1)
        return;
    if (strcmp(name, "nofile") == 0)
        no_more(RLIMIT_NOFILE, 0);
    if (strncmp(name, "as=", 3) == 0) {
        unsigned long long pages = 0;
        rlim_t const more = (rlim_t)strtoull(name + 3, NULL, 0) << 20;
        FILE *const file = fopen("/proc/self/statm", "r");
        if (file != NULL && fscanf(file, "%llu", &pages) == 1)
            no_more(RLIMIT_AS, (rlim_t)pages * (rlim_t)getpagesize() + more);
        if (file != NULL)
            fclose(file);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    printf("begun %d\n", check_rank);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    int const before = argc > 2 ? atoi(argv[2]) : 0;
    for (int round = 0; round < ROUNDS; ++round) {
        if (argc > 1 && round == before)
            set_limit(argv[1]);
        if (argc > 3 && round == before)
            allocated = 32 << 20;
        for (int i = 0; i < FLAVORS; ++i)
            flavor((enum flavor)i);
    }
    printf("windows %d %d %d %d\n", check_rank, ours, hosts, refused);
    fflush(stdout);
    return check_end();
}
