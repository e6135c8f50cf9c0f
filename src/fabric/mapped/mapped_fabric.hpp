// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/doorbell.hpp"
#include "base/shared_memory.hpp"
#include "fabric/fabric.hpp"
#include "fabric/fast_box.hpp"

namespace sidelight::fabric {

/// How a process of this node is met: where its doorbell is. Plain data; whoever makes windows
/// carries it to the other members.
struct PeerAddress {
    std::uint64_t identity = 0; ///< random, so that a process id that is used again does not match
    MemoryFileAddress bell;
    std::uint64_t started = 0; ///< when the process was: see has_ended
};

/// What each process has in memory that its peers map.
struct ProcessPage {
    Doorbell bell;
    FastBoxes boxes; ///< for a network; pages of it that nobody claims are never touched
};

/// The fabric of one node: every member of a window is mapped, so no message is ever needed and
/// all that is left to do is to wake those who sleep. Each process has a ProcessPage,
/// which a peer maps once, however many windows they share.
/// `meet` and `wake` come from the thread that holds the engine; `bell` may be used by any.
class MappedFabric final : public Fabric {
public:
    /// Makes this process's page. Throws std::system_error.
    MappedFabric();

    [[nodiscard]] const PeerAddress& address() const noexcept { return address_; }
    /// It does not move, as the table of peers may meanwhile.
    [[nodiscard]] Doorbell& bell() noexcept { return page_in(own_)->bell; }
    /// Where small messages of peers that have a box come in.
    [[nodiscard]] FastInbox& inbox() noexcept { return inbox_; }

    /// Who meets this process from now on takes it for another one, with the same bell and boxes
    /// that nobody has claimed.
    void begin_anew() noexcept;

    /// The number of that process; the same each time, and `own_peer` for this process itself.
    /// A doorbell that cannot be mapped is as good as none: a call that sleeps there looks again by
    /// itself within a millisecond, a thread of the library's within 100. Throws std::bad_alloc.
    int meet(const PeerAddress& peer);

    /// Whether that process has ended, as far as can be known. Takes some system calls.
    [[nodiscard]] bool has_ended(int peer) const noexcept;

    /// A box of that peer, which stays this process's. It may be none.
    [[nodiscard]] FastOutbox claim_box(int peer) noexcept;

    Status send(int peer, std::span<const std::byte> header,
                std::span<const std::byte> payload) noexcept override;
    void push() noexcept override {}
    Status send_zero_copy(int peer, std::span<const std::byte> header,
                          std::span<const std::byte> payload, Completion& sent) noexcept override;
    bool poll(Receiver& receiver) noexcept override;
    [[nodiscard]] Doorbell* bell_of(int peer) noexcept override;

    static constexpr int own_peer = 0;

private:
    /// Zeroed memory is a page at which nobody sleeps and whose boxes are free: this only names it.
    static ProcessPage* page_in(const Mapping& mapping) noexcept
    {
        return reinterpret_cast<ProcessPage*>(mapping.data());
    }
    struct Peer {
        Mapping mapping;
        ProcessPage* page = nullptr;
        MemoryFileAddress bell;
        std::uint64_t started = 0;
    };

    File file_; ///< stays open: peers may come at any time
    PeerAddress address_;
    Mapping own_;
    FastInbox inbox_;
    std::vector<Peer> peers_;
    std::unordered_map<std::uint64_t, int> numbers_; ///< by identity
};

} // namespace sidelight::fabric
