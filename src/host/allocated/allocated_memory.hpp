// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/held_file.hpp"
#include "base/shared_memory.hpp"

/// Memory that this library hands out, for MPI_Alloc_mem. See docs/design/user-memory.md.
namespace sidelight::host::allocated {

/// Memory that is shared from its birth, so that a window on it is mapped by the other processes of
/// the node as it is. It lies in one file; blocks of at most 64 KiB share chunks, a larger one is a
/// chunk of its own. Nothing is touched before the program does, so pages lie where it touches them
/// first. A child of fork gets its own pages. Any thread may call.
class AllocatedMemory {
public:
    static AllocatedMemory& of_process() noexcept;

    /// Null where there is no such memory: nothing has changed then. `alignment`: a power of two.
    /// `huge`: to be in huge pages.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, bool huge) noexcept;

    enum class Freed : std::uint8_t {
        yes,
        not_ours,   ///< it comes from elsewhere
        not_a_block ///< it lies here, but `allocate` has not answered it, or it is free already
    };
    /// Peers that still have it mapped go on: they find what was there, or zeros, or another block.
    Freed free(const void* block) noexcept;

    /// Where others find bytes that lie in here.
    [[nodiscard]] std::optional<FileRange> find(const void* base, std::size_t bytes) noexcept;

private:
    /// Pages of the file with blocks of one size.
    struct Chunk {
        std::byte* data;
        std::size_t bytes;
        std::uint64_t offset;
        std::size_t block_bytes;
        std::vector<bool> taken;    ///< by the number of the block
        std::uint64_t freed_as = 0; ///< one that is a single block: by the count of frees
    };
    /// Those of one size.
    struct Blocks {
        std::vector<std::byte*> free; ///< has room for all; the one that was freed last is last
        std::size_t count = 0;        ///< free and taken
    };

    [[gnu::constructor]] static void handle_forks() noexcept;
    std::byte* take(std::size_t block_bytes, std::size_t alignment, bool huge);
    bool make_chunk(std::size_t block_bytes, std::size_t alignment, bool huge);
    bool reach(std::uint64_t end) noexcept;
    [[nodiscard]] Chunk* chunk_around(const void* address) noexcept;
    void drop_oldest() noexcept;
    void drop(const Chunk& chunk) noexcept;
    void give_back_dropped(const File& file) noexcept;
    void before_fork() noexcept;
    void after_fork_in_parent() noexcept;
    void after_fork_in_child() noexcept;

    std::mutex mutex_; ///< guards all that follows; held across fork
    HeldFile file_;
    MemoryFileAddress address_;                ///< of file_, in the process that has made it
    std::uint64_t size_ = 0;                   ///< of file_
    std::uint64_t end_ = 0;                    ///< of what was given away of file_; never goes back
    std::map<const std::byte*, Chunk> chunks_; ///< by first address
    std::map<std::size_t, Blocks> blocks_;     ///< by size
    std::size_t cached_ = 0;                   ///< bytes of chunks that are one block, and free
    std::uint64_t frees_ = 0;                  ///< of blocks that were kept
    /// Dropped, and not given back yet: a child of fork may see them. A heap: the last one in the
    /// file is the first.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> dropped_; ///< offset and bytes
    File of_child_;                ///< across fork; what a child maps by it, it holds
    std::uint64_t unheld_end_ = 0; ///< a child without it may see what lies before
    bool inherited_ = false;       ///< this is a child, and file_ its parent's
};

} // namespace sidelight::host::allocated
