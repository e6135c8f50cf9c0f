// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/credit.hpp"
#include "rma/epoch/lock_server.hpp"

namespace sidelight::rma {

/// The notices of members that cannot write them into this member's block themselves: messages say
/// what they would write. Notices may overtake zero-copy puts, and count when those that were sent
/// before them are in memory. Guarded by the engine.
class Notices {
public:
    Notices(Contacts& contacts, LockServer& locks, Credit& credit) noexcept
        : contacts_(contacts), locks_(locks), credit_(credit)
    {}

    /// The sender has opened one more exposure for this member.
    void serve_grant(Channel& from, const NoticeBody& body) noexcept;
    /// The sender is done with its next access.
    void serve_done(Channel& from, const DoneBody& body) noexcept;
    /// The sender leaves a place in this member's lock queue, if it has been told of one.
    void serve_unlock(Channel& from, const UnlockBody& body) noexcept;

    /// The notices that came from that member so far count, if nothing that was sent before the
    /// latest of them is still missing. Earlier ones wait for that, too: what they miss comes by
    /// itself.
    void let_count(Channel& from) noexcept;

private:
    [[nodiscard]] PeerNotices& from_peer(const Channel& from) noexcept
    {
        return contacts_.own().notices(from.rank);
    }

    Contacts& contacts_;
    LockServer& locks_;
    Credit& credit_;
};

} // namespace sidelight::rma
