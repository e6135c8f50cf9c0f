// SPDX-License-Identifier: BSD-3-Clause
#include "base/bell_pipe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/process_end.hpp"

namespace sidelight {
namespace {

/// A pipe of some process, opened once.
struct OpenPipe {
    MemoryFileAddress address;
    HeldFile file;
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

/// Also one that cannot be opened is kept, so that it is tried once, unless it is for want of
/// descriptors: others may be closed. One that the program has closed is opened again. All for
/// reading as well: then a write is no SIGPIPE when the owner has gone. Those of processes that
/// have ended are closed when another one is opened.
int descriptor_of(OpenPipes& all, const MemoryFileAddress& address)
{
    for (OpenPipe& pipe : all.pipes) {
        const bool was_open = pipe.file.descriptor() >= 0;
        if (is_same(pipe.address, address) && (pipe.file.file() || !was_open)) {
            return pipe.file.descriptor();
        }
    }
    std::erase_if(all.pipes, [&](const OpenPipe& pipe) {
        return is_same(pipe.address, address) || has_ended(pipe.address.owner);
    });
    errno = 0;
    HeldFile file(open_memory_file(address));
    const int descriptor = file.descriptor();
    if (descriptor >= 0) {
        fcntl(descriptor, F_SETFL, O_NONBLOCK);
    } else if (errno == EMFILE || errno == ENFILE) {
        return descriptor;
    }
    all.pipes.push_back({address, std::move(file)});
    return descriptor;
}

} // namespace

BellPipe BellPipe::create() noexcept
{
    BellPipe made;
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
        File reading(ends[0]);
        made.address_ = address_of(reading);
        made.reading_ = HeldFile(std::move(reading));
        made.writing_ = HeldFile(File(ends[1]));
    }
    return made;
}

void BellPipe::sleep(int descriptor, std::chrono::nanoseconds limit) const noexcept
{
    constexpr std::chrono::nanoseconds::rep second = 1'000'000'000;
    constexpr std::chrono::nanoseconds longest_without_pipe = std::chrono::milliseconds(1);
    const bool open = reading_.is_open();
    const auto time = open ? limit : std::min(limit, longest_without_pipe);
    const timespec relative{.tv_sec = time.count() / second, .tv_nsec = time.count() % second};
    std::array<pollfd, 2> both{
        {{.fd = open ? reading_.descriptor() : -1, .events = POLLIN, .revents = 0},
         {.fd = descriptor, .events = POLLIN, .revents = 0}}};
    if (ppoll(both.data(), both.size(), &relative, nullptr) > 0 && both[0].revents != 0 &&
        reading_.is_open()) {
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
