// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "fabric/mapped/mapped_fabric.hpp"
#include "fabric/network_fabric.hpp"

namespace sidelight::fabric {

/// What a process has: doorbells on its node, and a network from the moment that it is needed. A
/// peer has one number, whichever way it is reached. Until the network is opened nothing of it is
/// loaded, and messages are not carried.
/// `bell` may be used by any thread; all else comes from the one that holds the engine.
class JoinedFabric final : public Fabric {
public:
    /// Makes this process's doorbell. Throws std::system_error.
    explicit JoinedFabric(NetworkOptions options);

    [[nodiscard]] const PeerAddress& address() const noexcept { return mapped_.address(); }
    [[nodiscard]] Doorbell& bell() noexcept { return mapped_.bell(); }

    /// Opens the network unless it is open. Answers whether there is one; where not, the log has
    /// said why, once. A lack of files, addresses or memory may pass: it is tried again.
    /// May take some ms. Throws std::bad_alloc.
    bool open_network();

    /// Ends all connections, as NetworkFabric::close. It may be opened again; `address` is another
    /// one then. No window is left. Answers whether all has left.
    bool close_network(Receiver& receiver, Time limit) noexcept;

    /// Null: it is not open. Its address goes to the other members of a window, it can be slept at,
    /// and it has to be closed; but messages are sent and polled here.
    [[nodiscard]] NetworkFabric* network() noexcept { return network_.get(); }

    /// As that of the network, which has to be open; but what waits in UCX for room in memory that
    /// a neighbour reads is told by nothing. Here and in polls it is looked whether a neighbour
    /// has ended.
    [[nodiscard]] Arming arm() noexcept;

    /// The number of a process; the same each time, and `own_peer` for this process itself.
    /// The bell of one on another node has no descriptor. `network_address` is empty where no
    /// network is needed; else the network is opened before. Throws std::bad_alloc.
    int meet(const PeerAddress& peer, std::span<const std::byte> network_address);

    /// Whether the kernel copies from and to that process of this node, which has been met and has
    /// its identity at `identity_at`. It is asked until it does: should it refuse later, so do the
    /// copies.
    bool copies(const PeerAddress& peer, std::uint64_t identity_at) noexcept;

    /// Status::unsupported: there is no network.
    Status send(int peer, std::span<const std::byte> header,
                std::span<const std::byte> payload) noexcept override;
    void push() noexcept override;
    Status send_zero_copy(int peer, std::span<const std::byte> header,
                          std::span<const std::byte> payload, Completion& sent) noexcept override;
    [[nodiscard]] std::size_t zero_copy_from(int peer) const noexcept override;
    bool poll(Receiver& receiver) noexcept override;
    [[nodiscard]] bool has_come() const noexcept override;
    [[nodiscard]] bool is_close() const noexcept override;
    [[nodiscard]] Doorbell* bell_of(int peer) noexcept override;
    [[nodiscard]] bool accesses(int peer) noexcept override;
    bool expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept override;
    void conceal(ExposedMemory& exposed) noexcept override;
    std::unique_ptr<RemoteMemory> open(int peer, std::span<const std::byte> key) noexcept override;

    static constexpr int own_peer = PeerNumbers::own;

private:
    struct Peer {
        int mapped = -1;      ///< its number there, if it has a doorbell
        bool to_ring = false; ///< in the list of those that have been sent something
        bool asked_for_box = false;
        bool watched = false; ///< in the list of neighbours that have been sent something
        bool copied = false;  ///< by the kernel
    };

    Peer& peer_of(std::uint64_t identity);
    void note_sending(int number) noexcept;
    void look_for_ended() noexcept;

    NetworkOptions options_;
    MappedFabric mapped_;
    PeerNumbers numbers_;
    std::unique_ptr<NetworkFabric> network_;
    bool tried_ = false;  ///< to open the network: that will not change any more
    bool lacked_ = false; ///< something, and the log has said so
    std::vector<Peer> peers_;
    std::vector<int> to_ring_;  ///< since the last push
    std::vector<int> watched_;  ///< until the network closes
    std::size_t looked_at_ = 0; ///< of those, last
    Time next_look_{};
    unsigned polls_ = 0; ///< that were not the last before a sleep
};

} // namespace sidelight::fabric
