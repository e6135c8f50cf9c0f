// SPDX-License-Identifier: BSD-3-Clause
/// Epochs in which origins work; prints one line of JSON.
///
///     simulate progress [--ranks N] [--processors P] [--bytes B] [--work-ns T] [--late-ns T]
///                       [--epochs K] [--fence] [--many] [--get] [--seed S]
///                       [--mover nobody|polling|interrupts] FILE
#include "progress_main.hpp"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>

#include "progress.hpp"

namespace sidelight::simulate {

namespace {

constexpr const char *movers[] = {"nobody", "polling", "interrupts"}; // as in Mover

struct Flags {
    int fence = 0;
    int many = 0;
    int get = 0;
};

bool read_options(int argc, char **argv, ProgressOptions& options)
{
    Flags flags;
    const option known[] = {{"ranks", required_argument, nullptr, 'r'},
                            {"processors", required_argument, nullptr, 'p'},
                            {"bytes", required_argument, nullptr, 'b'},
                            {"work-ns", required_argument, nullptr, 'w'},
                            {"late-ns", required_argument, nullptr, 'l'},
                            {"epochs", required_argument, nullptr, 'e'},
                            {"mover", required_argument, nullptr, 'm'},
                            {"seed", required_argument, nullptr, 's'},
                            {"fence", no_argument, &flags.fence, 1},
                            {"many", no_argument, &flags.many, 1},
                            {"get", no_argument, &flags.get, 1},
                            {nullptr, 0, nullptr, 0}};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (found) {
        case 0:
            break;
        case 'r':
            options.ranks = std::atoi(optarg);
            break;
        case 'p':
            options.processors = std::atoi(optarg);
            break;
        case 'b':
            options.bytes = std::strtoull(optarg, nullptr, 10);
            break;
        case 'w':
            options.work = std::strtoull(optarg, nullptr, 10);
            break;
        case 'l':
            options.late = std::strtoull(optarg, nullptr, 10);
            break;
        case 'e':
            options.epochs = std::atoi(optarg);
            break;
        case 's':
            options.seed = std::strtoull(optarg, nullptr, 10);
            break;
        case 'm':
            if (!read_name(optarg, movers, options.mover)) {
                return false;
            }
            break;
        default:
            return false;
        }
    }
    options.fence = flags.fence != 0;
    options.many = flags.many != 0;
    options.get = flags.get != 0;
    return options.ranks >= 2 && options.ranks % 2 == 0 && options.ranks <= 512 &&
           options.processors >= 0 && options.bytes >= 1 && options.epochs >= 1 &&
           optind + 1 == argc;
}

} // namespace

int progress_main(int argc, char **argv)
{
    ProgressOptions options;
    if (!read_options(argc, argv, options)) {
        std::fprintf(stderr, "usage: simulate progress [--ranks N] [--processors P] [--bytes B] "
                             "[--work-ns T] [--late-ns T] [--epochs K] [--fence] [--many] [--get] "
                             "[--mover nobody|polling|interrupts] [--seed S] FILE\n");
        return 2;
    }
    options.machine = read_machine(argv[optind]);
    const ProgressOutcome outcome = run_progress(options);
    std::printf(
        "{\"epoch\": %.3f, \"origin\": %.3f, \"wakes\": %llu, \"messages\": %llu, "
        "\"correct\": %s}\n",
        outcome.epoch / 1e3, outcome.origin / 1e3, static_cast<unsigned long long>(outcome.wakes),
        static_cast<unsigned long long>(outcome.messages), outcome.correct ? "true" : "false");
    return outcome.correct ? 0 : 1;
}

} // namespace sidelight::simulate
