/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks do random operations of every kind on windows of every kind, against a model of the
 * memory of all of them.
 *
 * random_operations [operations [seed [all|allocate|allocate_shared|create|dynamic]]]
 *
 * A life of a window has its own seed, the next one the next seed; in it there are phases
 * (phase.h), each of one style of synchronisation, and after each of them every rank compares
 * its memory with the model. What fails prints the arguments that play the same life up to there.
 */
#include "execution.h"

enum { LIFE_PHASES = 40 };

static struct phase phase;

static const char *step_text(uint64_t first)
{
    static char text[2][160];
    static int turn;
    char *const step = text[turn ^= 1];
    snprintf(step, sizeof text[0], "life %llu on %s, %s with operations %llu to %llu",
             (unsigned long long)replay.seed, replay.flavor, style_names[phase.style],
             (unsigned long long)first, (unsigned long long)first + (unsigned)phase.operations - 1);
    return step;
}

/* On dynamic windows, before some of the phases. */
static void renew_some(struct memory *m, uint64_t *seed)
{
    bool any = false;
    for (int r = 0; r < m->size; ++r)
        for (int s = 0; s < m->segments; ++s)
            if (one_in(4, seed)) {
                memory_renew(m, r, s, check_random(seed));
                any = true;
            }
    if (any)
        memory_publish(m);
}

static bool failed_anywhere(MPI_Comm comm)
{
    int failed = replay.failed || check_failures > 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    return failed != 0;
}

/* Returns how many operations there were: not many more than wanted. */
static uint64_t play_life(enum flavor flavor, uint64_t seed, uint64_t wanted)
{
    uint64_t done = 0;
    bool const reversed = one_in(3, &seed), roomy = one_in(4, &seed);
    struct memory m = memory_open(flavor, reversed, roomy, check_random(&seed));
    memset(&phase, 0, sizeof phase);
    for (int k = 0; k < LIFE_PHASES && done < wanted; ++k) {
        bool const is_open = phase.keep;
        uint64_t const first = done;
        if (flavor == FLAVOR_DYNAMIC && !is_open && one_in(2, &seed))
            renew_some(&m, &seed);
        done = draw_phase(&phase, &m, done, check_random(&seed));
        if (phase.operations == 0) {
            phase.keep = is_open;
            continue;
        }
        check_step(step_text(first));
        play_phase(&m, &phase, is_open);
        if (k % 8 == 7 && failed_anywhere(m.comm))
            break;
    }
    if (phase.keep)
        CHECK_OK(MPI_Win_unlock_all(m.win));
    memory_close(&m);
    return done;
}

/* Memory is shared only on one machine. */
static bool all_on_one_node(void)
{
    MPI_Comm node;
    int ranks;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    return ranks == check_size;
}

static enum flavor flavor_of(const char *name, uint64_t seed, bool one_node)
{
    for (int f = 0; f < FLAVORS; ++f)
        if (strcmp(name, flavor_names[f]) == 0)
            return (enum flavor)f;
    enum flavor const drawn = (enum flavor)below(FLAVORS, &seed);
    return drawn == FLAVOR_SHARED && !one_node ? FLAVOR_ALLOCATE : drawn;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    uint64_t const wanted = check_argument(argc, argv, 1, 4000);
    uint64_t const seed = check_argument(argc, argv, 2, 1);
    const char *const name = argc > 3 ? argv[3] : "all";
    bool const one_node = all_on_one_node();
    if (check_size > MEMORY_MOST_RANKS)
        return check_skip("for at most eight ranks");
    if (strcmp(name, flavor_names[FLAVOR_SHARED]) == 0 && !one_node)
        return check_skip("memory is not shared by all ranks");
    elements_begin();
    uint64_t done = 0;
    for (uint64_t life = seed; done < wanted && !failed_anywhere(MPI_COMM_WORLD); ++life) {
        enum flavor const flavor = flavor_of(name, life, one_node);
        replay = (struct replay){.seed = life, .flavor = flavor_names[flavor]};
        done += play_life(flavor, life, wanted - done);
    }
    if (check_rank == 0)
        printf("%llu operations\n", (unsigned long long)done);
    return check_end();
}
