// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rma/kinds.hpp"

// The rules of the engine, any one of which can be made wrong at run time. An engine that is built
// with this directory before src/ in its include path takes them for the right ones.
#define rules right_rules
#include "../src/rma/rules.hpp"
#undef rules

namespace sidelight::rma::rules {

using namespace right_rules; // where there is no wrong one

enum class Wrong {
    none,
    grant_early,         ///< an access transfers one exposure too soon
    exposure_over_early, ///< an exposure ends one access too soon
    writer_joins_readers,
    reader_joins_writer,
    readers_take_no_places,   ///< as if there were no exclusive locks
    unlock_lets_nobody_in,    ///< who leaves a lock does not tell those who wait for it
    flush_forgets_last,       ///< the last operation before a flush is none of its own
    flush_counts_later,       ///< operations issued after a flush count as its own
    flush_leaves_out_threads, ///< the process's flush leaves out what is a thread's
    joins_other_epoch,        ///< an operation is complete with one of another epoch
    request_early,            ///< one that waits for the target completes with the origin's side
    flush_unseen,             ///< a flush passes by operations that are under way
    flush_hides_failure,      ///< and by one that has failed
    direct_overtakes,         ///< the direct path is open beside what travels to the same memory
    accumulate_overtakes,     ///< an accumulate on mapped memory passes one that goes by messages
    follows_long_get,         ///< an ordered message leaves before a long get has been answered
    follows_native,           ///< or while the fabric still performs what was issued before
    native_follows,           ///< the fabric is told to perform what messages should come before
    long_puts_together,       ///< an ordered long put leaves while another is on its way
    not_behind_long_puts,     ///< nor does what follows a long put wait for it at the target
    barrier_misses_one,
    overlap_access_access, ///< as if the key were set
    overlap_access_exposure,
    overlap_exposure_exposure,
    overlap_exposure_access,
    overlap_exclusive, ///< fence and lock_all epochs overlap with their neighbours
    locks_out_of_order,
    exposures_behind_locks,       ///< one waits with the locks before it
    notice_beside_messages,       ///< one that is written in memory does not wait for what travels
    notice_overtakes_gets,        ///< a notice leaves before what it ends has brought its data back
    notice_overtakes_zero_copies, ///< one counts before zero-copy puts that were sent earlier
    notification_overtakes_gets,  ///< one leaves before its operation has brought its data
    notification_overtakes_zero_copies, ///< one counts before its operation's zero-copy puts
    notification_wakes_late,            ///< who waits for a counter is told one too late
    threshold_early,                    ///< who waits for a counter goes on one too soon
    keys_kept,                          ///< keys are used although their region was detached
    detach_early,                       ///< a detach returns before those who have keys are told
    memory_taken_back,    ///< a window is freed while zero-copy answers are read from its memory
    broken_window_stays,  ///< a window that has lost a member cannot be destroyed
    loss_kept,            ///< who learns of a loss keeps it
    name_outlives_region, ///< an access reaches what has come to the place of a released region
    grants_not_awaited,   ///< who computes is not called for what is recorded in an access
    closed_locks_not_awaited, ///< nor for a lock whose end others wait for
    deferred_work_forgotten,  ///< nor for what would do something in its turn
    deferred_fence_forgotten, ///< as if a fence that is deferred had arrived
    ends_not_awaited,         ///< nor when an exposure ends that holds others back
    barrier_not_carried,      ///< nor for a barrier that it carries to other nodes
    readers_by_whole_sum,     ///< a reader is called when readers before it have left, too
    early_for_nobody,         ///< a call returns early where nobody finishes what it leaves
    early_without_room,       ///< or where there is no room for its data
    early_with_gets,          ///< or before what it fetches has come
    early_overtaken,          ///< what is kept for a target is overtaken by a later access to it
    locks_beside_early,       ///< a lock does not wait for what is kept
    offer_out_of_turn,        ///< a target performs an access before an earlier one of the origin
    offer_before_exposure,    ///< a target performs an access whose exposure is not open
    offer_before_fence,       ///< a fence epoch is performed before the barrier that grants it
    offer_performed_twice,    ///< the origin performs what the target has taken
    offer_over_early,         ///< what the target has taken is complete for the origin
    offer_never_over,         ///< the origin does not see that the target has performed it
    release_unseen,           ///< an origin that has a region mapped does not hear of its release
};

/// The one that is wrong now.
inline Wrong wrong = Wrong::none;

inline bool access_granted(std::uint64_t access, std::uint64_t granted) noexcept
{
    return right_rules::access_granted(access, wrong == Wrong::grant_early ? granted + 1 : granted);
}

inline bool exposure_done(std::uint64_t exposure, std::uint64_t done) noexcept
{
    return right_rules::exposure_done(exposure,
                                      wrong == Wrong::exposure_over_early ? done + 1 : done);
}

inline bool lock_admits(LockType type, std::uint64_t ahead, std::uint64_t departed) noexcept
{
    if (wrong == Wrong::writer_joins_readers && type == LockType::exclusive) {
        return right_rules::lock_admits(LockType::shared, ahead, departed);
    }
    return (wrong == Wrong::reader_joins_writer && type == LockType::shared) ||
           right_rules::lock_admits(type, ahead, departed);
}

inline bool takes_place(LockType type, bool no_check, bool no_exclusive_locks) noexcept
{
    return right_rules::takes_place(type, no_check,
                                    no_exclusive_locks || wrong == Wrong::readers_take_no_places);
}

inline bool lets_others_in(bool others_have_places) noexcept
{
    return wrong != Wrong::unlock_lets_nobody_in && right_rules::lets_others_in(others_have_places);
}

/// How often the next one was asked.
inline std::uint64_t flushes_asked = 0;

inline bool flush_waits_for(std::uint64_t age, std::uint64_t stamp) noexcept
{
    ++flushes_asked;
    return (wrong == Wrong::flush_counts_later || right_rules::flush_waits_for(age, stamp)) &&
           !(wrong == Wrong::flush_forgets_last && age == stamp);
}

inline bool flush_includes(ThreadNumber flushing, ThreadNumber issuing) noexcept
{
    if (wrong == Wrong::flush_leaves_out_threads && issuing != no_thread) {
        return flushing == issuing;
    }
    return right_rules::flush_includes(flushing, issuing);
}

inline bool may_join(bool same_epoch, bool flush_waits) noexcept
{
    return right_rules::may_join(same_epoch || wrong == Wrong::joins_other_epoch, flush_waits);
}

inline bool request_completes(FlushScope scope, bool is_local, bool is_complete) noexcept
{
    return right_rules::request_completes(wrong == Wrong::request_early ? FlushScope::local : scope,
                                          is_local, is_complete);
}

inline bool may_go_beside(bool several_routes, std::uint64_t outstanding) noexcept
{
    return wrong == Wrong::direct_overtakes || wrong == Wrong::flush_unseen ||
           right_rules::may_go_beside(several_routes, outstanding);
}

inline bool may_flush_unseen(bool is_passive, bool any_other) noexcept
{
    const bool unseen = wrong == Wrong::flush_hides_failure || wrong == Wrong::flush_unseen;
    return right_rules::may_flush_unseen(is_passive, any_other && !unseen);
}

inline bool may_combine_at_once(std::uint32_t combining) noexcept
{
    return wrong == Wrong::accumulate_overtakes || right_rules::may_combine_at_once(combining);
}

inline bool may_follow(Road later, Road earlier) noexcept
{
    const bool fabric = earlier == Road::native || earlier == Road::native_put;
    const bool by_messages = later == Road::messages || later == Road::long_put;
    return right_rules::may_follow(later, earlier) ||
           (wrong == Wrong::follows_long_get && by_messages && earlier == Road::long_get) ||
           (wrong == Wrong::follows_native && by_messages && fabric) ||
           (wrong == Wrong::native_follows && later == Road::native_put &&
            earlier == Road::messages) ||
           (wrong == Wrong::long_puts_together && later == Road::long_put &&
            earlier == Road::long_put);
}

inline bool is_behind_long_puts(std::uint32_t long_puts) noexcept
{
    return wrong != Wrong::not_behind_long_puts && right_rules::is_behind_long_puts(long_puts);
}

inline bool barrier_passed(std::uint64_t barrier, std::uint64_t members,
                           std::uint64_t arrived) noexcept
{
    return right_rules::barrier_passed(barrier, members,
                                       wrong == Wrong::barrier_misses_one ? arrived + 1 : arrived);
}

inline bool may_overlap(EpochClass earlier, EpochClass later, const Reorder& reorder) noexcept
{
    if (earlier == EpochClass::exclusive || later == EpochClass::exclusive) {
        return wrong == Wrong::overlap_exclusive;
    }
    Reorder keys = reorder;
    keys.access_after_access |= wrong == Wrong::overlap_access_access;
    keys.access_after_exposure |= wrong == Wrong::overlap_access_exposure;
    keys.exposure_after_exposure |= wrong == Wrong::overlap_exposure_exposure;
    keys.exposure_after_access |= wrong == Wrong::overlap_exposure_access;
    return right_rules::may_overlap(earlier, later, keys);
}

inline bool may_ask_for_lock(std::uint64_t ungranted_locks, const Reorder& reorder) noexcept
{
    return wrong == Wrong::locks_out_of_order ||
           right_rules::may_ask_for_lock(ungranted_locks, reorder);
}

inline bool may_pass_locks(EpochKind kind) noexcept
{
    return wrong != Wrong::exposures_behind_locks && right_rules::may_pass_locks(kind);
}

inline bool memory_is_free(std::uint64_t lent) noexcept
{
    return wrong == Wrong::memory_taken_back || right_rules::memory_is_free(lent);
}

inline bool may_be_destroyed(bool last_complete, bool failed) noexcept
{
    return right_rules::may_be_destroyed(last_complete, failed) &&
           !(wrong == Wrong::broken_window_stays && failed);
}

inline bool passes_loss_on() noexcept
{
    return wrong != Wrong::loss_kept && right_rules::passes_loss_on();
}

} // namespace sidelight::rma::rules
