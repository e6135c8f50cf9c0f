// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rma/region/region_table.hpp"

namespace sidelight::rma {

/// The memory of this process that members of a window may reach: one block, or in a dynamic window
/// what is attached. Needs the engine.
class OwnMemory {
public:
    void set_block(std::byte* base, std::uint64_t size) noexcept
    {
        base_ = base;
        size_ = size;
    }
    /// A dynamic window's: addresses are those of this process.
    void set_dynamic(RegionTableRoot& root, fabric::PeerMemory& memory)
    {
        attached_.emplace(root, memory);
    }

    [[nodiscard]] bool is_dynamic() const noexcept { return attached_.has_value(); }
    [[nodiscard]] RegionTable* attached() noexcept { return attached_ ? &*attached_ : nullptr; }
    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// The bytes at `address`, if all of them may be reached; null if not.
    [[nodiscard]] std::byte* find(std::uint64_t address, std::uint64_t bytes) const noexcept
    {
        if (is_dynamic()) {
            return bytes <= ~address && attached_->covers(address, address + bytes)
                       ? reinterpret_cast<std::byte*>(address)
                       : nullptr;
        }
        return address <= size_ && bytes <= size_ - address ? base_ + address : nullptr;
    }

private:
    std::byte* base_ = nullptr;
    std::uint64_t size_ = 0;
    std::optional<RegionTable> attached_;
};

} // namespace sidelight::rma
