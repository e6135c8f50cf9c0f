// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rma/kinds.hpp"

/// The rules of the protocol, each a pure function of what it is given. Everything else in `rma` is
/// bookkeeping around them. The tests of the tests build the engine with one of them made wrong.
/// What a member may be told, and when: notice_rules.hpp.
namespace sidelight::rma::rules {

/// An access epoch numbered `access` towards a target may transfer when the target has granted that
/// many (P1, section VII.B). Both count from 1, per pair of processes.
constexpr bool access_granted(std::uint64_t access, std::uint64_t granted) noexcept
{
    return access <= granted;
}

/// The exposure numbered `exposure` towards an origin is over when the origin is done with that
/// many.
constexpr bool exposure_done(std::uint64_t exposure, std::uint64_t done) noexcept
{
    return exposure <= done;
}

/// Places in a lock queue are sums: an exclusive place adds `exclusive_place`, a shared one
/// `shared_place`. A carry out of the low half is harmless: arrivals and departures carry alike.
inline constexpr std::uint64_t exclusive_place = 1;
inline constexpr std::uint64_t shared_place = std::uint64_t{1} << 32;

constexpr std::uint64_t place(LockType type) noexcept
{
    return type == LockType::exclusive ? exclusive_place : shared_place;
}

/// Whether the holder of a place may enter. `ahead` is the sum of the places taken before it,
/// `departed` the sum of those that have left. Exclusive: all ahead have left. Shared: all
/// exclusive ones ahead have left. First come, first served; readers next to each other share.
constexpr bool lock_admits(LockType type, std::uint64_t ahead, std::uint64_t departed) noexcept
{
    return type == LockType::exclusive
               ? departed == ahead
               : static_cast<std::uint32_t>(departed) == static_cast<std::uint32_t>(ahead);
}

/// Whether a lock takes a place. Shared ones never wait for one another: where the program has
/// given its word that nobody asks for an exclusive one, they need none. Likewise where it answers
/// for this very lock (MPI_MODE_NOCHECK).
constexpr bool takes_place(LockType type, bool no_check, bool no_exclusive_locks) noexcept
{
    return !no_check && (type == LockType::exclusive || !no_exclusive_locks);
}

/// Whether who leaves a place lets others in: those on other nodes hear of it by no other way until
/// this member sweeps, which it need not do while its program computes.
constexpr bool lets_others_in(bool others_have_places) noexcept { return others_have_places; }

/// A flush stamped `stamp` waits for the operations issued before it, not for those after it
/// (P1, section VII.C).
constexpr bool flush_waits_for(std::uint64_t age, std::uint64_t stamp) noexcept
{
    return age <= stamp;
}

/// Whether a flush waits for operations of a thread: one of the process for all, one of a thread
/// for its own (P2, section 2.1), and for those that may be: their thread has no number.
constexpr bool flush_includes(ThreadNumber flushing, ThreadNumber issuing) noexcept
{
    return flushing == no_thread || issuing == no_thread || flushing == issuing;
}

/// Whether an operation may be complete with one that was issued before it, so that it needs no
/// record of its own: the end of an epoch, and a flush, wait for what was issued before them, and
/// for no more.
constexpr bool may_join(bool same_epoch, bool flush_waits) noexcept
{
    return same_epoch && !flush_waits;
}

/// Whether the request of an operation completes: with the origin's side, or when the target has
/// performed it, too (P2, section 5).
constexpr bool request_completes(FlushScope scope, bool is_local, bool is_complete) noexcept
{
    return scope == FlushScope::local ? is_local : is_complete;
}

/// Whether operations may reach a target directly while so many are under way there. Where all go
/// by one route the direct path is open to all of them or to none; where there are several, those
/// that travel must be waited for by flushes, and must not be overtaken by accumulates.
constexpr bool may_go_beside(bool several_routes, std::uint64_t outstanding) noexcept
{
    return !several_routes || outstanding == 0;
}

/// Whether a flush of a target that is reached directly may pass without a look at its epoch: every
/// operation since the last one was complete when it was issued, so none of them can have failed
/// later. An access epoch has no flushes.
constexpr bool may_flush_unseen(bool is_passive, bool any_other) noexcept
{
    return is_passive && !any_other;
}

/// Whether an operation whose order counts may be performed at once. Those that were issued before
/// and are still on their way there would be overtaken (MPI-4.1, 12.7.2).
constexpr bool may_combine_at_once(std::uint32_t in_order) noexcept { return in_order == 0; }

/// Whether an ordered operation may start on the road `later` while one that was issued before it
/// is under way on the road `earlier`: it must not take effect first (P2, section 2.2). Messages
/// are performed as they come; behind a long put they wait for it at the target, and behind a put
/// of the fabric's another one waits at a fence. What is about to leave by messages is the first of
/// those that wait.
constexpr bool may_follow(Road later, Road earlier) noexcept
{
    switch (earlier) {
    case Road::waiting:
        return later == Road::messages || later == Road::long_put || later == Road::long_get ||
               later == Road::active;
    case Road::messages:
        return later == Road::messages || later == Road::long_put || later == Road::long_get;
    case Road::long_put:
        return later == Road::messages || later == Road::long_get;
    case Road::native_put:
        return later == Road::native_put;
    default:
        return false;
    }
}

/// Whether the target must be told that what comes now is to be performed behind zero-copy puts
/// that were sent before.
constexpr bool is_behind_long_puts(std::uint32_t long_puts) noexcept { return long_puts != 0; }

/// Whether an operation is the first since the program last waited for others, or said that it
/// will: until it waits again nobody knows whether it does so for this one or for many.
constexpr bool is_first_since_wait(std::uint64_t age, std::uint64_t waited_for) noexcept
{
    return age == waited_for + 1;
}

/// Barrier number `barrier` of a window with `members` is passed when all of them have arrived:
/// nobody arrives at the next one before it has passed this one, so one sum serves them all.
constexpr bool barrier_passed(std::uint64_t barrier, std::uint64_t members,
                              std::uint64_t arrived) noexcept
{
    return arrived >= barrier * members;
}

/// Whether an epoch may be active while one of class `earlier`, closed before it was opened, is
/// still active (P1, section VI.B). Fence and lock_all epochs never overlap with a neighbour.
constexpr bool may_overlap(EpochClass earlier, EpochClass later, const Reorder& reorder) noexcept
{
    if (earlier == EpochClass::exclusive || later == EpochClass::exclusive) {
        return false;
    }
    if (later == EpochClass::access) {
        return earlier == EpochClass::access ? reorder.access_after_access
                                             : reorder.access_after_exposure;
    }
    return earlier == EpochClass::exposure ? reorder.exposure_after_exposure
                                           : reorder.exposure_after_access;
}

/// Whether a lock may be asked for while one that was asked for before, in an epoch that is still
/// pending, has not been granted. Locks are taken in the order of the calls, so that processes that
/// all lock in one order never wait for one another in a circle.
constexpr bool may_ask_for_lock(std::uint64_t ungranted_locks, const Reorder& reorder) noexcept
{
    return ungranted_locks == 0 || reorder.access_after_access;
}

/// Whether an epoch may be activated though locks that were opened before it, and nothing else, are
/// deferred. Locks wait for one another also where they are still open, and an exposure, which may
/// be open beside them, does not wait with them.
constexpr bool may_pass_locks(EpochKind kind) noexcept { return kind == EpochKind::exposure; }

/// Whether a closed window may be destroyed, and its memory used for something else: nothing that
/// is sent is still read there. Those who receive it may have given up waiting.
constexpr bool memory_is_free(std::uint64_t lent) noexcept { return lent == 0; }

/// Whether a window may be destroyed: its last epoch is complete, with an error or without. Told
/// which so that a wrong rule can tell them apart.
constexpr bool may_be_destroyed(bool last_complete, bool /*failed*/) noexcept
{
    return last_complete;
}

/// Whether a member that learns of a loss tells others, which may never talk to the lost one. A
/// rule so that a wrong one can say no.
constexpr bool passes_loss_on() noexcept { return true; }

} // namespace sidelight::rma::rules
