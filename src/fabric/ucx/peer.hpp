// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.hpp"
#include "fabric/fast_box.hpp"
#include "fabric/ucx/library.hpp"
#include "fabric/ucx/outgoing.hpp"
#include "fabric/ucx/transfer.hpp"

namespace sidelight::fabric::ucx {

class Connections;

/// The place of a peer in one PeerQueue.
struct QueuePlace {
    Peer* next = nullptr;
    bool taken = false;
};

/// One for each queue that there is.
struct QueuePlaces {
    QueuePlace held;        ///< Sending: there is an open batch
    QueuePlace unconnected; ///< Sending: first sent to by a handler, to be connected
    QueuePlace ready;       ///< Receiving: something that came early may be handed over
    QueuePlace unflushed;   ///< Transfers: there are puts that no flush covers
    QueuePlace failed;      ///< Connections: the receiver has not been told
    QueuePlace parting;     ///< Connections: the same, and its connection has been ended
};

/// What `Sending` has of a peer.
struct PeerOut {
    Batch* open = nullptr;  ///< being filled
    std::uint64_t sent = 0; ///< batches
    bool much = false;      ///< in the latest of these, with those that it filled before
    bool filled = false;    ///< the latest left because there was no room in it
    FastOutbox box;         ///< for small ones
    bool watched = false;   ///< UCX has been given something for it, and tells when it is lost
    Fifo<Outgoing> waiting; ///< for the connection
    List<ZeroCopyMessage, &ZeroCopyMessage::links> leaving; ///< those that UCX has not finished
};

/// A zero-copy message that came before the batches that were sent before it.
struct EarlyZeroCopy {
    std::uint64_t after = 0;
    std::vector<std::byte> header; ///< the sender's, without ZeroCopyHeader
    std::size_t bytes = 0;
    std::vector<std::byte> payload; ///< if UCX has no descriptor for it
    void* descriptor = nullptr;     ///< UCX's, of a payload that is to be fetched
};

/// What `Receiving` has of a peer.
struct PeerIn {
    std::uint64_t received = 0;                            ///< batches handed over
    std::map<std::uint64_t, std::vector<std::byte>> early; ///< frames of later ones, by sequence
    std::vector<EarlyZeroCopy> early_zero_copy;
};

/// What `Transfers` has of a peer; whether its memory may be opened is for `OpenMemories`.
struct PeerMemory {
    enum class Opening : std::uint8_t { unknown, refused, native };
    Opening opening = Opening::unknown;
    List<Transfer, &Transfer::links> transfers; ///< that are not over
    Fifo<Transfer> unflushed;                   ///< puts that no flush covers yet
    Fifo<Transfer> flushing;                    ///< puts that the flush under way covers
    bool flush_under_way = false;
};

/// How long UCX may still take with what it has of a peer whose connection has been ended.
struct PeerEnd {
    Time limit{};
    std::uint64_t progressed = 0; ///< the last turn of UCX's that has to be over
};

/// Another process, or this one. Owned by `Connections`, whose fields are those directly in it;
/// what else is known of it belongs to the owners of its parts.
struct Peer {
    Peer(Connections& its_owner, int its_number) noexcept : owner(its_owner), number(its_number) {}

    Connections& owner;
    int number;
    bool failed = false; ///< UCX cannot reach it any more
    bool lost = false;   ///< and what it had to do here has been given up
    ucp_ep_h endpoint = nullptr;
    std::vector<std::byte> address; ///< empty: not known yet
    std::size_t outstanding = 0;    ///< requests that UCX has not finished; of all owners
    PeerEnd end;

    PeerOut out;
    PeerIn in;
    PeerMemory memory;
    QueuePlaces places;
};

/// Peers to which something is to be done, each in it once at most, in the order in which that was
/// found out. Allocates nothing.
template <QueuePlace QueuePlaces::*place>
class PeerQueue {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    [[nodiscard]] Peer* front() const noexcept { return first_; } ///< null: it is empty

    void push(Peer& peer) noexcept
    {
        QueuePlace& its = peer.places.*place;
        if (its.taken) {
            return;
        }
        its = {.next = nullptr, .taken = true};
        (last_ != nullptr ? (last_->places.*place).next : first_) = &peer;
        last_ = &peer;
    }

    /// Null: it is empty.
    Peer* pop() noexcept
    {
        Peer* peer = first_;
        if (peer != nullptr) {
            first_ = (peer->places.*place).next;
            last_ = first_ != nullptr ? last_ : nullptr;
            peer->places.*place = {};
        }
        return peer;
    }

private:
    Peer* first_ = nullptr;
    Peer* last_ = nullptr;
};

} // namespace sidelight::fabric::ucx
