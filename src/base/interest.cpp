// SPDX-License-Identifier: BSD-3-Clause
#include "base/interest.hpp"

#include <bit>

#include "base/clock.hpp"
#include "base/futex.hpp"

namespace sidelight {

/// A value that is just being changed may be misread: then the owner looks again after it has
/// asked for the new one, and its look comes behind the event.
bool Interest::is_wanted_value(const Event& event) const noexcept
{
    const std::uint64_t comparison = comparison_.load(std::memory_order_relaxed);
    if (event.any_value || (static_cast<Events>(comparison) & event.bits) != 0) {
        return true;
    }
    const auto index = static_cast<std::size_t>(std::countr_zero(event.bits));
    const std::uint64_t difference = event.value ^ values_[index].load(std::memory_order_relaxed);
    return (static_cast<Events>(comparison >> 32) & event.bits) != 0
               ? static_cast<std::uint32_t>(difference) == 0
               : difference == 0;
}

Interest::Told Interest::compare(const Event& event) noexcept
{
    std::uint64_t word = word_.load(std::memory_order_acquire);
    if (!is_wanted_value(event)) {
        return Told::nothing;
    }
    while (interest_word::is_to_be_told(word, event.bits)) {
        // Release of what has happened, for who looks only because of the mark.
        if (word_.compare_exchange_weak(word, interest_word::told(word),
                                        std::memory_order_acq_rel)) {
            return interest_word::is_to_be_woken(word) ? wake(word) : Told::nothing;
        }
    }
    return Told::nothing;
}

Interest::Told Interest::wake(std::uint64_t before) noexcept
{
    called_at_.store(static_cast<std::uint64_t>(now().count()), std::memory_order_relaxed);
    if ((before & interest_word::at_pipe) != 0) {
        return Told::at_pipe;
    }
    futex_wake_all(futex_high_half(word_), FutexScope::machine);
    return Told::at_word;
}

/// Answers whether any is new.
bool Interest::note_values(const Wanted& wanted) noexcept
{
    const std::uint64_t comparison = wanted.any_value | static_cast<std::uint64_t>(wanted.low_half)
                                                            << 32;
    bool any = comparison_.load(std::memory_order_relaxed) != comparison;
    comparison_.store(comparison, std::memory_order_relaxed);
    for (Events left = wanted.events & ~wanted.any_value; left != no_events; left &= left - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(left));
        any |= values_[index].load(std::memory_order_relaxed) != wanted.values[index];
        values_[index].store(wanted.values[index], std::memory_order_relaxed);
    }
    return any;
}

bool Interest::leave(const Wanted& wanted) noexcept
{
    const bool other_value = note_values(wanted);
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    bool stays = false;
    do {
        stays = other_value || interest_word::must_look_again(word, wanted.events);
        // Pairs with the barrier before `tell`: what the look finds unwritten comes with a call.
    } while (!word_.compare_exchange_weak(word, interest_word::changed(word, wanted.events, stays),
                                          std::memory_order_seq_cst));
    order();
    return !stays;
}

bool Interest::leave_as_it_is() noexcept
{
    const std::uint64_t before =
        word_.fetch_sub(interest_word::one_inside, std::memory_order_seq_cst);
    return (before & interest_word::called) != 0 &&
           (before & interest_word::inside) == interest_word::one_inside;
}

void Interest::leave_owing() noexcept
{
    word_.fetch_or(interest_word::called, std::memory_order_seq_cst);
    word_.fetch_sub(interest_word::one_inside, std::memory_order_seq_cst);
    order();
}

std::uint64_t Interest::begin_visit(bool at_pipe) noexcept
{
    if (at_pipe) {
        return word_.fetch_or(interest_word::at_pipe, std::memory_order_seq_cst) |
               interest_word::at_pipe;
    }
    return word_.load(std::memory_order_acquire);
}

void Interest::sleep(std::uint64_t visit, std::chrono::nanoseconds limit) noexcept
{
    futex_wait_for(futex_high_half(word_), interest_word::calls(visit), FutexScope::machine, limit);
}

bool Interest::end_visit(std::uint64_t visit) noexcept
{
    const std::uint64_t word =
        (visit & interest_word::at_pipe) != 0
            ? word_.fetch_and(~interest_word::at_pipe, std::memory_order_acq_rel)
            : word_.load(std::memory_order_acquire);
    return interest_word::calls(word) != interest_word::calls(visit);
}

Interest::Told Interest::summon() noexcept
{
    return wake(word_.fetch_add(interest_word::one_call, std::memory_order_seq_cst));
}

} // namespace sidelight
