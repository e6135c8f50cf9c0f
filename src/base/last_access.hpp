// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight {

/// Tells a thread that polls from one that has work, by what it accessed last: a program that waits
/// for another one's data fetches what is at one place again and again, and finds it as it was, or
/// only flushes and loads. One of many calls asks; between two of them nothing is counted, so that
/// an access costs one store.
class LastAccess {
public:
    /// `found`: what was there, at least a byte. A counter changes in its lowest.
    static void fetched(const void* place, const void* found) noexcept
    {
        constexpr unsigned above_addresses = 56;
        const std::uint64_t byte = *static_cast<const unsigned char*>(found);
        last_ = reinterpret_cast<std::uintptr_t>(place) ^ byte << above_addresses;
    }
    /// The same where what was there has not come yet; `to`: where it will.
    static void fetches(const void* to) noexcept { last_ = reinterpret_cast<std::uintptr_t>(to); }
    /// Data were stored or combined, or a call has waited, which gives the core away by itself.
    static void moved() noexcept { last_ = moved_; }

    /// Whether the last access since the call before is what it was then.
    [[nodiscard]] static bool is_repeated() noexcept
    {
        const std::uint64_t last = last_;
        const bool is_same = last != moved_ && (last == none_ || last == asked_);
        asked_ = last;
        last_ = none_;
        return is_same;
    }

private:
    static constexpr std::uint64_t none_ = 0;
    static constexpr std::uint64_t moved_ = 1;

    static inline thread_local std::uint64_t last_ = moved_;
    static inline thread_local std::uint64_t asked_ = moved_;
};

} // namespace sidelight
