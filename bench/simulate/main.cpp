// SPDX-License-Identifier: BSD-3-Clause
/// Programs on simulated ranks, in virtual time; each prints one line of JSON.
///
///     simulate [--ranks N] [--transactions K] [--pending P] [--key] [--seed S] [--line NAME]
///              [--trace DIR] FILE
///     simulate am [OPTIONS] FILE
///     simulate lu [OPTIONS] FILE
///     simulate progress [OPTIONS] FILE
///     simulate scale [OPTIONS] FILE
///
/// FILE has the parameters of the network (bench/networks). --pending 1 is what standard calls do:
/// each epoch is complete before the next one begins. --trace writes the files of a trace into DIR.
/// The options of am: active_main.cpp, and so on.
#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "active_main.hpp"
#include "lu_main.hpp"
#include "progress_main.hpp"
#include "scale_main.hpp"
#include "transactions.hpp"

namespace {

using sidelight::simulate::Options;

bool read_options(int argc, char **argv, Options& options, const char *& line)
{
    static const option known[] = {{"ranks", required_argument, nullptr, 'r'},
                                   {"transactions", required_argument, nullptr, 't'},
                                   {"pending", required_argument, nullptr, 'p'},
                                   {"key", no_argument, nullptr, 'k'},
                                   {"seed", required_argument, nullptr, 's'},
                                   {"line", required_argument, nullptr, 'l'},
                                   {"trace", required_argument, nullptr, 'd'},
                                   {nullptr, 0, nullptr, 0}};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (found) {
        case 'r':
            options.ranks = std::atoi(optarg);
            break;
        case 't':
            options.transactions = std::atoi(optarg);
            break;
        case 'p':
            options.pending = std::atoi(optarg);
            break;
        case 'k':
            options.key = true;
            break;
        case 's':
            options.seed = std::strtoull(optarg, nullptr, 10);
            break;
        case 'l':
            line = optarg;
            break;
        case 'd':
            options.trace = optarg;
            break;
        default:
            return false;
        }
    }
    return options.ranks >= 2 && options.transactions >= 1 && options.pending >= 1 &&
           optind + 1 == argc;
}

/// What is not one of the others.
int transactions_main(int argc, char **argv)
{
    Options options;
    const char *line = "transactions";
    if (!read_options(argc, argv, options, line)) {
        std::fprintf(stderr, "usage: simulate [--ranks N] [--transactions K] [--pending P] [--key] "
                             "[--seed S] [--line NAME] [--trace DIR] FILE\n");
        return 2;
    }
    options.machine = sidelight::simulate::read_machine(argv[optind]);
    const auto outcome = sidelight::simulate::run_transactions(options);
    const double all = static_cast<double>(options.ranks) * options.transactions;
    std::printf("{\"line\": \"%s\", \"rate\": %.1f, \"microseconds\": %.3f, "
                "\"messages\": %.3f, \"pending\": %zu, \"correct\": %s}\n",
                line, 1e9 * all / static_cast<double>(outcome.ended),
                static_cast<double>(outcome.ended) / 1e3,
                static_cast<double>(outcome.messages) / all, outcome.pending,
                outcome.correct ? "true" : "false");
    return outcome.correct ? 0 : 1;
}

int run(int argc, char **argv)
{
    const struct {
        const char *name;
        int (*main)(int argc, char **argv);
    } programs[] = {{"am", sidelight::simulate::active_main},
                    {"lu", sidelight::simulate::lu_main},
                    {"progress", sidelight::simulate::progress_main},
                    {"scale", sidelight::simulate::scale_main}};
    for (const auto& program : programs) {
        if (argc > 1 && std::strcmp(argv[1], program.name) == 0) {
            return program.main(argc - 1, argv + 1);
        }
    }
    return transactions_main(argc, argv);
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "simulate: %s\n", error.what());
        return 2;
    }
}
