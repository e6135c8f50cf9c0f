// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rma/region/region_name.hpp"

/// Memory handles as plain bytes, which a program sends to whom it likes. See
/// docs/design/memory-handles.md.
namespace sidelight::rma {

/// What one says.
struct MemoryHandle {
    std::uint64_t window = 0; ///< id of the parent
    RegionName region = no_region;
    std::uint64_t base = 0; ///< address at its owner
    std::uint64_t size = 0; ///< bytes
    std::int32_t rank = 0;  ///< of its owner
};

/// Bytes of every handle of this version.
inline constexpr std::size_t memory_handle_bytes = 56;

/// Writes so many bytes.
void write_memory_handle(const MemoryHandle& handle, void* to) noexcept;
/// Reads that many where the first eight say that there are. Nothing where they are no handle of
/// this version, or not as they were written: any change of a few bytes is noticed. What is made up
/// with care is not, and gets no further than the owner's table.
[[nodiscard]] std::optional<MemoryHandle> read_memory_handle(const void* from) noexcept;
/// Nobody takes it for a handle any more.
void spoil_memory_handle(void* handle) noexcept;

} // namespace sidelight::rma
