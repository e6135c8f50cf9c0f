// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>

#include "fabric/peer_memory.hpp"

namespace sidelight::fabric {

/// Memory of processes on one node. Not for several threads at once.
class MappedPeerMemory final : public PeerMemory {
public:
    std::byte* make(std::size_t bytes, FileRange& where) noexcept override;
    void destroy(std::byte* data, const FileRange& where) noexcept override;
    std::byte* map(const FileRange& range) noexcept override;
    void unmap(std::byte* data, const FileRange& range) noexcept override;

    /// How many mappings there are, made and mapped.
    [[nodiscard]] std::size_t mappings() const noexcept { return made_.size() + mapped_.size(); }

private:
    std::map<std::byte*, std::pair<File, Mapping>> made_;
    std::map<std::byte*, Mapping> mapped_;
};

} // namespace sidelight::fabric
