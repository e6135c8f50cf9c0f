// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// What a process waits for while its program computes, in one word that its neighbours read, and
/// how that word changes: pure functions, so that tests can make each of them wrong.
/// Protocol: docs/design/interest.md.
///
///     bits  0-19  the filter: which events there is recorded work for
///          20     called: somebody has found one of them; a look is owed
///          21     the thread sleeps at the pipe, else at the word
///          22-31  inside: how many look after things themselves, and look again when they leave
///          32-63  calls, which is what the kernel compares
namespace sidelight {

/// Bits of the filter. An event may share its bit with others: then it may call for nothing.
using Events = std::uint32_t;
inline constexpr Events no_events = 0;
/// A message may have come by the memory of the node. The other bits are given by the engine.
inline constexpr Events message_event = Events{1} << 19;

namespace interest_word {

inline constexpr unsigned filter_bits = 20;
inline constexpr std::uint64_t filter = (std::uint64_t{1} << filter_bits) - 1;
inline constexpr std::uint64_t called = std::uint64_t{1} << 20;
inline constexpr std::uint64_t at_pipe = std::uint64_t{1} << 21;
inline constexpr std::uint64_t one_inside = std::uint64_t{1} << 22;
inline constexpr std::uint64_t inside = std::uint64_t{0x3ff} << 22;
inline constexpr std::uint64_t one_call = std::uint64_t{1} << 32;

constexpr Events events(std::uint64_t word) noexcept { return static_cast<Events>(word & filter); }
constexpr std::uint32_t calls(std::uint64_t word) noexcept
{
    return static_cast<std::uint32_t>(word >> 32);
}

/// Whether who has made an event happen has anything to tell: there is work for it, and nobody is
/// about to look anyway. Who is called clears the mark before the look, and so sees the event.
constexpr bool is_to_be_told(std::uint64_t word, Events event) noexcept
{
    return (events(word) & event) != 0 && (word & called) == 0;
}

/// Whether the thread is to be woken for it. Else whoever is inside finds the mark on leaving.
constexpr bool is_to_be_woken(std::uint64_t word) noexcept { return (word & inside) == 0; }

/// The word when it has been told.
constexpr std::uint64_t told(std::uint64_t word) noexcept
{
    return (word | called) + (is_to_be_woken(word) ? one_call : 0);
}

/// Whether who is about to leave with these wishes has to look again first: somebody has called,
/// or what is wished for from now on may have happened just before.
constexpr bool must_look_again(std::uint64_t word, Events wanted) noexcept
{
    return (word & called) != 0 || (wanted & ~events(word)) != 0;
}

/// The word with the new wishes and no mark, when who changes it stays, or leaves.
constexpr std::uint64_t changed(std::uint64_t word, Events wanted, bool stays) noexcept
{
    return ((word & ~(filter | called)) | wanted) - (stays ? 0 : one_inside);
}

/// Whether the thread may sleep: no look is owed.
constexpr bool may_sleep(std::uint64_t word) noexcept { return (word & called) == 0; }

} // namespace interest_word
} // namespace sidelight
