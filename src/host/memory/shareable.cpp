// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/shareable.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <pthread.h>

#include "base/log.hpp"
#include "host/memory/user_memory.hpp"

namespace sidelight::host::memory {
namespace {

// Handlers of fork must be plain functions, and stay for good.
void before_fork() { UserMemory::of_process().before_fork(); }
void after_fork_in_parent() { UserMemory::of_process().after_fork_in_parent(); }
void after_fork_in_child() { UserMemory::of_process().after_fork_in_child(); }

UserMemory& prepared_for_fork()
{
    UserMemory& memory = UserMemory::of_process();
    [[maybe_unused]] static const int once =
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return memory;
}

} // namespace

SharedRange::SharedRange(SharedRange&& other) noexcept { *this = std::move(other); }

SharedRange& SharedRange::operator=(SharedRange&& other) noexcept
{
    std::swap(refusal_, other.refusal_);
    std::swap(where_, other.where_);
    std::swap(pages_, other.pages_);
    std::swap(vouched_, other.vouched_);
    std::swap(device_, other.device_);
    return *this;
}

void SharedRange::release() noexcept
{
    if (refusal_ == Refusal::none || !pages_.empty()) {
        UserMemory::of_process().release(*this);
        refusal_ = Refusal::no_memory_there;
        where_ = {};
        pages_ = {};
    }
}

SharedRange share(const void* base, std::size_t size, SharePolicy policy,
                  IfPrivate if_private) noexcept
{
    SharedRange range;
    try {
        range = prepared_for_fork().share(base, size, policy, if_private);
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
        range = SharedRange(Refusal::system);
    }
    if (!range) {
        const bool system = range.refusal() == Refusal::system;
        log(system ? LogLevel::warn : LogLevel::info, "%zu bytes at %p stay private: %s%s%s", size,
            base, text(range.refusal()), system ? ": " : "", system ? std::strerror(errno) : "");
    }
    return range;
}

} // namespace sidelight::host::memory
