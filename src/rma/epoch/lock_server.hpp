// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/contacts.hpp"

namespace sidelight::rma {

/// A remote origin that has a place in this member's lock queue and is not admitted yet.
struct LockWaiter {
    int origin = 0;
    LockType type = LockType::shared;
    LockPlace place{};
    LockWaiter* next = nullptr;
};

/// The lock queue of this member, for those that cannot reach it: members on other nodes, for which
/// it takes places, waits and leaves. See docs/design/locks.md. Guarded by the engine.
class LockServer {
public:
    LockServer(Contacts& contacts, Channels& channels, Attention& attention,
               Pool<LockWaiter>& pool) noexcept
        : contacts_(contacts), channels_(channels), attention_(attention), pool_(pool)
    {}

    /// Takes a place for the sender.
    void serve_lock(Channel& from, const LockBody& body) noexcept;
    /// A place of the sender's was admitted at the member that it is.
    void take_grant(Channel& from, const NoticeBody& body) noexcept;
    /// The sender leaves places, all that its notices say.
    void leave_announced(Peer& sender) noexcept;
    /// Leaves all places of a member that is lost, so that others get in; those that are not
    /// admitted yet are left when they are.
    void leave_all(int rank) noexcept;

    /// This process leaves a place in the queue of a member on its node, itself included.
    void leave(int rank, Control& control, LockType type) noexcept
    {
        if (rules::lets_others_in(control.lock.depart(type))) [[unlikely]] {
            pass_on(rank, control);
        }
    }

    /// After a place was left in that member's queue and others hold one.
    void pass_on(int rank, const Control& control) noexcept;

    /// Tells those who are admitted. Answers whether there were any.
    bool grant_waiting() noexcept;
    [[nodiscard]] bool anybody_waits() const noexcept { return !waiting_.empty(); }
    /// Whether somebody is admitted and was not told. For checks.
    [[nodiscard]] bool owes_grants() const noexcept;

private:
    bool admit(const LockWaiter& waiter) noexcept;
    void tell_neighbours(int rank, const Control& control) noexcept;
    [[nodiscard]] LockQueue& own() const noexcept { return contacts_.own().lock; }

    Contacts& contacts_;
    Channels& channels_;
    Attention& attention_;
    Pool<LockWaiter>& pool_;
    Fifo<LockWaiter> waiting_; ///< in the order of their places
};

[[nodiscard]] inline LockType lock_type_of(std::uint8_t type) noexcept
{
    return type == static_cast<std::uint8_t>(LockType::shared) ? LockType::shared
                                                               : LockType::exclusive;
}

} // namespace sidelight::rma
