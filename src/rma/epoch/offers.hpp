// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "base/pool.hpp"
#include "rma/accumulate/accumulates.hpp"
#include "rma/epoch/contacts.hpp"
#include "rma/offer_rules.hpp"
#include "rma/operation/kept_data.hpp"

namespace sidelight::rma {

/// Bytes of the origin and of the target's memory, and what becomes of them.
struct OfferedPiece {
    std::uint64_t origin = 0; ///< an address there
    std::uint64_t target = 0; ///< an offset in the window
    std::uint64_t bytes = 0;
    OperationKind kind = OperationKind::put; ///< put, get, or accumulate without a result
    ReduceOp reduce = ReduceOp::no_op;       ///< accumulate
    datatype::Basic basic = datatype::Basic::none;
};

/// All that an access has recorded for one target. In the origin's own memory, where the target
/// reads it by the kernel, and unchanged while anybody may.
struct Offer {
    static constexpr std::size_t most_pieces = 16;
    /// Bytes that it accumulates in all: its target has them all before it changes anything.
    static constexpr std::size_t most_operands = std::size_t{4} << 20;
    /// In all: so long the target's other threads wait for the engine.
    static constexpr std::size_t most_bytes = std::size_t{32} << 20;

    std::uint64_t window = 0;
    std::uint64_t number = 0; ///< of the access
    std::int32_t origin = 0;
    std::uint32_t count = 0; ///< of pieces
    std::array<OfferedPiece, most_pieces> pieces{};
    Offer* next = nullptr;
};

/// Offers of one window: what an origin that computes has recorded for a target on its node, which
/// performs it while it waits for that. See docs/design/offers.md. Guarded by the engine.
class Offers {
public:
    /// What an origin may do with an access that it has offered.
    enum class Mine : std::uint8_t {
        to_perform, ///< all of it, itself
        performed,  ///< nothing more: it is complete at the target
        elsewhere,  ///< nothing yet: the target is at it
    };

    struct Setting {
        Contacts& contacts;
        OwnMemory& memory;
        Accumulates& accumulates;
        AccumulateTarget own;    ///< this member, as accumulates see it
        const KeepingRoom& room; ///< says who finishes what is recorded
        Pool<Offer>& pool;
        bool dynamic;
    };
    explicit Offers(const Setting& setting) noexcept : with_(setting) {}

    /// Whether any are made, and taken: from before the first epoch on. `calls`: what happens in
    /// the window calls the process for what is recorded.
    void allow(bool allowed, bool calls) noexcept
    {
        allowed_ = allowed;
        calls_ = calls;
    }

    /// The origin: whether its targets, when they wait, would perform all that is left of a closed
    /// access without a further call of this process.
    [[nodiscard]] bool would_finish(const Epoch& epoch) noexcept;
    /// The origin: offers a closed access that is not granted, if that may be; `returns`: its
    /// closing call does not wait for it. Answers whether it has: then the grant has to be looked
    /// at once more.
    bool make(PeerEpoch& peer, bool returns) noexcept;
    [[nodiscard]] bool is_made(const PeerEpoch& peer) const noexcept;
    /// The origin: takes it back, unless the target was first. One that was never offered is to be
    /// performed.
    [[nodiscard]] Mine take_back(const PeerEpoch& peer) noexcept;

    /// The target, which waits for the end of an exposure to that origin: performs what it has
    /// offered, if that is the next access and its exposure is open. Answers whether it has.
    bool perform(int origin, std::uint64_t exposure) noexcept;

private:
    /// As far as the target and the number of its accesses are concerned.
    [[nodiscard]] bool may_make(const PeerEpoch& peer) noexcept;
    [[nodiscard]] bool write(Offer& offer, const PeerEpoch& peer) noexcept;
    [[nodiscard]] bool perform(std::uint64_t at, std::uint64_t number, int origin,
                               fabric::RemoteMemory& memory) noexcept;
    [[nodiscard]] bool carry_out(const Offer& offer, fabric::RemoteMemory& memory) noexcept;
    void combine(const Offer& offer, std::byte* operands) noexcept;
    void end(const PeerEpoch& peer) noexcept;
    /// In the block of a neighbour, what another one offers it.
    [[nodiscard]] OfferWord& offered(int target, int origin) noexcept
    {
        return with_.contacts.peer(target).control->offers(with_.contacts.size(),
                                                           with_.contacts.peer(origin).here);
    }

    Setting with_;
    bool allowed_ = true;
    bool calls_ = true;
    unsigned looks_ = 0; ///< at accesses that their targets are performing
};

} // namespace sidelight::rma
