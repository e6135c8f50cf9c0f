// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "generator_parts.hpp"

/// Bursts of locks.
namespace sidelight::sim {

using rma::FlushScope;
using rma::LockType;

/// A burst of lock epochs by several ranks at once.
void Generator::locks()
{
    const Ranks ranks = subset(1, ranks_);
    for (const int rank : ranks) {
        for (int left = random_.between(1, 3); left > 0; --left) {
            maybe_compute(rank);
            switch (random_.below(6)) {
            case 0:
                everyones_lock(rank);
                break;
            case 1:
                several_locks(rank);
                break;
            default:
                single_lock(rank);
            }
            maybe_wait(rank);
        }
    }
}

/// With MPI_MODE_NOCHECK: readers, so that nobody has to know of the others.
void Generator::unchecked_locks()
{
    for (const int rank : subset(1, ranks_)) {
        const bool all = random_.chance(50);
        const int target = any_rank();
        all ? author(rank).lock_all({.no_check = true})
            : author(rank).lock(LockType::shared, target, {.no_check = true});
        locked_operations(rank, all ? subset(1, ranks_) : Ranks{target}, LockType::shared, true);
        const Mode m = mode();
        const auto step = all ? author(rank).unlock_all(m) : author(rank).unlock(target, m);
        if (m == Mode::nonblocking) {
            remember(rank, step);
        }
        maybe_wait(rank);
    }
}

LockType Generator::draw_type()
{
    return only_shared_ || random_.chance(40) ? LockType::shared : LockType::exclusive;
}

void Generator::single_lock(int rank)
{
    const int target = random_.chance(50) ? 0 : any_rank();
    const LockType type = draw_type();
    author(rank).lock(type, target);
    if (random_.chance(10)) {
        author(rank).await_grant(target);
    }
    if (draft_.program().dynamic && random_.chance(20)) {
        failure_before_grant(rank, target);
    }
    locked_operations(rank, {target}, type, true);
    if (random_.chance(5)) { // what is behind it must not come before it
        author(rank).write(Call::put, target, 1024 + random_.below(400));
    }
    const Mode m = mode();
    const auto step = author(rank).unlock(target, m);
    if (m == Mode::nonblocking) {
        remember(rank, step);
    }
}

/// A stray that is recorded if the lock is not granted, as it may be in the sweep that follows; a
/// flush comes after that.
void Generator::failure_before_grant(int rank, int target)
{
    Author a = author(rank);
    const auto stray = a.stray(target);
    a.make_bare();
    a.compute(random_.below(longest_compute_));
    a.wait_for({static_cast<int>(stray)});
    const auto scope = random_.chance(30) ? FlushScope::local : FlushScope::remote;
    const Mode m = mode();
    const auto step = a.flush(target, scope, m);
    if (m == Mode::nonblocking) {
        remember(rank, step);
    }
}

/// Whether the rank may hold locks and block for the next one: its locks are taken in rank order.
bool Generator::asks_in_order(int rank)
{
    return !keys_[static_cast<std::size_t>(window_)][static_cast<std::size_t>(rank)]
                .access_after_access;
}

/// Several at once, asked for in rank order. With A_A_A_R, either each is waited for, or nothing
/// blocks before all are given back.
void Generator::several_locks(int rank)
{
    const Ranks targets = subset(2, std::min(ranks_, 3));
    const LockType type = draw_type();
    const bool wait_for_each = random_.chance(50);
    const bool may_block = wait_for_each || asks_in_order(rank);
    for (const int target : targets) {
        author(rank).lock(type, target);
        if (wait_for_each) {
            author(rank).await_grant(target);
        }
    }
    locked_operations(rank, targets, type, may_block);
    Ranks closing = targets;
    random_.shuffle(closing);
    for (const int target : closing) {
        const Mode m = may_block ? mode() : Mode::nonblocking;
        const auto step = author(rank).unlock(target, m);
        if (m == Mode::nonblocking) {
            remember(rank, step);
        }
    }
}

/// For each rank, members that it has asked for locks of: these are held, or waited for, while
/// others are in its memory. Who accesses some itself has none. Nobody may wait for a lock
/// meanwhile.
std::vector<Ranks> Generator::locks_beside(const std::vector<Ranks>& targets_of)
{
    std::vector<Ranks> locked(static_cast<std::size_t>(ranks_));
    if (!random_.chance(20)) {
        return locked;
    }
    for (int rank = 0; rank < ranks_; ++rank) {
        wait_for_all(rank);
    }
    meet();
    for (const int rank : subset(1, ranks_)) {
        if (targets_of[static_cast<std::size_t>(rank)].empty()) {
            for (const int target : subset(1, ranks_)) {
                author(rank).lock(draw_type(), target);
                locked[static_cast<std::size_t>(rank)].push_back(target);
            }
        }
    }
    return locked;
}

void Generator::everyones_lock(int rank)
{
    author(rank).lock_all();
    locked_operations(rank, subset(1, ranks_), LockType::shared,
                      only_shared_ || asks_in_order(rank));
    const Mode m = mode();
    const auto step = author(rank).unlock_all(m);
    if (m == Mode::nonblocking) {
        remember(rank, step);
    }
}

void Generator::locked_operations(int rank, const Ranks& targets, LockType type, bool may_block)
{
    for (int left = random_.between(0, 4); left > 0; --left) {
        const int target = targets[random_.below(targets.size())];
        if (type == LockType::exclusive && may_block && random_.chance(30)) {
            author(rank).count(target);
        } else {
            maybe_notify(rank, operation_and_maybe_wait(rank, target, may_block));
        }
        maybe_flush(rank, target, may_block);
        maybe_compute(rank);
    }
}

void Generator::maybe_flush(int rank, int target, bool may_block)
{
    if (!random_.chance(50)) {
        return;
    }
    const Mode m = may_block ? mode() : Mode::nonblocking;
    const FlushScope scope = random_.chance(30) ? FlushScope::local : FlushScope::remote;
    const auto step = author(rank).flush(random_.chance(25) ? rma::all_targets : target, scope, m);
    maybe_by_thread(rank);
    if (m == Mode::nonblocking) {
        remember(rank, step);
    }
}

} // namespace sidelight::sim
