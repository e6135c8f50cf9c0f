// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/shared_memory.hpp"

/// The words by which members of a node tell each other of attached memory. See
/// docs/design/user-memory.md.
namespace sidelight::rma {

/// Of every word of a table of regions: the owner's stores are seen in their order.
inline constexpr auto load_order = std::memory_order_acquire;
inline constexpr auto store_order = std::memory_order_release;

/// A region as it lies in the block.
struct RegionSlot {
    std::atomic<std::uint64_t> identity; ///< of this attach, never given again; 0: free
    std::atomic<std::uint64_t> first;
    std::atomic<std::uint64_t> last;
    std::atomic<std::uint64_t> process; ///< 0: peers cannot map it
    std::atomic<std::uint64_t> inode;
    std::atomic<std::uint64_t> offset;
    std::atomic<std::uint64_t> lasting; ///< not 0: the file lives as long as the owner
};

/// The same, copied out.
struct RegionRecord {
    std::uint64_t identity = 0;
    std::uint64_t slot = 0;
    std::uint64_t first = 0; ///< addresses of the owner
    std::uint64_t last = 0;
    std::optional<FileRange> where; ///< not set: accesses go by messages
    bool lasting = false;
};

[[nodiscard]] inline bool is_same_file(const MemoryFileAddress& one,
                                       const MemoryFileAddress& other) noexcept
{
    return one.owner == other.owner && one.descriptor == other.descriptor &&
           one.inode == other.inode;
}

/// A file's address in one word; no process has the number 0.
[[nodiscard]] constexpr std::uint64_t packed_process(const MemoryFileAddress& file) noexcept
{
    return (std::uint64_t{static_cast<std::uint32_t>(file.owner)} << 32) |
           static_cast<std::uint32_t>(file.descriptor);
}
[[nodiscard]] constexpr MemoryFileAddress unpacked_file(std::uint64_t process,
                                                        std::uint64_t inode) noexcept
{
    return {.owner = static_cast<std::int32_t>(process >> 32),
            .descriptor = static_cast<std::int32_t>(process & 0xFFFFFFFFU),
            .inode = inode};
}

/// The words of a block: an index in the order of addresses, and slots that stay where they are.
/// The index is a ring, so that either side of a place in it can make room there, or close it.
class RegionBlock {
public:
    struct Key {
        std::atomic<std::uint64_t> first;
        std::atomic<std::uint64_t> slot;
    };

    RegionBlock() = default;
    /// `capacity`: a power of two.
    RegionBlock(std::byte* data, std::uint64_t capacity) noexcept;
    [[nodiscard]] static std::size_t bytes(std::uint64_t capacity) noexcept;

    [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
    /// Where in the ring the first key is. It wraps around.
    [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
    void begin_at(std::uint64_t begin) noexcept { begin_ = begin; }
    [[nodiscard]] Key& key(std::uint64_t at) const noexcept
    {
        return keys_[(begin_ + at) & (capacity_ - 1)];
    }
    /// Owner: makes room for one key before the key `at` of `count`, or takes that one out. The
    /// shorter side moves.
    void open_gap(std::uint64_t at, std::uint64_t count) noexcept;
    void close_gap(std::uint64_t at, std::uint64_t count) noexcept;
    [[nodiscard]] RegionSlot& slot(std::uint64_t at) const noexcept { return slots_[at]; }
    /// How many of the first `count` keys are not above the address. A reader may see keys that are
    /// being moved, and then any number up to `count`.
    [[nodiscard]] std::uint64_t not_above(std::uint64_t address,
                                          std::uint64_t count) const noexcept;
    [[nodiscard]] RegionRecord record(std::uint64_t slot) const noexcept;
    /// Whether the region of a key, and those after it that each begin where the one before ends,
    /// hold all bytes up to `last`. A reader may be told nonsense while keys are being moved.
    [[nodiscard]] bool reaches(std::uint64_t at, std::uint64_t count,
                               std::uint64_t last) const noexcept;

    /// A region that was detached or withdrawn.
    struct Departure {
        std::atomic<std::uint64_t> first;
        std::atomic<std::uint64_t> identity;
    };
    static constexpr std::uint64_t departures = 64;
    /// What the generation after this one is without. There are the latest `departures` of them,
    /// of which the oldest may be being overwritten.
    [[nodiscard]] Departure& departure(std::uint64_t generation) const noexcept
    {
        return departures_[generation % departures];
    }

private:
    void move_key(std::uint64_t from, std::uint64_t to) const noexcept;

    Key* keys_ = nullptr;
    RegionSlot* slots_ = nullptr;
    Departure* departures_ = nullptr;
    std::uint64_t capacity_ = 0;
    std::uint64_t begin_ = 0;
};

} // namespace sidelight::rma
