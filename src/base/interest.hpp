// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/cpu.hpp"
#include "base/interest_word.hpp"

namespace sidelight {

/// Something that has happened to a word which another process may wait for.
struct Event {
    Events bits = no_events; ///< none: only who sleeps in a call hears of it
    /// What the word is now, where only one value of it lets anybody go on.
    std::uint64_t value = 0;
    bool any_value = true;
};

/// What a process has recorded work for. Of an event with a value only the one counts that is
/// waited for, unless it stands for several here.
struct Wanted {
    Events events = no_events;
    Events any_value = no_events; ///< of these each
    Events low_half = no_events;  ///< of these only the low half of the value counts
    std::array<std::uint64_t, interest_word::filter_bits> values{};

    void add(const Event& event, bool is_low_half = false) noexcept
    {
        const auto index = static_cast<std::size_t>(std::countr_zero(event.bits));
        const bool differs = (events & event.bits) != 0 && values[index] != event.value;
        any_value |= differs || event.any_value ? event.bits : no_events;
        low_half |= is_low_half ? event.bits : no_events;
        events |= event.bits;
        values[index] = event.value;
    }
};

/// What a process waits for while its program computes, and where its thread sleeps until that
/// happens: beside its doorbell, in memory that its neighbours map. Zeroed memory wants nothing.
///
///     who makes something happen        whoever leaves the engine
///       write the word, full barrier      wanted = what is recorded
///       tell(event)                       while (!leave(wanted)) look again
///
/// Each side writes, then reads what the other wrote, with a full barrier between.
class Interest {
public:
    /// How it has to be told that it was called.
    enum class Told : std::uint8_t { nothing, at_word, at_pipe };

    /// Who made an event happen, after a full barrier. Where nobody has asked for it: one load.
    [[nodiscard]] Told tell(const Event& event) noexcept
    {
        const std::uint64_t now = word_.load(std::memory_order_relaxed);
        return (interest_word::events(now) & event.bits) == 0 ? Told::nothing : compare(event);
    }

    // --- The owner -------------------------------------------------------------------------------
    /// From now on nobody wakes the thread: this one looks when it leaves.
    void enter() noexcept
    {
        word_.fetch_add(interest_word::one_inside, std::memory_order_seq_cst);
        order();
    }
    /// One that is inside is about to look at everything. Answers whether that was owed.
    bool answer_call() noexcept
    {
        const std::uint64_t before =
            word_.fetch_and(~interest_word::called, std::memory_order_seq_cst);
        order();
        return (before & interest_word::called) != 0;
    }
    /// Leaves, if nothing calls for another look. By whoever holds the engine.
    [[nodiscard]] bool leave(const Wanted& wanted) noexcept;
    /// Leaves without new wishes. Answers whether a look is owed that nobody else inside gives.
    [[nodiscard]] bool leave_as_it_is() noexcept;
    /// Leaves after `leave` has answered no: the look that is owed is for whoever is inside, or for
    /// the thread, which does not sleep before it.
    void leave_owing() noexcept;
    /// Wants nothing any more. Nobody may be inside.
    void forget() noexcept { word_.fetch_and(~interest_word::filter, std::memory_order_seq_cst); }

    /// Whether a look is owed.
    [[nodiscard]] bool is_called() const noexcept
    {
        return (word_.load(std::memory_order_acquire) & interest_word::called) != 0;
    }
    [[nodiscard]] Events events() const noexcept
    {
        return interest_word::events(word_.load(std::memory_order_relaxed));
    }

    // --- The thread ------------------------------------------------------------------------------
    /// Announces where the thread will sleep. Answers the word that it may sleep for.
    [[nodiscard]] std::uint64_t begin_visit(bool at_pipe) noexcept;
    /// Sleeps at the word until a call after that, or for `limit`, or, rarely, for no reason.
    void sleep(std::uint64_t visit, std::chrono::nanoseconds limit) noexcept;
    /// Whether there was a call. It may have been answered by somebody else.
    bool end_visit(std::uint64_t visit) noexcept;
    /// Wakes the thread for a reason of the owner's own.
    [[nodiscard]] Told summon() noexcept;
    /// When the last call was made: nanoseconds of the system's steady clock.
    [[nodiscard]] std::uint64_t called_at() const noexcept
    {
        return called_at_.load(std::memory_order_relaxed);
    }

private:
    [[nodiscard]] Told compare(const Event& event) noexcept;
    bool note_values(const Wanted& wanted) noexcept;
    [[nodiscard]] bool is_wanted_value(const Event& event) const noexcept;
    Told wake(std::uint64_t before) noexcept;
    static void order() noexcept
    {
        if constexpr (!rmw_is_barrier) {
            full_barrier();
        }
    }

    std::atomic<std::uint64_t> word_{0};
    /// Written by the owner before the wish that they belong to: which values are waited for, by
    /// bits of the filter, and how they are compared: any at all, or the low half, above that.
    std::atomic<std::uint64_t> comparison_{0};
    std::array<std::atomic<std::uint64_t>, interest_word::filter_bits> values_{};
    std::atomic<std::uint64_t> called_at_{0};
};

} // namespace sidelight
