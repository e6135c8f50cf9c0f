// SPDX-License-Identifier: BSD-3-Clause
/// What a process pays for its part in a large window; prints one line of JSON.
///
///     simulate scale [--members N] [--peers P] [--epochs E] [--lock-all] [--node N] FILE
///
/// Each of P + 1 processes puts E times, to its P peers in turn: in a lock epoch of its own each
/// time, all of them pending; or in one lock_all epoch on a window without exclusive locks.
#include "scale_main.hpp"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>

#include "scale.hpp"

namespace sidelight::simulate {

namespace {

bool read_options(int argc, char **argv, ScaleOptions& options, int& node)
{
    static const option known[] = {
        {"members", required_argument, nullptr, 'm'}, {"peers", required_argument, nullptr, 'p'},
        {"epochs", required_argument, nullptr, 'e'},  {"lock-all", no_argument, nullptr, 'l'},
        {"node", required_argument, nullptr, 'n'},    {nullptr, 0, nullptr, 0}};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (found) {
        case 'm':
            options.members = std::atoi(optarg);
            break;
        case 'p':
            options.peers = std::atoi(optarg);
            break;
        case 'e':
            options.epochs = std::atoi(optarg);
            break;
        case 'l':
            options.way = ScaleWay::lock_all;
            break;
        case 'n':
            node = std::atoi(optarg);
            break;
        default:
            return false;
        }
    }
    return options.peers >= 1 && options.members > options.peers && options.members <= 1'000'000 &&
           options.epochs >= 1 && node >= 0 && optind + 1 == argc;
}

} // namespace

int scale_main(int argc, char **argv)
{
    ScaleOptions options;
    int node = 0;
    if (!read_options(argc, argv, options, node)) {
        std::fprintf(stderr, "usage: simulate scale [--members N] [--peers P] [--epochs E] "
                             "[--lock-all] [--node N] FILE\n");
        return 2;
    }
    options.machine = read_machine(argv[optind]);
    options.machine.node = node != 0 ? node : options.machine.node;
    const ScaleOutcome outcome = run_scale(options);
    std::printf("{\"line\": \"scale\", \"messages\": %.3f, \"bytes\": %.1f, "
                "\"window_bytes\": %zu, \"pending_bytes\": %zu, \"pending\": %zu, "
                "\"met\": %zu, \"correct\": %s}\n",
                outcome.messages, outcome.bytes, outcome.window_bytes, outcome.pending_bytes,
                outcome.pending, outcome.met, outcome.correct ? "true" : "false");
    return outcome.correct ? 0 : 1;
}

} // namespace sidelight::simulate
