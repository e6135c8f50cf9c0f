// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "rma/channel/channel.hpp"
#include "rma/channel/flight.hpp"
#include "rma/channel/wire.hpp"

/// How the data of an operation are cut into fragments: one or more for each contiguous stretch of
/// target memory, or one for several that are short.
namespace sidelight::rma {

/// Whether its fragments carry data to the target.
[[nodiscard]] bool carries_data(const Operation& operation) noexcept;

/// Whether a fragment of so many bytes goes as a zero-copy message of its own.
[[nodiscard]] bool is_zero_copy(const Operation& operation, std::size_t bytes) noexcept;

/// Whether it leaves as one fragment, which lies in one block on both sides, and brings nothing
/// back.
[[nodiscard]] bool is_one_fragment(const Operation& operation) noexcept;

/// How many bytes of the operation's data the next fragment is about. Elements are never cut, and
/// those with holes travel one by one.
[[nodiscard]] std::size_t next_fragment(const Flight& flight) noexcept;

/// What a scattered fragment is about: so many entries at the beginning of its payload, and so many
/// bytes of data.
struct Scattered {
    std::size_t entries = 0;
    std::size_t bytes = 0;
};
/// Lists the short blocks that the next fragment is about; none where it is about one.
[[nodiscard]] Scattered next_blocks(const Flight& flight,
                                    std::span<std::byte, scattered_bytes> list) noexcept;

/// Whether the next fragment may be sent now: the target keeps track of so many zero-copy puts that
/// overtake one another, and no more.
[[nodiscard]] bool may_send(const Flight& flight) noexcept;

/// Copies the next `bytes` of data at the cursor to `to` and moves on.
void gather(datatype::Cursor& from, std::byte* to, std::size_t bytes) noexcept;
/// Copies data to where the cursor is and moves on.
void scatter(datatype::Cursor& to, std::span<const std::byte> from) noexcept;

} // namespace sidelight::rma
