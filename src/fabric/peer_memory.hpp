// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/shared_memory.hpp"

namespace sidelight::fabric {

/// How a process makes memory that its peers on the node can map, and maps theirs. The engine's
/// seam to the system for that; simulations have their own.
class PeerMemory {
public:
    PeerMemory() = default;
    virtual ~PeerMemory() = default;
    PeerMemory(const PeerMemory&) = delete;
    PeerMemory& operator=(const PeerMemory&) = delete;

    /// Zeroed memory, and where peers find it until it is destroyed. Null: there is none.
    virtual std::byte* make(std::size_t bytes, FileRange& where) noexcept = 0;
    virtual void destroy(std::byte* data, const FileRange& where) noexcept = 0;

    /// Maps what a peer has. The range may go beyond the end of its file, where it must not be
    /// touched, unless that is one of huge pages. Null: it is gone, or out of reach.
    virtual std::byte* map(const FileRange& range) noexcept = 0;
    virtual void unmap(std::byte* data, const FileRange& range) noexcept = 0;
};

} // namespace sidelight::fabric
