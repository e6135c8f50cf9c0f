// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/status.hpp"

namespace sidelight::rma {

/// The memory attached to a dynamic window here: disjoint ranges of addresses.
class Regions {
public:
    /// Status::rma_attach if the range overlaps with one that is attached.
    Status attach(const std::byte* base, std::size_t size) noexcept;
    /// Status::base if no region starts there.
    Status detach(const std::byte* base) noexcept;
    /// Whether one region holds all bytes from `first` up to `last`.
    [[nodiscard]] bool covers(std::uint64_t first, std::uint64_t last) const noexcept;

private:
    std::map<std::uint64_t, std::uint64_t> ends_; ///< first address -> one past the last
};

} // namespace sidelight::rma
