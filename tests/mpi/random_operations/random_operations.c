/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks do random operations of every kind on windows of every kind, against a model of the
 * memory of all of them.
 *
 * random_operations [operations [seed [all|allocate|allocate_shared|create|dynamic [from [list]]]]]
 *
 * A life of a window has its own seed, the next one the next seed; in it there are phases
 * (phase.h), each of one style of synchronisation, and after each of them every rank compares its
 * memory with the model. Drawn are
 *   windows        of the four kinds, with sizes, units, infos and order of ranks (memory.h)
 *   epochs         fence, post-start-complete-wait/test, locks, lock_all; their assertions; flushes
 *                  of each kind, unlock, requests (styles.h)
 *   operations     all, their request forms, and each in its large form where the host has it; also
 *                  to MPI_PROC_NULL, of no elements, and to oneself (schedule.h)
 *   types          every predefined type of C, C++ and Fortran that the host has, with each
 *                  operation that is defined for it (elements.h)
 *   layouts        of every constructor, nested, on both sides; MPI_BOTTOM with addresses at the
 *                  origin (layouts.h, sides.h)
 *   order          who goes first in each zone, or all at once where every order is right (phase.h)
 * What fails prints the arguments that play the same life up to there, and then the shortest
 * history in which it still fails (shortening.h): `from`, and the numbers of its operations.
 *
 * SIDELIGHT_TEST_WRONG=<n> makes updates wrong from operation n on, to see that this is noticed.
 */
#include "shortening.h"

static struct history history;

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

/* Of a life, what the arguments say; all of it if they are silent. */
static void take_history(int argc, char **argv, enum flavor flavor, uint64_t seed, uint64_t wanted)
{
    memset(&history, 0, sizeof history);
    history.flavor = flavor;
    history.seed = seed;
    history.to = wanted;
    history.from = check_argument(argc, argv, 4, 0);
    memset(history.muted, argc > 5, sizeof history.muted);
    for (char *at = argc > 5 ? argv[5] : NULL; at != NULL && *at != '\0';) {
        uint64_t const number = strtoull(at, &at, 10);
        if (number < LIFE_MOST_OPERATIONS)
            history.muted[number] = false;
        at += *at != '\0';
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    uint64_t const wanted = check_argument(argc, argv, 1, 4000);
    uint64_t const seed = check_argument(argc, argv, 2, 1);
    const char *const name = argc > 3 ? argv[3] : "all";
    const char *const wrong = getenv("SIDELIGHT_TEST_WRONG");
    bool const one_node = all_on_one_node();
    if (check_size > MEMORY_MOST_RANKS)
        return check_skip("for at most eight ranks");
    if (strcmp(name, flavor_names[FLAVOR_SHARED]) == 0 && !one_node)
        return check_skip("memory is not shared by all ranks");
    elements_begin();
    uint64_t done = 0;
    for (uint64_t life = seed; done < wanted; ++life) {
        enum flavor const flavor = flavor_of(name, life, one_node);
        replay = (struct replay){.seed = life, .flavor = flavor_names[flavor]};
        replay.wrong_from = wrong != NULL ? strtoull(wrong, NULL, 0) : UINT64_MAX;
        take_history(argc, argv, flavor, life, wanted - done);
        done += play_life(&history);
        if (failed_anywhere(MPI_COMM_WORLD)) {
            if (argc <= 4)
                shorten(&history);
            break;
        }
    }
    if (check_rank == 0)
        printf("%llu operations, %d predefined types\n", (unsigned long long)done, element_count);
    return check_end();
}
