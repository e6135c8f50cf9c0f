// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "rma/channel/wire.hpp"

namespace sidelight::rma {

/// Messages of one member that have come and are to be performed behind zero-copy puts of its that
/// have not, in the order in which they came.
class HeldMessages {
public:
    /// `until`: the number of the last of those puts.
    explicit HeldMessages(std::uint32_t until) noexcept : until_(until) {}

    [[nodiscard]] std::uint32_t until() const noexcept { return until_; }

    /// Keeps a copy. False: there is no memory, or it is more than an origin may send unanswered.
    [[nodiscard]] bool keep(const Message& message) noexcept;

    /// Calls `serve` for each.
    template <class Serve>
    void for_each(Serve serve) const noexcept
    {
        for (std::size_t at = 0; at < bytes_.size();) {
            const Entry entry = entry_at(at);
            const std::size_t first = at + sizeof entry;
            serve(Message{entry.header, std::span(bytes_).subspan(first, entry.bytes)});
            at = first + padded(entry.bytes);
        }
    }

private:
    /// Before the rest of each, which thus stays aligned.
    struct alignas(16) Entry {
        MessageHeader header;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] static std::size_t padded(std::size_t bytes) noexcept
    {
        return round_up(bytes, alignof(Entry));
    }
    [[nodiscard]] Entry entry_at(std::size_t at) const noexcept;

    std::uint32_t until_;
    std::vector<std::byte> bytes_;
};

} // namespace sidelight::rma
