// SPDX-License-Identifier: BSD-3-Clause
#include "ledger.hpp"

#include <algorithm>

#include "rma/engine/window_parts.hpp"
#include "world.hpp"

/// The ledger's first third: it follows what the program opens, closes and issues.
namespace sidelight::sim {

using rma::EpochKind;

Ledger::Ledger(World& world)
    : world_(world),
      program_(world.program()),
      histories_(static_cast<std::size_t>(program_.windows * program_.ranks)),
      locks_(histories_.size()),
      counters_(histories_.size() * static_cast<std::size_t>(program_.counters))
{
    for (const Script& script : program_.scripts) {
        expectations_.emplace_back(script.size());
    }
    for (std::size_t at = 0; at < histories_.size() && !program_.reorder.empty(); ++at) {
        histories_[at].keys = program_.reorder[at % static_cast<std::size_t>(program_.ranks)];
    }
}

void Ledger::fail(int rank, const char* what) { world_.fail(rank, what); }

Ledger::History& Ledger::history(int window, int rank)
{
    return histories_[static_cast<std::size_t>(window * program_.ranks + rank)];
}

Ledger::Pair& Ledger::pair(int window, int from, int to)
{
    const int index = (window * program_.ranks + from) * program_.ranks + to;
    return pairs_[static_cast<std::size_t>(index)];
}

Ledger::LockRecord& Ledger::lock(int window, int target)
{
    return locks_[static_cast<std::size_t>(window * program_.ranks + target)];
}

Ledger::CounterRecord& Ledger::counter(int window, int target, int index)
{
    const int member = window * program_.ranks + target;
    return counters_[static_cast<std::size_t>(member * program_.counters + index)];
}

Ledger::Expectation& Ledger::expectation(const Rank& rank, std::size_t step)
{
    return expectations_[static_cast<std::size_t>(rank.number())][step];
}

void Ledger::calling(Rank& rank, std::size_t number)
{
    const Step& step = rank.script()[number];
    History& h = history(step.window, rank.number());
    statistics_.far_ahead =
        std::max<std::uint64_t>(statistics_.far_ahead, rank.window(step.window).pending_epochs());
    switch (step.call) {
    case Call::fence:
        return fence(rank, number);
    case Call::post:
    case Call::start:
        return open_group(rank, step);
    case Call::lock:
    case Call::lock_all:
        return open_passive(rank, step);
    case Call::complete:
        return close(rank, number, h.access);
    case Call::wait:
    case Call::test:
        return close(rank, number, h.exposure);
    case Call::unlock:
        return close(rank, number, h.locks[step.target]);
    case Call::unlock_all:
        return close(rank, number, h.lock_all);
    case Call::flush:
    case Call::await_grant:
        expectation(rank, number).number = h.clock;
        break;
    case Call::await_notification:
    case Call::attach:
    case Call::detach:
        break;
    case Call::close:
        return leave_fence(h);
    default:
        issue(rank, number);
    }
}

/// Opening requests are complete at once, whatever has become of the epoch.
void Ledger::called(Rank& rank, std::size_t number)
{
    const Step& step = rank.script()[number];
    const bool opens = step.call == Call::post || step.call == Call::start ||
                       step.call == Call::lock || step.call == Call::lock_all;
    if (opens && !rank.completed(number)) {
        fail(rank.number(), "the request of an opening call is not complete at once");
    }
    check_let_in(rank, number);
    scan(rank.number());
}

/// Those who wait by messages for a lock that its owner gives back are told by that call: it may be
/// the last one for long.
void Ledger::check_let_in(Rank& rank, std::size_t number)
{
    const Step& step = rank.script()[number];
    const bool leaves = step.call == Call::unlock_all ||
                        (step.call == Call::unlock && step.target == rank.number());
    if (leaves && rank.completed(number) && !expectation(rank, number).epoch->no_check &&
        rank.window(step.window).parts().locks.owes_grants()) {
        fail(rank.number(), "an unlock has let in a rank elsewhere that it does not tell");
    }
}

void Ledger::keys_set(const Rank& rank, const Step& step)
{
    history(step.window, rank.number()).keys = step.keys;
}

EpochRecord& Ledger::open(Rank& rank, const Step& step, EpochKind kind)
{
    EpochRecord& epoch = epochs_.emplace_back();
    History& h = history(step.window, rank.number());
    epoch.rank = rank.number();
    epoch.window = step.window;
    epoch.kind = kind;
    epoch.no_check = step.assertion.no_check || program_.no_exclusive_locks;
    epoch.keys = h.keys;
    epoch.opened = ++h.clock;
    epoch.opening_step = rank.position();
    h.live.push_back(&epoch);
    return epoch;
}

void Ledger::open_group(Rank& rank, const Step& step)
{
    History& h = history(step.window, rank.number());
    leave_fence(h);
    const bool access = step.call == Call::start;
    EpochRecord& epoch = open(rank, step, access ? EpochKind::access : EpochKind::exposure);
    (access ? h.access : h.exposure) = &epoch;
    for (const int peer : step.list) {
        Pair& p = access ? pair(step.window, rank.number(), peer)
                         : pair(step.window, peer, rank.number());
        auto& epochs = access ? p.accesses : p.exposures;
        epochs.push_back(&epoch);
        epoch.parts.push_back({.peer = peer, .number = epochs.size()});
    }
}

void Ledger::open_passive(Rank& rank, const Step& step)
{
    History& h = history(step.window, rank.number());
    leave_fence(h);
    EpochRecord& epoch =
        open(rank, step, step.call == Call::lock ? EpochKind::lock : EpochKind::lock_all);
    int first = 0;
    int last = program_.ranks - 1;
    if (step.call == Call::lock) {
        epoch.lock_type = step.lock_type;
        h.locks[step.target] = &epoch;
        first = last = step.target;
    } else {
        h.lock_all = &epoch;
    }
    for (int target = first; target <= last; ++target) {
        epoch.parts.push_back({.peer = target});
        if (!epoch.no_check && !world_.same_node(rank.number(), target)) {
            pair(step.window, rank.number(), target).remote_locks.push_back(&epoch);
        }
    }
}

void Ledger::fence(Rank& rank, std::size_t number)
{
    const Step& step = rank.script()[number];
    History& h = history(step.window, rank.number());
    expectation(rank, number).number = ++h.fences;
    if (h.fence != nullptr) {
        close(rank, number, h.fence);
    }
    EpochRecord& epoch = open(rank, step, EpochKind::fence);
    epoch.fence = h.fences;
    h.fence = &epoch;
    if (step.assertion.no_succeed) {
        leave_fence(h);
    }
}

/// No request tells when a fence epoch ends that is left without a fence.
void Ledger::leave_fence(History& h)
{
    if (h.fence != nullptr) {
        h.fence->closed = ++h.clock;
        h.fence->completed = true;
        std::erase(h.live, std::exchange(h.fence, nullptr));
    }
}

void Ledger::close(Rank& rank, std::size_t number, EpochRecord*& epoch)
{
    epoch->closed = ++history(epoch->window, rank.number()).clock;
    epoch->closing_step = number;
    expectation(rank, number).epoch = std::exchange(epoch, nullptr);
}

EpochRecord* Ledger::epoch_towards(History& h, int target)
{
    if (h.fence != nullptr) {
        return h.fence;
    }
    if (h.lock_all != nullptr) {
        return h.lock_all;
    }
    const auto found = h.locks.find(target);
    return found != h.locks.end() && found->second != nullptr ? found->second : h.access;
}

void Ledger::issue(Rank& rank, std::size_t number)
{
    const Step& step = rank.script()[number];
    ++statistics_.operations;
    if (step.call == Call::stray) {
        strays_.push_back({.epoch = epoch_towards(history(step.window, rank.number()), step.target),
                           .target = step.target,
                           .step = number});
    }
    if (!is_watched(step.call)) {
        return;
    }
    EpochRecord* epoch = epoch_towards(history(step.window, rank.number()), step.target);
    OpRecord op{.epoch = epoch, .target = step.target, .step = number};
    op.fetches = is_read(step.call);
    op.first =
        op.fetches ? rank.origin(number) : world_.memory(step.window, step.target) + step.cell;
    op.value = step.value;
    op.words = step.words;
    op.spread = op.fetches ? Spread::none : step.spread;
    op.cell = step.cell;
    op.notification = step.notification;
    if (op.notification >= 0) {
        ++counter(step.window, step.target, op.notification).issued;
        ++statistics_.notified;
    }
    if (PartRecord* part = epoch->part(step.target); part != nullptr) {
        ++part->issued;
    }
    outstanding_.push_back(op);
}

} // namespace sidelight::sim
