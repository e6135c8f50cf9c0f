// SPDX-License-Identifier: BSD-3-Clause
#include "host/allocated/allocated_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <new>
#include <utility>

#include <pthread.h>
#include <sys/mman.h>

#include "base/bytes.hpp"
#include "base/child_pages.hpp"
#include "host/allocated/block_sizes.hpp"
#include "host/allocated/huge_pages.hpp"
#include "host/memory_limit.hpp"

namespace sidelight::host::allocated {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t most_cached = std::size_t{64} << 20;

/// Pages, aligned. Asked for as private memory: the kernel then refuses what it would refuse of
/// malloc. Null: it does.
std::byte* reserve(std::size_t bytes, std::size_t alignment) noexcept
{
    const std::size_t slack = alignment > page_size() ? alignment : 0;
    void* all =
        mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        return nullptr;
    }
    auto* first = static_cast<std::byte*>(all);
    const auto at = reinterpret_cast<std::uintptr_t>(all);
    const std::size_t before = round_up(at, alignment) - at;
    if (before != 0) {
        munmap(first, before);
    }
    if (slack > before) {
        munmap(first + before + bytes, slack - before);
    }
    return first + before;
}

} // namespace

AllocatedMemory& AllocatedMemory::of_process() noexcept
{
    // Never destroyed: memory may be freed after static objects are gone.
    alignas(AllocatedMemory) static std::array<std::byte, sizeof(AllocatedMemory)> place;
    static auto* memory = new (place.data()) AllocatedMemory;
    return *memory;
}

/// Before the program can register handlers: its own run while memory can be had and freed, and in
/// a child when that has its own pages.
void AllocatedMemory::handle_forks() noexcept
{
    of_process();
    pthread_atfork([] { of_process().before_fork(); }, [] { of_process().after_fork_in_parent(); },
                   [] { of_process().after_fork_in_child(); });
}

void* AllocatedMemory::allocate(std::size_t bytes, std::size_t alignment, bool huge) noexcept
{
    const std::size_t size = block_size(bytes, alignment);
    try {
        const std::lock_guard guard(mutex_);
        return size == 0 || inherited_ ? nullptr : take(size, alignment, huge);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

/// The one that was freed last of those that are aligned like that; up to a page, all of a size
/// are.
std::byte* AllocatedMemory::take(std::size_t block_bytes, std::size_t alignment, bool huge)
{
    std::vector<std::byte*>& free = blocks_[block_bytes].free;
    auto found = std::find_if(free.rbegin(), free.rend(), [&](const std::byte* block) {
        return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
    });
    if (found == free.rend()) {
        if (!make_chunk(block_bytes, alignment, huge)) {
            return nullptr;
        }
        found = free.rbegin();
    } else if (block_bytes > small_block) {
        cached_ -= block_bytes;
    }
    std::byte* block = *found;
    free.erase(std::next(found).base());
    Chunk& chunk = *chunk_around(block);
    chunk.taken[static_cast<std::size_t>(block - chunk.data) / block_bytes] = true;
    return block;
}

/// Its blocks are free then, and the last ones of their size. A chunk is a mapping of its own; most
/// of those that a process may have are left to others.
bool AllocatedMemory::make_chunk(std::size_t block_bytes, std::size_t alignment, bool huge)
{
    static const std::uint64_t most_chunks = most_mappings() / 4;
    if (chunks_.size() >= most_chunks) {
        return false;
    }
    const std::size_t unit = huge ? huge_pages().bytes : page_size();
    const std::size_t count = block_bytes > small_block ? 1 : chunk_bytes / block_bytes;
    const std::size_t bytes = round_up(count * block_bytes, page_size());
    const std::uint64_t offset = round_up(end_, unit);
    Blocks& blocks = blocks_[block_bytes];
    blocks.free.reserve(blocks.count + count);
    if (const std::size_t most = dropped_.size() + chunks_.size() + 1; dropped_.capacity() < most) {
        dropped_.reserve(2 * most); // all of them may be dropped while a child sees them
    }
    std::map<const std::byte*, Chunk> made; // the last that needs memory: it is mapped behind that
    Chunk& chunk =
        made[nullptr] = {nullptr, bytes, offset, block_bytes, std::vector<bool>(count, false)};
    std::byte* data = reach(offset + bytes) ? reserve(bytes, std::max(alignment, unit)) : nullptr;
    if (data == nullptr || !map_over(data, bytes, file_.file(), offset, MAP_SHARED)) {
        munmap(data, data != nullptr ? bytes : 0);
        return false;
    }
    if (huge) {
        madvise(data, bytes, MADV_HUGEPAGE);
    }
    end_ = offset + bytes;
    chunk.data = data;
    auto entry = made.extract(nullptr);
    entry.key() = data;
    chunks_.insert(std::move(entry));
    blocks.count += count;
    for (std::size_t i = count; i-- > 0;) {
        blocks.free.push_back(data + i * block_bytes);
    }
    return true;
}

/// Sees to it that the file is there, and as long. One that the program has closed has no
/// successor: a place in it is one for good.
bool AllocatedMemory::reach(std::uint64_t end) noexcept
{
    constexpr std::uint64_t at_first = std::uint64_t{1} << 30;
    if (size_ == 0) {
        file_ = HeldFile(create_memory_file());
        address_ = address_of(file_.file());
    }
    const File& file = file_.file();
    if (file) {
        give_back_dropped(file);
    }
    if (file && end > size_) {
        const std::uint64_t size = std::max(at_first, std::bit_ceil(end));
        size_ = grow(file, size) ? size : size_;
    }
    return file && end <= size_;
}

AllocatedMemory::Chunk* AllocatedMemory::chunk_around(const void* address) noexcept
{
    const auto* at = static_cast<const std::byte*>(address);
    const auto after = chunks_.upper_bound(at);
    if (after == chunks_.begin()) {
        return nullptr;
    }
    Chunk& chunk = std::prev(after)->second;
    return at < chunk.data + chunk.bytes ? &chunk : nullptr;
}

AllocatedMemory::Freed AllocatedMemory::free(const void* block) noexcept
{
    const std::lock_guard guard(mutex_);
    Chunk* chunk = chunk_around(block);
    if (chunk == nullptr) {
        return Freed::not_ours;
    }
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(block) - chunk->data);
    const std::size_t bytes = chunk->block_bytes;
    const std::size_t number = at / bytes;
    if (at % bytes != 0 || number >= chunk->taken.size() || !chunk->taken[number]) {
        return Freed::not_a_block;
    }
    if (bytes > small_block) {
        if (bytes > cached_block) {
            drop(*chunk);
            return Freed::yes;
        }
        while (cached_ + bytes > most_cached) {
            drop_oldest();
        }
        cached_ += bytes;
        chunk->freed_as = ++frees_;
    }
    chunk->taken[number] = false;
    blocks_.find(bytes)->second.free.push_back(chunk->data + at);
    return Freed::yes;
}

/// Of the blocks that are kept the one that was freed first. There is one.
void AllocatedMemory::drop_oldest() noexcept
{
    const auto chunk_of_first = [this](const auto& entry) {
        const auto& free = entry.second.free; // in the order in which they were freed
        return free.empty() ? nullptr : chunk_around(free.front());
    };
    const auto oldest = std::min_element(
        blocks_.upper_bound(small_block), blocks_.upper_bound(cached_block),
        [&](const auto& one, const auto& other) {
            const Chunk* first = chunk_of_first(one);
            const Chunk* second = chunk_of_first(other);
            return first != nullptr && (second == nullptr || first->freed_as < second->freed_as);
        });
    const Chunk* chunk = chunk_of_first(*oldest);
    std::vector<std::byte*>& free = oldest->second.free;
    free.erase(free.begin());
    cached_ -= chunk->block_bytes;
    drop(*chunk);
}

/// One that is a single block.
void AllocatedMemory::drop(const Chunk& chunk) noexcept
{
    if (const auto blocks = blocks_.find(chunk.block_bytes); --blocks->second.count == 0) {
        blocks_.erase(blocks);
    }
    munmap(chunk.data, chunk.bytes);
    if (const File& file = file_.file(); file && !inherited_) {
        dropped_.emplace_back(chunk.offset, chunk.bytes);
        std::push_heap(dropped_.begin(), dropped_.end());
        give_back_dropped(file);
    }
    chunks_.erase(chunk.data);
}

/// Not while a child reads what it had at its fork. That is all before some place, so where a block
/// is held all before it are: no call looks at more than one that stays.
void AllocatedMemory::give_back_dropped(const File& file) noexcept
{
    while (!dropped_.empty()) {
        const auto [offset, bytes] = dropped_.front();
        if (offset < unheld_end_ || has_holder(file, offset, bytes)) {
            return;
        }
        punch(file, offset, bytes);
        std::pop_heap(dropped_.begin(), dropped_.end());
        dropped_.pop_back();
    }
}

std::optional<FileRange> AllocatedMemory::find(const void* base, std::size_t bytes) noexcept
{
    const std::lock_guard guard(mutex_);
    const Chunk* chunk = chunk_around(base);
    if (chunk == nullptr || inherited_ || !file_.file()) {
        return std::nullopt;
    }
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(base) - chunk->data);
    if (bytes > chunk->bytes - at) {
        return std::nullopt;
    }
    return FileRange{address_, chunk->offset + at, bytes};
}

void AllocatedMemory::before_fork() noexcept
{
    mutex_.lock();
    const File& file = file_.file();
    if (file && !chunks_.empty() && !inherited_) {
        of_child_ = hold(file, end_);
        unheld_end_ = of_child_ ? unheld_end_ : end_;
    }
}

void AllocatedMemory::after_fork_in_parent() noexcept
{
    of_child_ = File();
    mutex_.unlock();
}

/// What a child has is its own already when it forks. It may close all descriptors.
void AllocatedMemory::after_fork_in_child() noexcept
{
    if (!inherited_) {
        const File& file = of_child_ ? of_child_ : file_.file();
        for (const auto& [first, chunk] : chunks_) {
            keep_apart_in_child(chunk.data, chunk.bytes, file, chunk.offset);
        }
    }
    of_child_ = File();
    inherited_ = inherited_ || size_ != 0; // before the first block there is nothing to inherit
    mutex_.unlock();
}

} // namespace sidelight::host::allocated
