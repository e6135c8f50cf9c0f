// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sidelight {

/// Who sleeps at a word and who wakes: threads of one process, or of several that map it.
enum class FutexScope : std::uint8_t { process, machine };

/// Sleeps in the kernel (futex(2)) until a wake, unless the word differs from `expected`; may
/// return for no reason. Unlike std::atomic's `wait` it does not yield first: while others compute
/// a yield loses the core for milliseconds.
void futex_wait(const std::uint32_t* word, std::uint32_t expected, FutexScope scope) noexcept;
/// The same for so long at most.
void futex_wait_for(const std::uint32_t* word, std::uint32_t expected, FutexScope scope,
                    std::chrono::nanoseconds limit) noexcept;

/// After the word has changed. A sleeper whose comparison came before the change is woken.
void futex_wake_one(const std::uint32_t* word, FutexScope scope) noexcept;
void futex_wake_all(const std::uint32_t* word, FutexScope scope) noexcept;

/// The word of an atomic variable.
template <typename T>
[[nodiscard]] const std::uint32_t* futex_word(const std::atomic<T>& variable) noexcept
{
    static_assert(sizeof(variable) == sizeof(std::uint32_t));
    return reinterpret_cast<const std::uint32_t*>(&variable);
}

/// The upper half of an atomic variable, as a word of its own.
[[nodiscard]] const std::uint32_t*
futex_high_half(const std::atomic<std::uint64_t>& variable) noexcept;

} // namespace sidelight
