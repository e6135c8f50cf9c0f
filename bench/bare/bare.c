/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the machine itself takes, with no MPI in it: for each line of the latency table the shortest
 * instruction sequence that does the same between two processes with shared memory.
 *
 *     bare [--quick] [--ranks N] [LINE...]
 *
 * With two processes (the default) every line of the first table below, with more the
 * `fence` among them, which then sleeps in the kernel.
 */
#include "actions.h"
#include "measure.h"
#include "processes.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const struct Line pair_lines[] = {
    {"put_8", store_and_barrier, NULL},
    {"get_8", load_and_barrier, NULL},
    {"load", load, NULL},
    {"two_empty_calls", two_empty_calls, NULL},
    {"fetch_and_op", fetch_add, NULL},
    {"compare_and_swap", compare_exchange, NULL},
    {"accumulate_8", fetch_add, NULL},
    {"put_1m", copy_block, NULL},
    {"accumulate_1m", add_block, NULL},
    {"lock_put_unlock", fetch_add_store_fetch_add, NULL},
    {"flag_trip", flag_trip_first, flag_trip_second},
    {"gats", epoch_flags_first, epoch_flags_second},
    {"fence", spinning_barrier, spinning_barrier},
};

static const struct Line crowd_lines[] = {{"fence", sleeping_barrier, sleeping_barrier}};

struct Options {
    const struct Plan *plan;
    int ranks;
};

static bool read_options(int argc, char **argv, struct Options *options)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"ranks", required_argument, NULL, 'r'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct Options){.plan = &full_plan, .ranks = 2};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 'q') {
            options->plan = &quick_plan;
        } else if (found == 'r') {
            options->ranks = atoi(optarg);
        } else {
            return false;
        }
    }
    return options->ranks >= 2 && options->ranks <= MAX_PROCESSES;
}

static void measure_lines(struct Process *process, const struct Plan *plan, char *const *names,
                          int count)
{
    const bool pair = process->ranks == 2;
    const struct Line *lines = pair ? pair_lines : crowd_lines;
    const size_t length =
        pair ? sizeof pair_lines / sizeof *pair_lines : sizeof crowd_lines / sizeof *crowd_lines;
    const struct Team team = {
        .rank = process->rank, .context = process, .agree = agree_on_repetitions};
    for (size_t i = 0; i < length; ++i) {
        if (chosen(lines[i].name, names, count)) {
            measure(&team, &lines[i], process, plan);
        }
    }
}

int main(int argc, char **argv)
{
    struct Options options;
    struct Process process;
    if (!read_options(argc, argv, &options)) {
        fprintf(stderr, "usage: bare [--quick] [--ranks 2..%d] [LINE...]\n", MAX_PROCESSES);
        return 2;
    }
    if (!start_processes(&process, options.ranks)) {
        perror("bare");
        return 1;
    }
    if (!bind_to_core(process.rank, process.ranks)) {
        fprintf(stderr, "bare: process %d is not bound to a core\n", process.rank);
    }
    measure_lines(&process, options.ranks > 2 ? &crowded_plan : options.plan, argv + optind,
                  argc - optind);
    return end_processes(&process) ? 0 : 1;
}
