// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/mapped/mapped_peer_memory.hpp"

#include <new>

namespace sidelight::fabric {

std::byte* MappedPeerMemory::make(std::size_t bytes, FileRange& where) noexcept
{
    File file = create_memory_file();
    Mapping mapping = file ? Mapping::shared(file, bytes) : Mapping();
    if (!mapping) {
        return nullptr;
    }
    std::byte* data = mapping.data();
    const FileRange range{address_of(file), 0, bytes};
    try {
        made_.emplace(data, std::pair(std::move(file), std::move(mapping)));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    where = range;
    return data;
}

void MappedPeerMemory::destroy(std::byte* data, const FileRange& /*where*/) noexcept
{
    made_.erase(data);
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
