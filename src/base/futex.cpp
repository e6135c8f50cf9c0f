// SPDX-License-Identifier: BSD-3-Clause
#include "base/futex.hpp"

#include <bit>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sidelight {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

int command(int name, FutexScope scope) noexcept
{
    return scope == FutexScope::process ? name | FUTEX_PRIVATE_FLAG : name;
}

} // namespace

void futex_wait(const std::uint32_t* word, std::uint32_t expected, FutexScope scope) noexcept
{
    syscall(SYS_futex, word, command(FUTEX_WAIT, scope), expected, nullptr, nullptr, 0);
}

void futex_wait_for(const std::uint32_t* word, std::uint32_t expected, FutexScope scope,
                    std::chrono::nanoseconds limit) noexcept
{
    constexpr std::chrono::nanoseconds::rep second = 1'000'000'000;
    const timespec relative{.tv_sec = limit.count() / second, .tv_nsec = limit.count() % second};
    syscall(SYS_futex, word, command(FUTEX_WAIT, scope), expected, &relative, nullptr, 0);
}

void futex_wake_one(const std::uint32_t* word, FutexScope scope) noexcept
{
    syscall(SYS_futex, word, command(FUTEX_WAKE, scope), 1, nullptr, nullptr, 0);
}

void futex_wake_all(const std::uint32_t* word, FutexScope scope) noexcept
{
    syscall(SYS_futex, word, command(FUTEX_WAKE, scope), INT_MAX, nullptr, nullptr, 0);
}

const std::uint32_t* futex_high_half(const std::atomic<std::uint64_t>& variable) noexcept
{
    constexpr std::size_t high_half = std::endian::native == std::endian::little ? 1 : 0;
    return reinterpret_cast<const std::uint32_t*>(&variable) + high_half;
}

} // namespace sidelight
