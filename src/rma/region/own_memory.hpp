// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "rma/region/handle_region.hpp"
#include "rma/region/region_table.hpp"

namespace sidelight::rma {

/// The memory of this process that members of a window may reach: one block, or in a dynamic window
/// what is attached, and what memory handles name. Needs the engine.
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

    /// The bytes at `address`, if all of them may be reached; null if not. `name`: they are to lie
    /// in that region.
    [[nodiscard]] std::byte* find(std::uint64_t address, std::uint64_t bytes,
                                  RegionName name = no_region) const noexcept
    {
        if (name != no_region) [[unlikely]] {
            return is_dynamic() && bytes <= ~address &&
                           attached_->holds(name, address, address + bytes)
                       ? reinterpret_cast<std::byte*>(address)
                       : nullptr;
        }
        if (is_dynamic()) {
            return bytes <= ~address && attached_->covers(address, address + bytes)
                       ? reinterpret_cast<std::byte*>(address)
                       : nullptr;
        }
        return address <= size_ && bytes <= size_ - address
                   ? displaced(base_, static_cast<std::ptrdiff_t>(address)) // may be all addresses
                   : nullptr;
    }
    /// Whether the region that a memory handle names is there as it says, and how it is reached.
    [[nodiscard]] bool find(HandleRegion& region) const noexcept
    {
        const std::uint64_t generation = attached_->generation().load(std::memory_order_relaxed);
        const bool there =
            attached_->holds(region.name, region.first, region.first + region.all_bytes);
        if (there) {
            region.data = reinterpret_cast<std::byte*>(region.first);
            region.direct.store(generation, std::memory_order_release);
        }
        return there;
    }

    // What is at a region that was let in by its name: see RegionTable.
    void begin_use(RegionName name, int writer = RegionTable::nobody) noexcept
    {
        if (name != no_region) {
            attached_->begin_use(name, writer);
        }
    }
    void end_use(RegionName name, int writer = RegionTable::nobody) noexcept
    {
        if (name != no_region && is_dynamic()) {
            attached_->end_use(name, writer);
        }
    }
    void end_uses_of(int writer) noexcept
    {
        if (is_dynamic()) {
            attached_->end_uses_of(writer);
        }
    }

private:
    std::byte* base_ = nullptr;
    std::uint64_t size_ = 0;
    std::optional<RegionTable> attached_;
};

} // namespace sidelight::rma
