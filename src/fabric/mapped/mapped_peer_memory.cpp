// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/mapped/mapped_peer_memory.hpp"

#include <new>

#include "base/bytes.hpp"

namespace sidelight::fabric {

/// Where the next block of that size goes: behind the latest one, or in a new file. Null: it cannot
/// be made. Throws std::bad_alloc.
std::shared_ptr<MappedPeerMemory::Blocks> MappedPeerMemory::blocks_for(std::size_t bytes)
{
    constexpr std::size_t most = std::size_t{256} << 10; // held as long as one block of it is
    if (latest_ == nullptr || latest_->used + bytes > most || !latest_->file.file()) {
        HeldFile file(create_memory_file());
        latest_ = file.is_open() ? std::make_shared<Blocks>(Blocks{std::move(file), 0}) : nullptr;
    }
    return latest_;
}

std::byte* MappedPeerMemory::make(std::size_t bytes, FileRange& where) noexcept
{
    try {
        const std::size_t length = round_up(bytes, page_size());
        const std::shared_ptr<Blocks> blocks = blocks_for(length);
        const std::size_t offset = blocks != nullptr ? blocks->used : 0;
        Mapping mapping =
            blocks != nullptr ? Mapping::part(blocks->file.file(), offset, length) : Mapping();
        if (!mapping) {
            return nullptr;
        }
        std::byte* data = mapping.data();
        const FileRange range{address_of(blocks->file.file()), offset, bytes};
        made_.emplace(data, Made{blocks, std::move(mapping)});
        blocks->used += length;
        where = range;
        return data;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void MappedPeerMemory::destroy(std::byte* data, const FileRange& /*where*/) noexcept
{
    made_.erase(data);
    if (made_.empty()) {
        latest_ = nullptr;
    }
}

std::byte* MappedPeerMemory::map(const FileRange& range) noexcept
{
    Mapping mapping = Mapping::of(range);
    if (!mapping) {
        return nullptr;
    }
    std::byte* data = mapping.data();
    try {
        mapped_.emplace(data, std::move(mapping));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    return data;
}

void MappedPeerMemory::unmap(std::byte* data, const FileRange& /*range*/) noexcept
{
    mapped_.erase(data);
}

} // namespace sidelight::fabric
