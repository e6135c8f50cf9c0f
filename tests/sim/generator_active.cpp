// SPDX-License-Identifier: BSD-3-Clause
#include "generator_parts.hpp"

#include <algorithm>

/// Series of fences, exchanges by post, start, complete and wait.
namespace sidelight::sim {

/// One or more fences with operations between them.
void Generator::fences()
{
    const int count = random_.between(1, 4);
    const bool no_precede = random_.chance(20);
    const bool no_succeed = random_.chance(50);
    std::vector<Shown> shown(static_cast<std::size_t>(ranks_));
    for (int fence = 0; fence < count; ++fence) {
        for (int rank = 0; rank < ranks_; ++rank) {
            close_exposure(rank);
            Author a = author(rank);
            shown[static_cast<std::size_t>(rank)] = a.expose(draw_shown());
            maybe_compute(rank);
            const Mode m = mode();
            const auto step = a.fence(m, {.no_precede = no_precede && fence == 0,
                                          .no_succeed = no_succeed && fence + 1 == count});
            if (m == Mode::nonblocking) {
                remember(rank, step);
            }
        }
        for (int rank = 0; rank < ranks_ && fence + 1 < count; ++rank) {
            fence_operations(rank, shown);
        }
    }
}

void Generator::fence_operations(int rank, const std::vector<Shown>& shown)
{
    for (int left = random_.between(0, 3); left > 0; --left) {
        const int target = any_rank();
        if (random_.chance(25)) {
            author(rank).get(target, shown[static_cast<std::size_t>(target)]);
        } else {
            operation_and_maybe_wait(rank, target, true);
        }
        maybe_compute(rank);
    }
    maybe_wait(rank);
}

/// Few words, or seldom more than fit into one message, or so many that a message is a long one.
std::size_t Generator::draw_shown()
{
    return random_.chance(2) ? 500 + random_.below(1500) : 1 + random_.below(3);
}

/// Post, start, complete, wait between some origins and some targets, each in one epoch per side;
/// and where locks are held meanwhile perhaps again, with what was closed before still pending.
void Generator::exchange()
{
    Exchange first = draw_exchange(std::vector<Ranks>(static_cast<std::size_t>(ranks_)));
    const std::vector<Ranks> locked = locks_beside(first.targets_of);
    const bool any_locked = std::any_of(locked.begin(), locked.end(),
                                        [](const Ranks& targets) { return !targets.empty(); });
    exchange(first);
    for (int more = any_locked ? random_.between(0, 2) : 0; more > 0; --more) {
        exchange(draw_exchange(locked));
    }
    for (int rank = 0; rank < ranks_; ++rank) {
        for (const int target : locked[static_cast<std::size_t>(rank)]) {
            remember(rank, author(rank).unlock(target, Mode::nonblocking));
        }
    }
}

/// Who has locks accesses none.
Generator::Exchange Generator::draw_exchange(const std::vector<Ranks>& locked)
{
    const bool everyone = random_.chance(15);
    const Ranks origins = everyone ? subset(ranks_, ranks_) : subset(1, ranks_);
    Exchange drawn{std::vector<Ranks>(static_cast<std::size_t>(ranks_)),
                   std::vector<Ranks>(static_cast<std::size_t>(ranks_))};
    for (const int origin : origins) {
        for (const int target : subset(1, random_.chance(50) ? 1 : ranks_)) {
            if (locked[static_cast<std::size_t>(origin)].empty()) {
                drawn.targets_of[static_cast<std::size_t>(origin)].push_back(target);
                drawn.origins_of[static_cast<std::size_t>(target)].push_back(origin);
            }
        }
    }
    return drawn;
}

void Generator::exchange(const Exchange& drawn)
{
    const bool no_check = random_.chance(8);
    const bool start_first = !no_check && random_.chance(50);
    if (start_first) {
        // What the exposures will show must be known to the gets in any case.
        for (int rank = 0; rank < ranks_; ++rank) {
            close_exposure(rank);
        }
    }
    for (int rank = 0; rank < ranks_; ++rank) {
        if (!drawn.origins_of[static_cast<std::size_t>(rank)].empty()) {
            expose_side(rank, drawn.origins_of[static_cast<std::size_t>(rank)], no_check);
        }
    }
    if (no_check) {
        meet();
    }
    for (int rank = 0; rank < ranks_; ++rank) {
        const bool origin = !drawn.targets_of[static_cast<std::size_t>(rank)].empty();
        if (origin) {
            access_side(rank, drawn.targets_of[static_cast<std::size_t>(rank)], no_check);
        }
        close_side(rank, origin, !drawn.origins_of[static_cast<std::size_t>(rank)].empty());
    }
}

void Generator::expose_side(int target, const Ranks& origins, bool no_check)
{
    close_exposure(target);
    nobody(target, false);
    Author a = author(target);
    shown_[static_cast<std::size_t>(target)] = {a.expose(draw_shown())};
    maybe_compute(target);
    a.post(origins, {.no_check = no_check});
    exposed_[static_cast<std::size_t>(window_)][static_cast<std::size_t>(target)] = true;
    maybe_wait(target);
}

void Generator::access_side(int origin, const Ranks& targets, bool no_check)
{
    maybe_compute(origin);
    nobody(origin, true);
    author(origin).start(targets, {.no_check = no_check});
    if (random_.chance(10)) {
        author(origin).await_grant(rma::all_targets);
    }
    for (const int target : targets) {
        for (int left = random_.between(0, 2); left > 0; --left) {
            if (random_.chance(25)) {
                author(origin).get(target, shown_[static_cast<std::size_t>(target)].front());
            } else {
                operation_and_maybe_wait(origin, target, true);
            }
        }
        maybe_compute(origin);
    }
}

/// An epoch towards nobody, now and then.
void Generator::nobody(int rank, bool access)
{
    if (!random_.chance(4)) {
        return;
    }
    Author a = author(rank);
    const Mode m = mode();
    access ? a.start({}) : a.post({});
    const auto step = access ? a.complete(m) : a.wait(m);
    if (m == Mode::nonblocking) {
        remember(rank, step);
    }
}

/// Closes the access, and the exposure now or later. Nobody waits for the exposure to be closed.
void Generator::close_side(int rank, bool origin, bool target)
{
    if (origin) {
        const Mode m = mode();
        const auto step = author(rank).complete(m);
        if (m == Mode::nonblocking) {
            remember(rank, step);
        }
    }
    if (target && !random_.chance(20)) {
        close_exposure(rank);
    }
    maybe_wait(rank);
}

void Generator::close_exposure(int rank)
{
    auto&& exposed = exposed_[static_cast<std::size_t>(window_)][static_cast<std::size_t>(rank)];
    if (!exposed) {
        return;
    }
    exposed = false;
    if (mode() == Mode::nonblocking) {
        remember(rank, author(rank).wait(Mode::nonblocking));
    } else if (random_.chance(50)) {
        author(rank).wait(Mode::blocking);
    } else {
        author(rank).test();
    }
}

} // namespace sidelight::sim
