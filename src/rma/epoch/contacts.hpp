// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/zeroed_table.hpp"
#include "rma/attention.hpp"
#include "rma/channel/channels.hpp"
#include "rma/epoch/peer.hpp"
#include "rma/interest_rules.hpp"
#include "rma/members.hpp"
#include "rma/operation/mapped.hpp"

namespace sidelight::rma {

/// Which members of a window this process knows, and how it reaches each. A member is met at the
/// first contact; until then it costs nothing. Guarded by the engine.
class Contacts {
public:
    struct Setting {
        Members& members;
        std::uint64_t window; ///< its name
        std::uint32_t size;   ///< members
        int rank;             ///< of this process
        bool dynamic;
        std::span<const std::int32_t> neighbours; ///< ranks on this node, this process among them
        fabric::PeerMemory& memory;
        Channels& channels;
        Farewells& farewells;
        Attention& attention;
    };
    Contacts(const Contacts&) = delete;
    Contacts& operator=(const Contacts&) = delete;
    /// Throws std::bad_alloc.
    explicit Contacts(const Setting& setting)
        : with_(setting), targets_(setting.size), peers_(setting.size)
    {}

    /// Answers ok at once where there was a contact.
    [[nodiscard]] Status meet(int rank) noexcept
    {
        return targets_[rank].met ? Status::ok : first_contact(rank);
    }
    /// The same for a member that something is wanted of: lost ones are refused.
    [[nodiscard]] Status reach(int rank) noexcept
    {
        const Status status = meet(rank);
        return status == Status::ok && targets_[rank].lost ? Status::lost : status;
    }
    [[nodiscard]] bool is_rank(int rank) const noexcept
    {
        return static_cast<std::uint32_t>(rank) < with_.size;
    }
    [[nodiscard]] std::uint64_t window() const noexcept { return with_.window; }
    [[nodiscard]] int rank() const noexcept { return with_.rank; }
    [[nodiscard]] std::uint32_t size() const noexcept { return with_.size; }
    [[nodiscard]] std::span<const std::int32_t> neighbours() const noexcept
    {
        return with_.neighbours;
    }
    /// Whether there are members on other nodes.
    [[nodiscard]] bool has_distant() const noexcept { return with_.neighbours.size() < with_.size; }
    [[nodiscard]] const std::vector<std::int32_t>& met() const noexcept { return met_; }

    /// Of one that was met: it is on this node, and notices are words in memory. To and from others
    /// they are messages.
    [[nodiscard]] bool is_near(int rank) const noexcept { return peers_[rank].control != nullptr; }
    [[nodiscard]] bool is_met(int rank) const noexcept { return targets_[rank].met; }

    // Of members that were met; a Target of others says so:
    [[nodiscard]] Target* targets() noexcept { return targets_.data(); }
    [[nodiscard]] Peer* peers() noexcept { return peers_.data(); }
    [[nodiscard]] Target& target(int rank) noexcept { return targets_[rank]; }
    [[nodiscard]] const Target& target(int rank) const noexcept { return targets_[rank]; }
    [[nodiscard]] Peer& peer(int rank) noexcept { return peers_[rank]; }
    [[nodiscard]] const Peer& peer(int rank) const noexcept { return peers_[rank]; }
    /// This member's own block.
    [[nodiscard]] Control& own() const noexcept { return *peers_[with_.rank].control; }
    /// In the block of a member that was met and is near, what such another one offers there.
    [[nodiscard]] OfferWord& offered(int place, int origin) noexcept
    {
        return peers_[place].control->offers(with_.size, peers_[origin].here);
    }
    [[nodiscard]] Channel& channel(int rank) noexcept
    {
        return with_.channels.open(rank, targets_[rank].peer);
    }

    /// All memory of a neighbour's process, as far as the system lets this one read it; offsets are
    /// addresses there. Null: it does not. Not for fast paths.
    [[nodiscard]] fabric::RemoteMemory* process_memory(int rank) noexcept
    {
        return with_.members.process_memory(rank);
    }
    /// A neighbour's process is looked at; where it has ended the member is lost. Answers whether
    /// it has. May be slow.
    bool lose_if_ended(int rank) noexcept
    {
        const bool ended = with_.members.has_ended(rank);
        if (ended) {
            lose(rank);
        }
        return ended;
    }

    /// Tells a neighbour that so many exposures are open for it. Pairs with the acquire in
    /// `SettledEpochs::start` and `access_granted` there.
    void publish_grant(int rank, std::uint64_t exposures) noexcept;
    /// Tells a neighbour that so many accesses to it are finished: orders every transfer of these
    /// before it. Pairs with the acquire in `SettledEpochs::wait` and `exposure_over` there.
    void publish_done(int rank, std::uint64_t accesses) noexcept;
    /// Wakes the member, or calls it, after an atomic instruction on a word that it waits for.
    void wake(int rank, const Event& event = {}) noexcept;
    /// Wakes the others on this node, or calls them.
    void wake_neighbours(const Event& event) noexcept;

    /// Notes that the member is lost, be it met or not; the next sweep gives up what waits for it.
    /// Nothing waits for it anew.
    void lose(int rank) noexcept;
    /// Whether a member is lost.
    [[nodiscard]] bool broken() const noexcept { return broken_; }
    /// Takes one that is to be given up; -1: there is none.
    [[nodiscard]] int take_lost() noexcept;

    /// Memory of its tables that was touched. Not for fast paths.
    [[nodiscard]] std::size_t memory_bytes() const;
    /// Looks at no region of a member directly any more, until it is opened anew.
    void close_regions() noexcept;

private:
    /// Writes a notice of this member's in the member's block, and wakes it, or calls it.
    void publish(int rank, std::atomic<std::uint64_t>& notice, std::uint64_t value,
                 const Event& event) noexcept;
    Status first_contact(int rank) noexcept;
    void know_regions(Target& target, Control& control) noexcept;

    Setting with_;
    ZeroedTable<Target> targets_;
    ZeroedTable<Peer> peers_;
    std::vector<std::int32_t> met_;
    std::vector<std::unique_ptr<MappedRegions>> regions_;
    bool broken_ = false;
    int first_lost_ = 0; ///< the first member to give up, by rank + 1
};

/// What a notice of this member's is to the member that it is for.
[[nodiscard]] inline Event notice_event(const Contacts& contacts, rules::EventClass kind,
                                        std::uint64_t number) noexcept
{
    return rules::event_of(kind, contacts.window(), contacts.rank(), number);
}

} // namespace sidelight::rma
