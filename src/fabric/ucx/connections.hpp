// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fabric/peer_numbers.hpp"
#include "fabric/ucx/peer.hpp"
#include "fabric/ucx/worker.hpp"

namespace sidelight::fabric::ucx {

/// The peers, and the endpoint of each that is sent to, from its making to its end. Whoever finds
/// out that a peer is out of reach says so here; what that means to the others is not decided here.
class Connections {
public:
    Connections(Worker& worker, PeerNumbers& numbers) noexcept;

    [[nodiscard]] std::uint64_t own_identity() const noexcept { return numbers_.own_identity(); }

    /// The peer with that number. Throws std::bad_alloc.
    Peer& peer(int number)
    {
        const auto index = static_cast<std::size_t>(number);
        return index < peers_.size() && peers_[index] ? *peers_[index] : add(index);
    }
    /// The peer with that identity. Throws std::bad_alloc.
    Peer& peer_with(std::uint64_t identity);

    /// Makes its endpoint; not within a handler of UCX. False: that has failed.
    bool connect(Peer& peer) noexcept;
    /// UCX cannot reach it.
    void fail(Peer& peer, ucs_status_t status) noexcept;
    /// Nothing comes from it any more, and that it cannot be reached is no news.
    static void give_up(Peer& peer) noexcept;
    /// Ends a connection that need not be flushed. Requests on it finish with an error.
    void close(Peer& peer) noexcept;

    [[nodiscard]] bool has_news() const noexcept { return !failed_.empty() || !parting_.empty(); }
    [[nodiscard]] bool has_failed() const noexcept { return !failed_.empty(); }
    /// A peer that has failed, once; null: there is none.
    Peer* next_failed() noexcept { return failed_.pop(); }
    /// It is closed, and UCX may still be at the memory of what it has not finished.
    void await_end(Peer& peer) noexcept;
    /// One of those of which UCX has finished all, or has had its time, once; null: there is none.
    Peer* next_ended() noexcept;

    /// Whether UCX has finished what it was asked to do; of lost peers it may never tell.
    [[nodiscard]] bool is_idle() const noexcept;
    /// The same but for those.
    [[nodiscard]] bool has_left() const noexcept;
    /// Whether all endpoints that were closed are gone.
    [[nodiscard]] bool has_closed() const noexcept { return closing_ == 0; }

    [[nodiscard]] std::span<const std::unique_ptr<Peer>> peers() const noexcept { return peers_; }

private:
    Peer& add(std::size_t index);
    static void on_error(void* peer, ucp_ep_h endpoint, ucs_status_t status) noexcept;
    static void on_closed(void* request, ucs_status_t status, void* peer) noexcept;

    Worker& worker_;
    const Library& ucx_;
    PeerNumbers& numbers_;
    std::vector<std::unique_ptr<Peer>> peers_;           ///< by number; some may be empty
    std::pair<std::uint64_t, Peer*> latest_{0, nullptr}; ///< its identity
    PeerQueue<&QueuePlaces::failed> failed_;
    PeerQueue<&QueuePlaces::parting> parting_;
    std::size_t closing_ = 0; ///< endpoints
};

} // namespace sidelight::fabric::ucx
