// SPDX-License-Identifier: BSD-3-Clause
/// Active messages of many origins to one target; prints one line of JSON.
///
///     simulate am [--ranks N] [--messages K] [--bytes B] [--unit U] [--internal B] [--attached B]
///                 [--call-ns T] [--segment-ns T] [--between-ns T] [--mixed] [--concurrent]
///                 [--unordered]
///                 [--one-at-a-time] [--seed S] [--node N] FILE
///
/// --node takes the place of what FILE says: how many ranks have their memory mapped by each other.
#include "active_main.hpp"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>

#include "active.hpp"

namespace sidelight::simulate {

namespace {

/// A number of the options, by its name.
struct Number {
    const char *name;
    std::uint64_t value;
};

struct Words {
    Number ranks{"ranks", 2};
    Number messages{"messages", 100};
    Number bytes{"bytes", 20};
    Number unit{"unit", 40};
    Number internal{"internal", 8192};
    Number attached{"attached", 65536};
    Number call{"call-ns", 100};
    Number segment{"segment-ns", 30};
    Number between{"between-ns", 0};
    Number seed{"seed", 1};
    Number node{"node", 0};
    int mixed = 0;
    int concurrent = 0;
    int unordered = 0;
    int one_at_a_time = 0;
};

bool read_words(int argc, char **argv, Words& words)
{
    Number *const numbers[] = {&words.ranks,    &words.messages, &words.bytes,  &words.unit,
                               &words.internal, &words.attached, &words.call,   &words.segment,
                               &words.seed,     &words.node,     &words.between};
    constexpr int count = sizeof numbers / sizeof numbers[0];
    option known[count + 5] = {};
    for (int index = 0; index < count; ++index) {
        known[index] = {numbers[index]->name, required_argument, nullptr, 256 + index};
    }
    known[count] = {"mixed", no_argument, &words.mixed, 1};
    known[count + 1] = {"concurrent", no_argument, &words.concurrent, 1};
    known[count + 2] = {"unordered", no_argument, &words.unordered, 1};
    known[count + 3] = {"one-at-a-time", no_argument, &words.one_at_a_time, 1};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        if (found >= 256) {
            numbers[found - 256]->value = std::strtoull(optarg, nullptr, 10);
        } else if (found != 0) {
            return false;
        }
    }
    return words.ranks.value >= 2 && words.ranks.value <= 1U << 16U && words.messages.value >= 1 &&
           words.messages.value <= 1U << 20U && words.bytes.value >= 1 &&
           words.bytes.value <= 1000 && words.unit.value >= 1 && optind + 1 == argc;
}

ActiveOptions options_of(const Words& words, const char *file)
{
    ActiveOptions options;
    options.machine = read_machine(file);
    if (words.node.value != 0) {
        options.machine.node = static_cast<int>(words.node.value);
    }
    options.ranks = static_cast<int>(words.ranks.value);
    options.messages = static_cast<int>(words.messages.value);
    options.bytes = words.bytes.value;
    options.mixed = words.mixed != 0;
    options.unit = words.unit.value;
    options.internal = words.internal.value;
    options.attached = words.attached.value;
    options.call = words.call.value;
    options.segment = words.segment.value;
    options.between = words.between.value;
    options.concurrent = words.concurrent != 0;
    options.unordered = words.unordered != 0;
    options.one_at_a_time = words.one_at_a_time != 0;
    options.seed = words.seed.value;
    return options;
}

} // namespace

int active_main(int argc, char **argv)
{
    Words words;
    if (!read_words(argc, argv, words)) {
        std::fprintf(
            stderr, "usage: simulate am [--ranks N] [--messages K] [--bytes B] [--unit U] "
                    "[--internal B] [--attached B] [--call-ns T] [--segment-ns T] [--between-ns T] "
                    "[--mixed] [--concurrent] [--unordered] [--one-at-a-time] [--seed S] "
                    "[--node N] FILE\n");
        return 2;
    }
    const ActiveOptions options = options_of(words, argv[optind]);
    const ActiveOutcome outcome = run_active(options);
    const double all = static_cast<double>(options.ranks - 1) * options.messages;
    const auto ended = static_cast<double>(outcome.ended);
    std::printf("{\"line\": \"am\", \"microseconds\": %.3f, \"rate\": %.1f, \"calls\": %.3f, "
                "\"handler\": %.3f, \"messages\": %.3f, \"user\": %.2f, \"correct\": %s}\n",
                ended / 1e3, 1e9 * all / ended, static_cast<double>(outcome.calls) / all,
                static_cast<double>(outcome.handler) / 1e3 / all,
                static_cast<double>(outcome.messages) / all,
                100 * static_cast<double>(outcome.reserved) / static_cast<double>(outcome.segments),
                outcome.correct ? "true" : "false");
    return outcome.correct ? 0 : 1;
}

} // namespace sidelight::simulate
