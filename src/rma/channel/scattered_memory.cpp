// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/scattered_memory.hpp"

#include <cstring>
#include <new>

namespace sidelight::rma {

namespace {

bool is_list(std::span<const std::byte> payload, std::uint64_t entries) noexcept
{
    return entries != 0 && entries <= payload.size() / sizeof(ScatteredBlocks);
}

/// Where the first of them is, if all may be reached; null if not. They may lie in several regions
/// of a dynamic window.
std::byte* reach(const ScatteredBlocks& blocks, const OwnMemory& memory, RegionName region) noexcept
{
    const auto stride = static_cast<std::uint64_t>(blocks.stride); // wraps round, if it is negative
    std::byte* first = nullptr;
    for (std::uint32_t index = 0; index < blocks.count; ++index) {
        std::byte* found = memory.find(blocks.address + index * stride, blocks.length, region);
        if (found == nullptr) {
            return nullptr;
        }
        first = index == 0 ? found : first;
    }
    return first;
}

} // namespace

std::span<const std::byte> ScatteredMemory::data_behind(std::span<const std::byte> payload,
                                                        std::uint64_t entries) noexcept
{
    return is_list(payload, entries) ? payload.subspan(entries * sizeof(ScatteredBlocks))
                                     : std::span<const std::byte>();
}

bool ScatteredMemory::add(const ScatteredBlocks& blocks, const OwnMemory& memory, RegionName region)
{
    const std::size_t bytes = std::size_t{blocks.length} * blocks.count;
    if (bytes == 0 || bytes > fragment_bytes - layout_.size ||
        blocks.length % layout_.basic_size != 0) {
        return false;
    }
    std::byte* first = reach(blocks, memory, region);
    if (first == nullptr) {
        return false;
    }
    base_ = layout_.runs.empty() ? first : base_;
    layout_.runs.push_back({.offset = first - base_,
                            .length = blocks.length,
                            .stride = static_cast<std::ptrdiff_t>(blocks.stride),
                            .count = blocks.count});
    layout_.groups.front().runs = layout_.runs.size();
    layout_.size += bytes;
    return true;
}

Status ScatteredMemory::find(std::span<const std::byte> payload, std::uint64_t entries,
                             const OwnMemory& memory, RegionName region,
                             datatype::Basic basic) noexcept
{
    layout_.size = 0;
    layout_.runs.clear();
    layout_.basic = basic;
    layout_.basic_size = static_cast<std::uint32_t>(datatype::shape_of(basic).extent);
    if (!is_list(payload, entries)) {
        return Status::count;
    }
    try {
        layout_.groups.assign(1, {.runs = 0, .repeats = 1, .stride = 0});
        for (std::uint64_t entry = 0; entry < entries; ++entry) {
            ScatteredBlocks blocks;
            std::memcpy(&blocks, &payload[entry * sizeof blocks], sizeof blocks);
            if (!add(blocks, memory, region)) {
                return Status::rma_range;
            }
        }
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    return Status::ok;
}

} // namespace sidelight::rma
