// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "fabric/fabric.hpp"
#include "fabric/ucx/connections.hpp"
#include "fabric/ucx/delivery.hpp"
#include "fabric/ucx/outgoing.hpp"
#include "fabric/ucx/peer.hpp"

namespace sidelight::fabric::ucx {

/// The way out: messages are put into a peer's open batch, the batch departs when it is full or
/// pushed, waits until there is a connection, and is handed to UCX. Zero-copy messages depart at
/// once, each alone.
class Sending {
public:
    Sending(const Worker& worker, Connections& connections, const Delivery& delivery) noexcept;
    ~Sending();
    Sending(const Sending&) = delete;
    Sending& operator=(const Sending&) = delete;

    /// As in Fabric.
    Status send(int number, std::span<const std::byte> header,
                std::span<const std::byte> payload) noexcept;
    void push() noexcept;
    Status send_zero_copy(int number, std::span<const std::byte> header,
                          std::span<const std::byte> payload, Completion& sent) noexcept;

    /// The address of that peer has become known.
    void reach(Peer& peer) noexcept;
    /// Connects the peers that handlers have sent to.
    void connect_requested() noexcept;
    [[nodiscard]] bool has_connected() const noexcept { return unconnected_.empty(); }

    [[nodiscard]] bool has_news() const noexcept
    {
        return !finished_.empty() || !unconnected_.empty();
    }
    /// Tells whoever waits for zero-copy messages that are over. Answers whether any was.
    bool tell_finished() noexcept;
    /// Gives up what has not been handed to UCX.
    void abandon(Peer& peer) noexcept;
    /// Tells whoever waits for what UCX has not finished in time after the end of the connection.
    static void tell_forgotten(Peer& peer) noexcept;

private:
    /// The batches of one length that nobody needs at present.
    struct Spare {
        std::size_t capacity; ///< of each
        std::size_t most;     ///< further ones are freed
        Fifo<Outgoing> batches{};
        std::size_t count = 0;
    };

    Spare& spare_of(const Batch& batch) noexcept { return batch.is_long() ? long_ : short_; }
    Batch* take_batch(Spare& spare) noexcept;
    void give_back(Batch& batch) noexcept;
    /// `more`: there was much in the one before.
    Batch* open_batch(Peer& peer, bool more) noexcept;
    std::unique_ptr<ZeroCopyMessage> make_message(Peer& peer, std::span<const std::byte> header);
    void depart_open_batch(Peer& peer) noexcept;
    void depart(Outgoing& item) noexcept;
    void connect(Peer& peer) noexcept;
    static bool put_into_box(Outgoing& item) noexcept;
    void start(Outgoing& item) noexcept;
    ucs_status_ptr_t start_batch(Batch& batch, ucp_request_param_t& param) noexcept;
    ucs_status_ptr_t start_zero_copy(ZeroCopyMessage& message,
                                     const ucp_request_param_t& param) noexcept;
    void retire(Outgoing& item, ucs_status_t status) noexcept;
    static void on_sent(void* request, ucs_status_t status, void* item) noexcept;

    const Library& ucx_;
    Connections& connections_;
    const Delivery& delivery_;
    std::size_t max_header_;
    bool has_long_batches_; ///< hardware would have their memory registered
    PeerQueue<&QueuePlaces::held> held_;
    PeerQueue<&QueuePlaces::unconnected> unconnected_;
    Spare short_{.capacity = Batch::short_capacity, .most = 256}; // 2 MB
    Spare long_{.capacity = Batch::long_capacity, .most = 16};
    Fifo<Outgoing> finished_; ///< zero-copy messages, and not told yet
};

} // namespace sidelight::fabric::ucx
