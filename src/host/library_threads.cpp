// SPDX-License-Identifier: BSD-3-Clause
#include "host/library_threads.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>

#include <dirent.h>
#include <unistd.h>

namespace sidelight::host {
namespace {

std::mutex mutex; // guards known()

/// Never destroyed: threads may be asked about while static objects go.
std::vector<pid_t>& known() noexcept
{
    using Threads = std::vector<pid_t>;
    alignas(Threads) static std::array<std::byte, sizeof(Threads)> place;
    static auto* all = new (place.data()) Threads;
    return *all;
}

bool holds(const std::vector<pid_t>& threads, pid_t thread) noexcept
{
    return std::find(threads.begin(), threads.end(), thread) != threads.end();
}

/// Throws std::bad_alloc. Empty where the kernel does not tell.
std::vector<pid_t> threads_now()
{
    std::vector<pid_t> threads;
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), closedir);
    while (tasks != nullptr) {
        const dirent* entry = readdir(tasks.get()); // NOLINT: nobody else has this directory
        if (entry == nullptr) {
            break;
        }
        if (const int number = std::atoi(static_cast<const char*>(entry->d_name)); number != 0) {
            threads.push_back(number);
        }
    }
    return threads;
}

/// Numbers come again, so those of threads that have ended are forgotten. Needs the mutex.
void forget_ended(const std::vector<pid_t>& now) noexcept
{
    auto& all = known();
    all.erase(std::remove_if(all.begin(), all.end(), [&](pid_t one) { return !holds(now, one); }),
              all.end());
}

/// Whether all that are there, but the calling one, are known not to be the program's. Needs the
/// mutex.
bool is_alone_among(const std::vector<pid_t>& now) noexcept
{
    forget_ended(now);
    return !now.empty() && std::all_of(now.begin(), now.end(), [](pid_t thread) {
        return thread == gettid() || holds(known(), thread);
    });
}

} // namespace

/// Another thread of the program could start more of its own meanwhile, and nobody could tell them
/// apart: nothing is noted then.
LibraryThreads::LibraryThreads() noexcept
{
    try {
        const std::lock_guard guard(mutex);
        before_ = threads_now();
        if (!is_alone_among(before_)) {
            before_.clear();
        }
    } catch (const std::bad_alloc&) {
        before_.clear();
    }
}

/// What cannot be noted counts as the program's own, which is the safe side.
LibraryThreads::~LibraryThreads()
{
    if (before_.empty()) {
        return;
    }
    try {
        const std::lock_guard guard(mutex);
        for (const pid_t thread : threads_now()) {
            if (!holds(before_, thread)) {
                known().push_back(thread);
            }
        }
    } catch (const std::bad_alloc&) {
        return;
    }
}

bool program_is_alone()
{
    const std::lock_guard guard(mutex);
    return is_alone_among(threads_now());
}

} // namespace sidelight::host
