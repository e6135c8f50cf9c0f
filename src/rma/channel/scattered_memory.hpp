// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "datatype/layout.hpp"
#include "rma/channel/wire.hpp"
#include "rma/region/own_memory.hpp"

namespace sidelight::rma {

/// This member's memory that a scattered fragment is about, as a datatype would describe it: used
/// for one after the other, so that nothing is allocated for each.
class ScatteredMemory {
public:
    /// Takes the list at the beginning of `payload`, of which nothing is trusted. Answers ok if it
    /// is a list, with no more data than a fragment has, all of it may be reached, and no block
    /// cuts an element of `basic`. `region`: it is to lie there.
    [[nodiscard]] Status find(std::span<const std::byte> payload, std::uint64_t entries,
                              const OwnMemory& memory, RegionName region,
                              datatype::Basic basic = datatype::Basic::byte) noexcept;

    // Of the list that was taken last.
    [[nodiscard]] std::size_t bytes() const noexcept { return layout_.size; }
    [[nodiscard]] datatype::Buffer buffer() const noexcept { return {base_, &layout_, 1}; }

    /// What follows the list; nothing if there is none.
    [[nodiscard]] static std::span<const std::byte> data_behind(std::span<const std::byte> payload,
                                                                std::uint64_t entries) noexcept;

private:
    [[nodiscard]] bool add(const ScatteredBlocks& blocks, const OwnMemory& memory,
                           RegionName region);

    std::byte* base_ = nullptr; ///< the first block
    datatype::Layout layout_;
};

} // namespace sidelight::rma
