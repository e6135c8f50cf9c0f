// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/pool.hpp"
#include "rma/accumulate/accumulates.hpp"
#include "rma/epoch/barrier.hpp"
#include "rma/epoch/lock_server.hpp"
#include "rma/offer_rules.hpp"
#include "rma/operation/kept_data.hpp"

namespace sidelight::rma {

/// Bytes of the origin and of a target's memory, and what becomes of them.
struct OfferedPiece {
    std::uint64_t origin = 0; ///< an address there
    std::uint64_t target = 0; ///< an offset in its memory
    std::uint64_t bytes = 0;
    std::int32_t rank = 0;                   ///< of the target
    OperationKind kind = OperationKind::put; ///< put, get, or accumulate without a result
    ReduceOp reduce = ReduceOp::no_op;       ///< accumulate
    datatype::Basic basic = datatype::Basic::none;
};

/// All that is recorded in an offered part of an epoch. In the origin's own memory, where others
/// read it by the kernel, and unchanged while anybody may.
struct Offer {
    static constexpr std::size_t most_pieces = 16;
    /// Bytes that it accumulates in all: who performs it has them all before it changes anything.
    static constexpr std::size_t most_operands = std::size_t{4} << 20;
    /// In all, and of all that are performed in one sweep but the last: so long the other threads
    /// of who performs it wait for the engine.
    static constexpr std::size_t most_bytes = std::size_t{32} << 20;

    std::uint64_t window = 0;
    std::uint64_t word = 0; ///< as it is offered
    std::int32_t origin = 0;
    std::uint32_t count = 0; ///< of pieces
    std::array<OfferedPiece, most_pieces> pieces{};
    unsigned looks = 0; ///< of its origin, while another process performs it
    Offer* next = nullptr;
};

/// Offers of one window: what an origin that computes has recorded, and another process of its node
/// performs while it waits for that. An access is its target's to perform, a fence epoch and a lock
/// anybody's who waits behind it. See docs/design/offers.md. Guarded by the engine.
class Offers {
public:
    /// What an origin may do with what it has offered.
    enum class Mine : std::uint8_t {
        to_perform, ///< all of it, itself
        performed,  ///< nothing more: it is complete at the targets
        elsewhere,  ///< nothing yet: another process is at it
        lost,       ///< nothing: that process has ended
    };

    struct Setting {
        Contacts& contacts;
        OwnMemory& memory;
        Accumulates& accumulates;
        Barrier& barrier;
        LockServer& locks;
        const KeepingRoom& room; ///< says who finishes what is recorded
        Pool<Offer>& pool;
        bool dynamic;
        bool allowed;          ///< any are made, and taken
        bool calls_for_events; ///< what happens here calls the process for what is recorded
    };
    explicit Offers(const Setting& setting) noexcept : with_(setting) {}

    /// The origin: whether its targets, when they wait, would perform all that is left of a closed
    /// access without a further call of this process.
    [[nodiscard]] bool would_finish(const Epoch& epoch) noexcept;
    /// The origin: offers what a closed epoch that is not granted has recorded, if that may be;
    /// `returns`: its closing call does not wait for it. Answers whether it has: then the grant has
    /// to be looked at once more.
    bool make(const Epoch& epoch, PeerEpoch& peer, bool returns) noexcept;
    [[nodiscard]] bool is_made(const Epoch& epoch, const PeerEpoch& peer) const noexcept;
    /// Whether another process has performed it: it may not be granted any more.
    [[nodiscard]] bool is_performed(const Epoch& epoch, const PeerEpoch& peer) noexcept;
    /// The origin: takes it back, unless somebody was first. What was never offered is to be
    /// performed.
    [[nodiscard]] Mine take_back(const Epoch& epoch, const PeerEpoch& peer) noexcept;

    /// While it lives what others offer may be performed: a call that waits or tests looks what has
    /// become of its epochs. Others, such as those that do not wait, leave that to who does.
    class Sweep {
    public:
        explicit Sweep(Offers& offers) noexcept : offers_(offers)
        {
            offers_.bytes_left_ = Offer::most_bytes;
            offers_.has_performed_ = false;
        }
        ~Sweep() { offers_.bytes_left_ = 0; }
        Sweep(const Sweep&) = delete;
        Sweep& operator=(const Sweep&) = delete;
        /// Whether any were, and the next sweep may find more.
        [[nodiscard]] bool has_performed() const noexcept { return offers_.has_performed_; }

    private:
        Offers& offers_;
    };

    // Who waits performs what others have offered, and does what they would do next. Each answers
    // whether it has.
    /// Waits for the end of an exposure to that origin: its next access, if that exposure is open.
    bool perform_access(int origin, std::uint64_t exposure) noexcept;
    /// Has arrived at that barrier: the fence epochs that end with it. Arrives for their origins.
    bool perform_fences(std::uint64_t barrier) noexcept;
    /// Waits in the lock queue of that member, a neighbour, or has others wait in its own: locks
    /// that are held. Leaves their places.
    bool perform_locks(int target) noexcept;

private:
    /// As far as the part, its number and its target are concerned.
    [[nodiscard]] bool may_make(const Epoch& epoch, const PeerEpoch& peer) noexcept;
    /// The member in whose block the word is.
    [[nodiscard]] int place_of(const Epoch& epoch, const PeerEpoch& peer) const noexcept
    {
        return epoch.kind == EpochKind::fence ? with_.contacts.rank() : peer.rank;
    }
    [[nodiscard]] bool write(Offer& offer, const Epoch& epoch, const PeerEpoch& peer) noexcept;
    /// Whether it was. `may`: of its word.
    template <class May>
    bool take(int place, int origin, May may) noexcept;
    [[nodiscard]] bool announce(int place, int origin, std::uint64_t taken,
                                std::uint64_t word) noexcept;
    void follow(int place, std::uint64_t word) noexcept;
    [[nodiscard]] bool perform(std::uint64_t at, std::uint64_t word, int origin,
                               fabric::RemoteMemory& memory) noexcept;
    [[nodiscard]] Event event_of(int place, std::uint64_t word) const noexcept;
    [[nodiscard]] bool carry_out(const Offer& offer, fabric::RemoteMemory& memory) noexcept;
    void combine(const Offer& offer, std::byte* operands) noexcept;
    [[nodiscard]] std::byte* memory_of(const OfferedPiece& piece) noexcept;
    void end(int place) noexcept;
    /// Who may have offered something: nobody, where nothing is taken now.
    [[nodiscard]] std::span<const std::int32_t> neighbours_if_allowed() const noexcept
    {
        return with_.allowed && bytes_left_ != 0 ? with_.contacts.neighbours()
                                                 : std::span<const std::int32_t>();
    }
    /// In the block of a neighbour, what another one offers there.
    [[nodiscard]] OfferWord& offered(int place, int origin) noexcept
    {
        return with_.contacts.peer(place).control->offers(with_.contacts.size(),
                                                          with_.contacts.peer(origin).here);
    }

    Setting with_;
    std::size_t bytes_left_ = 0; ///< that may be performed now
    bool has_performed_ = false; ///< in the latest sweep
};

} // namespace sidelight::rma
