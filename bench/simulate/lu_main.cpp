// SPDX-License-Identifier: BSD-3-Clause
/// LU decomposition by rows; prints one line of JSON.
///
///     simulate lu [--ranks N] [--rows M] [--way lazy|standard|nonblocking] [--slots K]
///                 [--mflops R] [--seed S] [--trace DIR] FILE
///
/// --mflops takes the place of what FILE says. --trace writes the files of a trace into DIR.
#include "lu_main.hpp"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>

#include "lu.hpp"

namespace sidelight::simulate {

namespace {

constexpr const char *ways[] = {"lazy", "standard", "nonblocking"}; // as in LuWay

bool read_options(int argc, char **argv, LuOptions& options, int& mflops)
{
    static const option known[] = {
        {"ranks", required_argument, nullptr, 'r'},  {"rows", required_argument, nullptr, 'm'},
        {"slots", required_argument, nullptr, 'n'},  {"way", required_argument, nullptr, 'w'},
        {"mflops", required_argument, nullptr, 'f'}, {"seed", required_argument, nullptr, 's'},
        {"trace", required_argument, nullptr, 't'},  {nullptr, 0, nullptr, 0}};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (found) {
        case 'r':
            options.ranks = std::atoi(optarg);
            break;
        case 'm':
            options.rows = std::atoi(optarg);
            break;
        case 'n':
            options.slots = std::atoi(optarg);
            break;
        case 'w':
            if (!read_name(optarg, ways, options.way)) {
                return false;
            }
            break;
        case 'f':
            mflops = std::atoi(optarg);
            break;
        case 's':
            options.seed = std::strtoull(optarg, nullptr, 10);
            break;
        case 't':
            options.trace = optarg;
            break;
        default:
            return false;
        }
    }
    return options.ranks >= 2 && options.ranks <= 1 << 16 && options.rows >= 2 &&
           options.rows <= 1 << 20 && options.slots >= 1 && mflops >= 0 && optind + 1 == argc;
}

} // namespace

int lu_main(int argc, char **argv)
{
    LuOptions options;
    int mflops = 0;
    if (!read_options(argc, argv, options, mflops)) {
        std::fprintf(stderr, "usage: simulate lu [--ranks N] [--rows M] [--slots K] "
                             "[--way lazy|standard|nonblocking] [--mflops R] [--seed S] "
                             "[--trace DIR] FILE\n");
        return 2;
    }
    options.machine = read_machine(argv[optind]);
    if (mflops > 0) {
        options.machine.mflops = static_cast<fabric::sim::Time>(mflops);
    }
    const LuOutcome outcome = run_lu(options);
    std::printf("{\"line\": \"lu\", \"milliseconds\": %.3f, \"share\": %.2f, "
                "\"messages\": %llu, \"events\": %llu, \"correct\": %s}\n",
                static_cast<double>(outcome.ended) / 1e6, 100 * outcome.in_mpi,
                static_cast<unsigned long long>(outcome.messages),
                static_cast<unsigned long long>(outcome.events),
                outcome.correct ? "true" : "false");
    return outcome.correct ? 0 : 1;
}

} // namespace sidelight::simulate
