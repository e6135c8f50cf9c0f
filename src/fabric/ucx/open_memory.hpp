// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <utility>

#include "fabric/remote_memory.hpp"
#include "fabric/ucx/transfers.hpp"

namespace sidelight::fabric::ucx {

class OpenMemories;

/// Memory of a peer, as UCX reaches it. Belongs to whoever has opened it, its key to
/// `OpenMemories`.
class OpenMemory final : public RemoteMemory {
public:
    OpenMemory(OpenMemories& owner, Transfers& transfers, const RemotePlace& place) noexcept
        : RemoteMemory({}, false), owner_(owner), transfers_(transfers), place_(place)
    {}
    ~OpenMemory() override;
    OpenMemory(const OpenMemory&) = delete;
    OpenMemory& operator=(const OpenMemory&) = delete;

    Access put(std::span<const AccessPiece> pieces, Completion& done) noexcept override
    {
        return transfers_.start(place_, true, pieces, done);
    }
    Access get(std::span<const AccessPiece> pieces, Completion& done) noexcept override
    {
        return transfers_.start(place_, false, pieces, done);
    }

    bool fence() noexcept override { return transfers_.fence(); }

    /// Nothing is accessed with it any more. Null: it has been taken before.
    ucp_rkey_h take_key() noexcept { return std::exchange(place_.key, nullptr); }

private:
    OpenMemories& owner_;
    Transfers& transfers_;
    RemotePlace place_;
};

/// The memory of peers that is open, and whose may be.
class OpenMemories {
public:
    /// `always`: also where UCX accesses it by messages.
    OpenMemories(const Worker& worker, Transfers& transfers, bool always) noexcept;

    /// As in Fabric.
    [[nodiscard]] bool accesses(Peer& peer) const noexcept;
    std::unique_ptr<RemoteMemory> open(Peer& peer, std::span<const std::byte> key) noexcept;

    /// It is not used any more.
    void forget(OpenMemory& memory) noexcept;

    /// Before worker and context go; not `ended`: where they stay.
    void close(bool ended) noexcept;

private:
    const Library& ucx_;
    Transfers& transfers_;
    bool always_;
    bool possible_; ///< the context has transports that access memory by hardware, or `always_`
    std::unordered_set<OpenMemory*> open_;
};

} // namespace sidelight::fabric::ucx
