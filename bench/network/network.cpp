// SPDX-License-Identifier: BSD-3-Clause
/// What the network itself takes, with no MPI in it, between two processes on one host or two that
/// share a directory:
///
///     network [--quick] [--fabric] --rank 0|1 DIRECTORY [LINE...]
///
/// By default it is UCX's own active messages that are measured; with --fabric the library's use of
/// them. Which UCX and which transports: SIDELIGHT_UCX, SIDELIGHT_NETWORK. DIRECTORY is empty, or
/// does not exist; the addresses are exchanged there. Rank 0 prints, as `bare` does.
#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "link.hpp"
extern "C" {
#include "measure.h"
}

namespace bench {
namespace {

/// One process, and how far it has got with the other.
struct Process {
    Link& link;
    int rank;
    long small_expected = 0;
    long big_expected = 0;

    void await_small(long count = 1)
    {
        small_expected += count;
        while (link.small_received < small_expected) {
            link.poll();
        }
    }
    void await_big(long count = 1)
    {
        big_expected += count;
        while (link.big_received < big_expected) {
            link.poll();
        }
    }
    void tell(long value = 0)
    {
        link.send_small(value);
        link.push();
    }
};

Process& process(void *context) { return *static_cast<Process *>(context); }

long agree(void *context, long repetitions)
{
    Process& self = process(context);
    if (self.rank == 0) {
        self.tell(repetitions + 1); // 0 is for the messages that are measured
        return repetitions;
    }
    self.await_small();
    while (self.link.values.empty()) {
        self.link.poll();
    }
    const long value = self.link.values.front();
    self.link.values.pop_front();
    return value - 1;
}

/// A message of 8 bytes there, and one back.
void trip_lead(void *context, long repetitions)
{
    for (long i = 0; i < repetitions; ++i) {
        process(context).tell();
        process(context).await_small();
    }
}
void trip_follow(void *context, long repetitions)
{
    for (long i = 0; i < repetitions; ++i) {
        process(context).await_small();
        process(context).tell();
    }
}

/// A message of 8 bytes each way at once, as in a fence.
void both_ways(void *context, long repetitions)
{
    for (long i = 0; i < repetitions; ++i) {
        process(context).tell();
        process(context).await_small();
    }
}

constexpr long many = 100;

/// 100 messages of 8 bytes there, and one back.
void many_lead(void *context, long repetitions)
{
    Process& self = process(context);
    for (long i = 0; i < repetitions; ++i) {
        for (long message = 0; message < many; ++message) {
            self.link.send_small(0);
        }
        self.link.push();
        self.await_small();
    }
}
void many_follow(void *context, long repetitions)
{
    for (long i = 0; i < repetitions; ++i) {
        process(context).await_small(many);
        process(context).tell();
    }
}

/// A message of 1 MB there, and one of 8 bytes back.
void big_lead(void *context, long repetitions)
{
    Process& self = process(context);
    for (long i = 0; i < repetitions; ++i) {
        self.link.start_big();
        self.await_small();
        while (self.link.big_leaving > 0) {
            self.link.poll();
        }
    }
}
void big_follow(void *context, long repetitions)
{
    for (long i = 0; i < repetitions; ++i) {
        process(context).await_big();
        process(context).tell();
    }
}

constexpr int in_flight = 4;

/// Messages of 1 MB one way, 4 of them at a time.
void stream_lead(void *context, long repetitions)
{
    Process& self = process(context);
    for (long i = 0; i < repetitions; ++i) {
        while (self.link.big_leaving >= in_flight) {
            self.link.poll();
        }
        self.link.start_big();
    }
    self.await_small();
    while (self.link.big_leaving > 0) {
        self.link.poll();
    }
}
void stream_follow(void *context, long repetitions)
{
    process(context).await_big(repetitions);
    process(context).tell();
}

/// A look when there is nothing.
void idle_poll(void *context, long repetitions)
{
    for (long i = 0; i < repetitions; ++i) {
        process(context).link.poll();
    }
}

constexpr Line lines[] = {
    {"am_8", trip_lead, trip_follow},
    {"am_8_both", both_ways, both_ways},
    {"am_8_100", many_lead, many_follow},
    {"am_1m", big_lead, big_follow},
    {"am_1m_stream", stream_lead, stream_follow},
    {"idle_poll", idle_poll, nullptr},
};

/// What the other process has written there.
std::vector<char> await_file(const std::filesystem::path& path)
{
    while (!std::filesystem::exists(path)) {
        usleep(1000);
    }
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes)
{
    std::filesystem::create_directories(path.parent_path());
    const std::string part = path.string() + ".part";
    std::ofstream(part, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    std::filesystem::rename(part, path); // so that it is there whole, or not
}

struct Options {
    const Plan *plan = &full_plan;
    bool fabric = false;
    int rank = -1;
};

bool read_options(int argc, char **argv, Options& options)
{
    static const option known[] = {{"quick", no_argument, nullptr, 'q'},
                                   {"fabric", no_argument, nullptr, 'f'},
                                   {"rank", required_argument, nullptr, 'r'},
                                   {nullptr, 0, nullptr, 0}};
    for (int found = 0; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        if (found == 'q') {
            options.plan = &quick_plan;
        } else if (found == 'f') {
            options.fabric = true;
        } else if (found == 'r') {
            options.rank = std::atoi(optarg);
        } else {
            return false;
        }
    }
    return (options.rank == 0 || options.rank == 1) && optind < argc;
}

int run(const Options& options, const std::filesystem::path& directory, char *const *names,
        int count)
{
    const auto link = options.fabric ? open_fabric_link() : open_raw_link();
    write_file(directory / std::to_string(options.rank), link->address());
    const std::vector<char> other = await_file(directory / std::to_string(1 - options.rank));
    link->connect(std::as_bytes(std::span(other)));
    if (!bind_to_core(options.rank, 2)) {
        std::fprintf(stderr, "network: process %d is not bound to a core\n", options.rank);
    }
    Process self{.link = *link, .rank = options.rank};
    const Team team{.rank = options.rank, .context = &self, .agree = agree};
    for (const Line& line : lines) {
        if (chosen(line.name, names, count)) {
            measure(&team, &line, &self, options.plan);
        }
    }
    // Both agree that all is over before either goes.
    self.tell();
    self.await_small();
    link->close();
    return 0;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    bench::Options options;
    if (!bench::read_options(argc, argv, options)) {
        std::fprintf(stderr,
                     "usage: network [--quick] [--fabric] --rank 0|1 DIRECTORY [LINE...]\n");
        return 2;
    }
    return bench::run(options, argv[optind], argv + optind + 1, argc - optind - 1);
}
