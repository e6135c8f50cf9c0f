// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>

#include "base/held_file.hpp"
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
    /// A file of some blocks, since a process may have few of them open. Each block has a place of
    /// its own: peers may look at one for a while after it has gone. Closed with the last.
    struct Blocks {
        HeldFile file;
        std::size_t used = 0; ///< bytes
    };
    struct Made {
        std::shared_ptr<Blocks> in;
        Mapping mapping;
    };
    [[nodiscard]] std::shared_ptr<Blocks> blocks_for(std::size_t bytes);

    std::shared_ptr<Blocks> latest_;
    std::map<std::byte*, Made> made_;
    std::map<std::byte*, Mapping> mapped_;
};

} // namespace sidelight::fabric
