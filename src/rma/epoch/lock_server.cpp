// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/lock_server.hpp"

#include <utility>

#include "base/log.hpp"
#include "rma/interest_rules.hpp"

namespace sidelight::rma {

/// Without memory for the place the lock can neither wait nor be refused: each is lost to the
/// other, so that the sender's lock fails, and what it holds here is given back.
void LockServer::serve_lock(Channel& from, const LockBody& body) noexcept
{
    LockWaiter* waiter = pool_.take();
    if (waiter == nullptr) {
        log(LogLevel::error, "out of memory for a lock that rank %d asks for: it is refused",
            from.rank);
        channels_.send(from, MessageKind::lost, LostBody{.rank = contacts_.rank()});
        contacts_.lose(from.rank);
        return;
    }
    const LockType type = lock_type_of(body.type);
    *waiter = {.origin = from.rank, .type = type, .place = own().arrive(type)};
    waiting_.push(waiter);
    attention_.set(Reason::waiting_for_lock, true);
}

void LockServer::take_grant(Channel& from, const NoticeBody& body) noexcept
{
    Peer& sender = contacts_.peer(from.rank);
    if (sender.lock_grants + 1 == body.number && body.number <= sender.lock_requests) {
        sender.lock_grants = body.number;
    }
}

void LockServer::leave_announced(Peer& sender) noexcept
{
    for (const LockType type : {LockType::shared, LockType::exclusive}) {
        for (std::uint32_t& leaving = sender.leaving_of(type); leaving != 0; --leaving) {
            leave(contacts_.rank(), contacts_.own(), type);
        }
    }
}

void LockServer::leave_all(int rank) noexcept
{
    Peer& peer = contacts_.peer(rank);
    for (const LockType type : {LockType::shared, LockType::exclusive}) {
        peer.places_of(type) += std::exchange(peer.leaving_of(type), 0);
        for (; peer.places_of(type) != 0; --peer.places_of(type)) {
            own().depart(type);
        }
    }
    pass_on(contacts_.rank(), contacts_.own());
}

/// Of those who compute it calls the ones alone who are admitted now.
void LockServer::tell_neighbours(int rank, const Control& control) noexcept
{
    contacts_.wake_neighbours(rules::event_of(rules::EventClass::place, contacts_.window(), rank,
                                              control.lock.departures()));
}

/// Somebody may be admitted who was not: one on this node looks by itself.
void LockServer::pass_on(int rank, const Control& control) noexcept
{
    tell_neighbours(rank, control);
    grant_waiting();
}

bool LockServer::owes_grants() const noexcept
{
    for (const LockWaiter* waiter = waiting_.front(); waiter != nullptr; waiter = waiter->next) {
        if (own().admits(waiter->type, waiter->place)) {
            return true;
        }
    }
    return false;
}

/// Answers whether the place was left at once, its owner being lost.
bool LockServer::admit(const LockWaiter& waiter) noexcept
{
    if (contacts_.target(waiter.origin).lost) {
        own().depart(waiter.type);
        return true;
    }
    Peer& owner = contacts_.peer(waiter.origin);
    ++owner.places_of(waiter.type);
    channels_.send(contacts_.channel(waiter.origin), MessageKind::lock_grant,
                   NoticeBody{.number = ++owner.admitted});
    return false;
}

/// In the order of their places: behind one that is not admitted nobody is.
bool LockServer::grant_waiting() noexcept
{
    bool granted = false;
    bool left = false;
    while (!waiting_.empty() && own().admits(waiting_.front()->type, waiting_.front()->place)) {
        LockWaiter* waiter = waiting_.pop();
        left |= admit(*waiter); // then the next one may be
        pool_.give_back(waiter);
        granted = true;
    }
    if (left) {
        tell_neighbours(contacts_.rank(), contacts_.own());
    }
    attention_.set(Reason::waiting_for_lock, !waiting_.empty());
    return granted;
}

} // namespace sidelight::rma
