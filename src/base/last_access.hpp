// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight {

/// Tells a thread that polls from one that has work, by what it accessed last: a program that waits
/// for another one's data fetches what is at one place again and again, changes nothing there and
/// finds it as it was, or looks by itself, between calls that order memory. One of many calls asks;
/// between two of them nothing is counted, so that an access costs one store.
class LastAccess {
public:
    /// `found`: what was there, and is still, unless `changed`.
    static void fetched(const void* place, std::uint64_t found, bool changed = false) noexcept
    {
        constexpr std::uint64_t mix = 0x9e3779b97f4a7c15; // odd, so that no value is lost
        last_ = changed ? moved_ : reinterpret_cast<std::uintptr_t>(place) + found * mix;
    }
    /// Memory has been ordered for the program's own loads.
    static void synchronized() noexcept
    {
        if (last_ == none_) {
            last_ = own_look_;
        }
    }
    /// Anything else: data were moved or changed, or a call has waited, which gives the core away
    /// by itself.
    static void moved() noexcept { last_ = moved_; }

    /// Whether the last access since the call before is what it was then.
    [[nodiscard]] static bool is_repeated() noexcept
    {
        const std::uint64_t last = last_;
        const bool is_same = last == asked_ && last > moved_;
        asked_ = last;
        last_ = none_;
        return is_same;
    }

private:
    static constexpr std::uint64_t none_ = 0;
    static constexpr std::uint64_t moved_ = 1;
    static constexpr std::uint64_t own_look_ = 2;

    static inline thread_local std::uint64_t last_ = none_;
    static inline thread_local std::uint64_t asked_ = none_;
};

} // namespace sidelight
