// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/list.hpp"
#include "fabric/ucx/connections.hpp"
#include "fabric/ucx/delivery.hpp"
#include "fabric/ucx/peer.hpp"

namespace sidelight::fabric::ucx {

/// Brings the payloads of zero-copy messages, whose turn it is, to where the receiver wants them:
/// what UCX has not fetched yet is written straight there.
class ZeroCopyReceives {
public:
    ZeroCopyReceives(const Worker& worker, Connections& connections, Delivery& delivery) noexcept;
    ~ZeroCopyReceives();
    ZeroCopyReceives(const ZeroCopyReceives&) = delete;
    ZeroCopyReceives& operator=(const ZeroCopyReceives&) = delete;

    /// A payload that is here.
    void copy(const Peer& peer, std::span<const std::byte> header,
              std::span<const std::byte> payload) noexcept;
    /// One that UCX fetches. False: the receiver does not want it, or there is no memory and the
    /// peer has failed; the descriptor is still the caller's.
    bool fetch(Peer& peer, std::span<const std::byte> header, void* descriptor,
               std::size_t bytes) noexcept;

    [[nodiscard]] bool has_news() const noexcept { return !placed_.empty(); }
    /// Tells the receiver of payloads that have been fetched. Answers whether there was any.
    bool tell_placed() noexcept;

private:
    /// A payload that UCX is fetching.
    struct Receive {
        ZeroCopyReceives& owner;
        Peer& peer;
        std::vector<std::byte> header;
        std::size_t bytes;
        Receive* next = nullptr; ///< in the Fifo that it is in
    };

    void conclude(Receive& receive, ucs_status_t status) noexcept;
    static void on_placed(void* request, ucs_status_t status, size_t bytes, void* receive) noexcept;

    const Library& ucx_;
    ucp_worker_h worker_;
    Connections& connections_;
    Delivery& delivery_;
    Fifo<Receive> placed_; ///< and not told yet
};

} // namespace sidelight::fabric::ucx
