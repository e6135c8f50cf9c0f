// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "fabric/remote_memory.hpp"
#include "fabric/ucx/ucx_fabric.hpp"

namespace sidelight::fabric::ucx {

/// The first bytes of a key; UCX's follow. UCX trusts its own, so what was not sent by a fabric of
/// this kind is told by the digest.
struct KeyHeader {
    std::uint64_t digest = 0; ///< of everything behind it
    std::uint64_t base = 0;   ///< of the memory, as an address of its owner
};

/// An access that UCX has. It is over when UCX has finished all its requests and, if it is a put, a
/// flush that was started later.
struct Transfer : Outgoing {
    explicit Transfer(UcxFabric& owner) noexcept : Outgoing(owner, Kind::transfer) {}

    Completion* done = nullptr; ///< null: has been told before UCX was done
    std::size_t requests = 0;   ///< that UCX has not finished
    bool flushed = false;
    Status status = Status::ok;
    Transfer* before = nullptr; ///< in the list of those of its peer
    Transfer* after = nullptr;
};

/// Memory of a peer, as UCX reaches it.
class OpenMemory final : public RemoteMemory {
public:
    OpenMemory(UcxFabric& fabric, Peer& peer, ucp_rkey_h key, std::uint64_t base) noexcept
        : RemoteMemory({}, false), fabric_(fabric), peer_(peer), key_(key), base_(base)
    {}
    ~OpenMemory() override;
    OpenMemory(const OpenMemory&) = delete;
    OpenMemory& operator=(const OpenMemory&) = delete;

    Access put(std::span<const AccessPiece> pieces, Completion& done) noexcept override
    {
        return fabric_.start_access(*this, true, pieces, done);
    }
    Access get(std::span<const AccessPiece> pieces, Completion& done) noexcept override
    {
        return fabric_.start_access(*this, false, pieces, done);
    }

private:
    friend class UcxFabric;

    UcxFabric& fabric_;
    Peer& peer_;
    ucp_rkey_h key_; ///< null: the fabric is closed
    std::uint64_t base_;
};

} // namespace sidelight::fabric::ucx
