// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/notices.hpp"

#include <utility>

#include "rma/notice_rules.hpp"

namespace sidelight::rma {

/// A counter comes message by message, in order: its next value is the only right one.
void Notices::serve_grant(Channel& from, const NoticeBody& body) noexcept
{
    std::atomic<std::uint64_t>& granted = from_peer(from).granted;
    if (granted.load(std::memory_order_relaxed) + 1 == body.number) {
        granted.store(body.number, std::memory_order_release);
    }
}

void Notices::serve_done(Channel& from, const DoneBody& body) noexcept
{
    Peer& sender = contacts_.peer(from.rank);
    const std::uint64_t done = from_peer(from).done.load(std::memory_order_relaxed);
    if (body.number != done + sender.accesses_announced + 1) {
        return;
    }
    ++sender.accesses_announced;
    sender.behind = body.zero_copies;
    let_count(from);
}

void Notices::serve_unlock(Channel& from, const UnlockBody& body) noexcept
{
    Peer& sender = contacts_.peer(from.rank);
    const LockType type = lock_type_of(body.type);
    if (body.acknowledge != 0) {
        credit_.owe(from);
    }
    if (sender.places_of(type) != 0) {
        --sender.places_of(type);
        ++sender.leaving_of(type);
        sender.behind = body.zero_copies;
        let_count(from);
    }
}

void Notices::let_count(Channel& from) noexcept
{
    Peer& sender = contacts_.peer(from.rank);
    if (!rules::notice_counts(sender.behind, from.zero_copies_taken.whole())) {
        return;
    }
    if (const std::uint32_t more = std::exchange(sender.accesses_announced, 0); more != 0) {
        std::atomic<std::uint64_t>& done = from_peer(from).done;
        done.store(done.load(std::memory_order_relaxed) + more, std::memory_order_release);
    }
    locks_.leave_announced(sender);
}

} // namespace sidelight::rma
