// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "fabric/remote_memory.hpp"
#include "fabric/ucx/connections.hpp"
#include "fabric/ucx/delivery.hpp"
#include "fabric/ucx/peer.hpp"
#include "fabric/ucx/transfer.hpp"

namespace sidelight::fabric::ucx {

/// Where accesses go.
struct RemotePlace {
    Peer& peer;
    ucp_rkey_h key = nullptr; ///< null: the fabric is closed
    std::uint64_t base = 0;   ///< of the memory, as an address of its owner
};

/// Puts and gets that UCX performs, and the flushes that tell when puts have arrived. See
/// docs/design/native-route.md.
class Transfers {
public:
    Transfers(const Worker& worker, Connections& connections, const Delivery& delivery) noexcept;
    ~Transfers();
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;

    /// As RemoteMemory::put and get.
    Access start(const RemotePlace& place, bool put, std::span<const AccessPiece> pieces,
                 Completion& done) noexcept;

    /// As RemoteMemory::fence, for all peers.
    [[nodiscard]] bool fence() noexcept { return ucx_.worker_fence(worker_) == UCS_OK; }

    [[nodiscard]] bool has_unflushed() const noexcept { return !unflushed_.empty(); }
    /// Flushes peers with puts that no flush covers; not while the receiver is being called.
    void flush_requested() noexcept;

    [[nodiscard]] bool has_news() const noexcept
    {
        return left_ != nullptr || !over_.empty() || has_unflushed();
    }
    /// Tells whoever waits for transfers that have left, or are over. Answers whether any has.
    bool tell_over() noexcept;
    /// Gives up puts that no flush covers: none will come.
    void abandon(Peer& peer) noexcept;
    /// Tells whoever waits for what UCX has not finished in time after the end of the connection.
    static void tell_forgotten(Peer& peer) noexcept;

private:
    Transfer* take(Peer& peer, bool put, Completion& done) noexcept;
    void start_piece(const RemotePlace& place, Transfer& transfer,
                     const AccessPiece& piece) noexcept;
    void request_flush(Peer& peer) noexcept;
    void flush(Peer& peer) noexcept;
    void end_flush(Peer& peer, ucs_status_t status) noexcept;
    void end_if_over(Transfer& transfer) noexcept;
    void tell_left() noexcept;
    static void on_accessed(void* request, ucs_status_t status, void* transfer) noexcept;
    static void on_flushed(void* request, ucs_status_t status, void* transfer) noexcept;

    const Library& ucx_;
    ucp_worker_h worker_;
    Connections& connections_;
    const Delivery& delivery_;
    PeerQueue<&QueuePlaces::unflushed> unflushed_;
    Transfer* left_ = nullptr; ///< those whose memory here is free, and that are not told yet
    Fifo<Transfer> over_;      ///< likewise
    Fifo<Transfer> spare_;
};

} // namespace sidelight::fabric::ucx
