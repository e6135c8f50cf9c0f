// SPDX-License-Identifier: BSD-3-Clause
#include "base/bell_pipe.hpp"

#include <array>
#include <cstddef>
#include <ctime>
#include <mutex>
#include <new>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace sidelight {
namespace {

/// A pipe of some process, opened once.
struct OpenPipe {
    MemoryFileAddress address;
    File file;
};

/// All that this process has rung; never destroyed, since threads may ring until the very end.
struct OpenPipes {
    std::mutex mutex;
    std::vector<OpenPipe> pipes;
};

OpenPipes& open_pipes() noexcept
{
    alignas(OpenPipes) static std::array<std::byte, sizeof(OpenPipes)> storage;
    static auto& all = *new (storage.data()) OpenPipes;
    return all;
}

bool is_same(const MemoryFileAddress& one, const MemoryFileAddress& other) noexcept
{
    return one.owner == other.owner && one.inode == other.inode;
}

/// Also one that cannot be opened is kept, so that it is tried once. Opened for reading as well:
/// then a write is no SIGPIPE when the owner has gone.
int descriptor_of(OpenPipes& all, const MemoryFileAddress& address)
{
    for (const OpenPipe& pipe : all.pipes) {
        if (is_same(pipe.address, address)) {
            return pipe.file.descriptor();
        }
    }
    all.pipes.push_back({address, open_memory_file(address)});
    const int descriptor = all.pipes.back().file.descriptor();
    if (descriptor >= 0) {
        fcntl(descriptor, F_SETFL, O_NONBLOCK);
    }
    return descriptor;
}

} // namespace

BellPipe BellPipe::create() noexcept
{
    BellPipe made;
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
        made.reading_ = File(ends[0]);
        made.writing_ = File(ends[1]);
    }
    return made;
}

void BellPipe::sleep(int descriptor, std::chrono::nanoseconds limit) const noexcept
{
    constexpr std::chrono::nanoseconds::rep second = 1'000'000'000;
    const timespec relative{.tv_sec = limit.count() / second, .tv_nsec = limit.count() % second};
    std::array<pollfd, 2> both{{{.fd = reading_.descriptor(), .events = POLLIN, .revents = 0},
                                {.fd = descriptor, .events = POLLIN, .revents = 0}}};
    if (ppoll(both.data(), both.size(), &relative, nullptr) > 0 && both[0].revents != 0) {
        // What is left wakes the next sleeper for nothing, once.
        std::array<char, 64> rings{};
        [[maybe_unused]] const ssize_t heard = read(both[0].fd, rings.data(), rings.size());
    }
}

void ring_pipe(const MemoryFileAddress& address) noexcept
{
    OpenPipes& all = open_pipes();
    const std::scoped_lock lock(all.mutex);
    try {
        const int descriptor = descriptor_of(all, address);
        constexpr char ring = 1;
        // One that is full wakes its reader as well.
        [[maybe_unused]] const ssize_t written = write(descriptor, &ring, 1);
    } catch (const std::bad_alloc&) {
        return; // as one that cannot be opened
    }
}

} // namespace sidelight
