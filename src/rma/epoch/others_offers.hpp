// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/accumulate/accumulates.hpp"
#include "rma/epoch/barrier.hpp"
#include "rma/epoch/lock_server.hpp"
#include "rma/epoch/offer.hpp"

namespace sidelight::rma {

/// What other processes of the node offer of one window (Offers), and this one performs while it
/// waits for that. See docs/design/offers.md. Guarded by the engine.
class OthersOffers {
public:
    struct Setting {
        Contacts& contacts;
        OwnMemory& memory;
        Accumulates& accumulates;
        Barrier& barrier;
        LockServer& locks;
        bool allowed; ///< any are taken
    };
    explicit OthersOffers(const Setting& setting) noexcept : with_(setting) {}

    /// While it lives what others offer may be performed: a call that waits or tests looks what has
    /// become of its epochs. Others, such as those that do not wait, leave that to who does.
    class Sweep {
    public:
        explicit Sweep(OthersOffers& offers) noexcept : offers_(offers)
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
        OthersOffers& offers_;
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
    /// Who may have offered something: nobody, where nothing is taken now.
    [[nodiscard]] std::span<const std::int32_t> neighbours_if_allowed() const noexcept
    {
        return with_.allowed && bytes_left_ != 0 ? with_.contacts.neighbours()
                                                 : std::span<const std::int32_t>();
    }

    Setting with_;
    std::size_t bytes_left_ = 0; ///< that may be performed now
    bool has_performed_ = false; ///< in the latest sweep
};

} // namespace sidelight::rma
