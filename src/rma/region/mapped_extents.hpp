// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/list.hpp"
#include "fabric/peer_memory.hpp"

namespace sidelight::rma {

/// A stretch of a file that is mapped, with the regions that lie in it.
struct MappedExtent {
    FileRange range;
    std::byte* data = nullptr;
    std::size_t users = 0;
    Links<MappedExtent> among{};

    /// Where a part of the file is that lies in it.
    [[nodiscard]] std::byte* at(const FileRange& where) const noexcept
    {
        return data + (where.offset - range.offset);
    }
};

/// What this process has mapped of one member's files. Needs the engine.
class MappedExtents {
public:
    explicit MappedExtents(fabric::PeerMemory& memory) noexcept : memory_(memory) {}
    ~MappedExtents();
    MappedExtents(const MappedExtents&) = delete;
    MappedExtents& operator=(const MappedExtents&) = delete;

    /// One that holds the range, with one more user; null where there can be none. Throws
    /// std::bad_alloc.
    [[nodiscard]] MappedExtent* take(const FileRange& where);
    /// One user less. The last one unmaps it.
    void drop(MappedExtent& extent) noexcept;
    /// The same, but it may stay mapped for those that come next. For files that live as long as
    /// their owner, which a mapping keeps no memory of.
    void keep(MappedExtent& extent) noexcept;

private:
    void unmap(MappedExtent& extent) noexcept;

    fabric::PeerMemory& memory_;
    List<MappedExtent, &MappedExtent::among> all_;
    std::size_t spare_ = 0; ///< without users
};

} // namespace sidelight::rma
