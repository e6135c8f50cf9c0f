// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "rma/process.hpp"
#include "rma/window.hpp"

/// What an active epoch does towards one peer: ask or grant, transfer when granted, tell when done.
namespace sidelight::rma {

void Window::enter_part(Epoch& epoch, Part& part) noexcept
{
    switch (epoch.kind) {
    case EpochKind::fence:
        barrier_.arrive(epoch.barrier_in);
        break;
    case EpochKind::access:
        part.number = ++target_of(part).accesses;
        greet(part.rank);
        break;
    case EpochKind::exposure:
        part.number = ++target_of(part).exposures;
        grant_exposure(part);
        break;
    case EpochKind::lock:
        if (!epoch.no_check) {
            take_place(epoch, part);
        }
        break;
    case EpochKind::lock_all:
        ask_in_order(epoch);
        break;
    }
}

/// Whoever waits for a member without a message to it would never hear that it is lost.
void Window::greet(int rank) noexcept
{
    const Target& target = targets_[rank];
    if (target.control == nullptr && !target.greeted) {
        MessageHeader header;
        header.kind = MessageKind::greeting;
        send(rank, header);
    }
}

/// The locks of a lock_all epoch are taken in rank order, as if each were a call of its own.
void Window::ask_in_order(Epoch& epoch) noexcept
{
    while (!epoch.no_check && epoch.parts_asked < epoch.parts.size() &&
           rules::may_ask_for_lock(epoch.parts_asked - epoch.parts_granted, epoch.reorder)) {
        take_place(epoch, epoch.parts[epoch.parts_asked++]);
    }
}

/// Tells the origin that one more exposure is open for it. The word persists until it catches up.
void Window::grant_exposure(const Part& part) noexcept
{
    const Target& origin = target_of(part);
    if (origin.control != nullptr) {
        // Pairs with the acquire in `is_granted` at the origin.
        publish(origin, origin.control->words(rank_).granted, part.number);
        return;
    }
    MessageHeader header;
    header.kind = MessageKind::grant;
    header.number = part.number;
    send(part.rank, header);
}

/// Asks for the lock at once, whatever the epoch will do (P1: no lazy locks).
void Window::take_place(Epoch& epoch, Part& part) noexcept
{
    const Target& target = target_of(part);
    if (target.lost) {
        return; // granted without a place
    }
    if (target.control != nullptr) {
        part.place = target.control->lock.arrive(epoch.lock_type);
        return;
    }
    part.number = ++targets_[part.rank].lock_requests;
    MessageHeader header;
    header.kind = MessageKind::lock;
    header.flag = static_cast<std::uint8_t>(epoch.lock_type);
    send(part.rank, header);
}

bool Window::is_granted(Epoch& epoch, const Part& part) noexcept
{
    switch (epoch.kind) {
    case EpochKind::fence:
        return barrier_.passed(epoch.barrier_in) || broken_;
    case EpochKind::access:
        return epoch.no_check || target_of(part).lost ||
               rules::access_granted(
                   part.number, own().words(part.rank).granted.load(std::memory_order_acquire));
    case EpochKind::exposure:
        return true;
    default:
        break;
    }
    if (epoch.no_check) {
        return true;
    }
    const Target& target = target_of(part);
    const bool asked =
        epoch.kind == EpochKind::lock || &part < epoch.parts.data() + epoch.parts_asked;
    if (!asked || target.lost) {
        return asked;
    }
    return target.control != nullptr ? target.control->lock.admits(epoch.lock_type, part.place)
                                     : part.number <= target.lock_grants;
}

bool Window::poll_grant(Epoch& epoch, Part& part) noexcept
{
    if (!is_granted(epoch, part)) {
        return false;
    }
    part.granted = true;
    ++epoch.parts_granted;
    const bool usable = note_loss(epoch, part);
    if (epoch.kind == EpochKind::lock_all) {
        ask_in_order(epoch);
    }
    replay(part);
    if (epoch.open() && usable) {
        set_direct(epoch, part, true);
    }
    if (epoch.parts_granted == epoch.parts.size()) {
        ungranted_locks_ -= epoch.passive() ? 1 : 0;
        conclude(std::exchange(epoch.opening, nullptr), epoch.failure);
    }
    return true;
}

/// Whether the grant is one. The epoch ends with the error if it is not.
bool Window::note_loss(Epoch& epoch, const Part& part) noexcept
{
    const bool is_lost = epoch.kind == EpochKind::fence
                             ? broken_ && !barrier_.passed(epoch.barrier_in)
                             : target_of(part).lost && epoch.kind != EpochKind::exposure;
    if (is_lost) {
        epoch.failure = Status::lost;
    }
    return !is_lost;
}

/// Performs what was recorded while the grant was missing, in order of issue.
void Window::replay(Part& part) noexcept
{
    while (!part.recorded.empty()) {
        execute(*part.recorded.pop());
    }
}

void Window::set_direct(const Epoch& epoch, const Part& part, bool direct) noexcept
{
    if (epoch.kind == EpochKind::fence) {
        direct_all_.store(direct, std::memory_order_release);
    } else if (epoch.kind != EpochKind::exposure) {
        const bool flushable = direct && rules::may_flush_unseen(epoch.passive(), part.outstanding,
                                                                 part.failure != Status::ok);
        open_target(target_of(part), direct, flushable);
    }
}

/// Ends a closed epoch's part where its conditions hold.
bool Window::finish_part(Epoch& epoch, Part& part) noexcept
{
    bool done = false;
    switch (epoch.kind) {
    case EpochKind::fence:
        done = finish_fence(epoch, part);
        break;
    case EpochKind::access:
        done = finish_access(part);
        break;
    case EpochKind::exposure:
        done = exposure_over(part) || target_of(part).lost;
        break;
    case EpochKind::lock:
    case EpochKind::lock_all:
        done = finish_lock(epoch, part);
        break;
    }
    if (done && epoch.kind != EpochKind::fence && target_of(part).lost &&
        !(epoch.kind == EpochKind::exposure && exposure_over(part))) {
        epoch.failure = Status::lost;
    }
    part.done = done;
    epoch.parts_done += done ? 1 : 0;
    return done;
}

bool Window::exposure_over(const Part& part) noexcept
{
    // Pairs with the release in `announce_access` at the origin.
    return rules::exposure_done(part.number,
                                own().words(part.rank).done.load(std::memory_order_acquire));
}

/// Done when the buffers are free: what is on its way is the target's concern. Only in a dynamic
/// window does the target say whether there is memory, and the closing call tells that.
bool Window::finish_access(Part& part) noexcept
{
    if (!part.announced && !announce_access(part)) {
        return false;
    }
    if (flavor_ != Flavor::dynamic) {
        return part.local == 0;
    }
    ask_all();
    return part.outstanding == 0;
}

/// Tells the target as soon as its own part is done, grant or no grant where nothing was issued.
/// The word counts, so accesses to one target are announced in order.
bool Window::announce_access(Part& part) noexcept
{
    Target& target = target_of(part);
    if (part.held != 0) {
        ask_all();
    }
    if (part.held != 0 || target.done + 1 != part.number) {
        return false;
    }
    part.announced = true;
    target.done = part.number;
    if (target.control != nullptr) {
        // Orders every transfer of the epoch before it; pairs with the acquire in `exposure_over`.
        publish(target, target.control->words(rank_).done, part.number);
    } else {
        MessageHeader header;
        header.kind = MessageKind::done;
        header.number = part.number;
        header.round = target.longs_sent;
        send(part.rank, header);
    }
    return true;
}

bool Window::finish_fence(Epoch& epoch, const Part& part) noexcept
{
    if (part.outstanding != 0) {
        ask_all();
    }
    if (!part.granted || part.outstanding != 0 || placing_ != 0 ||
        (epoch.last && !rules::memory_is_free(lent_))) {
        return false;
    }
    if (epoch.barrier_out == 0) {
        return true;
    }
    barrier_.arrive(epoch.barrier_out);
    const bool passed = barrier_.passed(epoch.barrier_out);
    if (!passed && broken_) {
        epoch.failure = Status::lost;
    }
    return passed || broken_;
}

/// Done when the operations are complete at the target, which also the answer to the unlock says.
bool Window::finish_lock(const Epoch& epoch, Part& part) noexcept
{
    if (!part.granted || (!part.announced && !announce_unlock(epoch, part))) {
        return false;
    }
    if (part.outstanding != 0) {
        ask_all();
    }
    return part.outstanding == 0;
}

/// Gives the lock back, behind the operations.
bool Window::announce_unlock(const Epoch& epoch, Part& part) noexcept
{
    if (part.held != 0) {
        ask_all();
        return false;
    }
    part.announced = true;
    Target& target = target_of(part);
    if (epoch.no_check) {
        order_direct();
    } else if (target.lost) {
        return true;
    } else if (target.control != nullptr) {
        leave_lock(*target.control, epoch.lock_type);
    } else {
        MessageHeader header;
        header.kind = MessageKind::unlock;
        header.flag = static_cast<std::uint8_t>(epoch.lock_type);
        header.round = target.longs_sent;
        header.number = target.pieces_asked != target.pieces_sent ? 1 : 0;
        target.pieces_asked = target.pieces_sent;
        send(part.rank, header);
    }
    return true;
}

void Window::leave_lock(Control& control, LockType type) noexcept
{
    if (control.lock.depart(type)) {
        wake_members();
        grant_waiting();
    }
}

} // namespace sidelight::rma
