// SPDX-License-Identifier: BSD-3-Clause
#include "generator_parts.hpp"

/// Notifications: which operations in locks raise counters of their targets, and who waits for
/// that. Nobody waits for one whose operation the program has not issued before.
namespace sidelight::sim {

/// A program gets its counters from a call that all make and that ends with a barrier. Who waits
/// for a counter hears of losses because all have heard of one another there.
void Generator::draw_counters()
{
    Program& program = draft_.program();
    if (!notes_.chance(35)) {
        return;
    }
    program.counters = notes_.between(1, 3);
    program.no_map_percent = 0; // a counter that cannot be mapped is an error of the call
    notified_.resize(static_cast<std::size_t>(windows_ * ranks_ * program.counters));
    for (int rank = 0; rank < ranks_; ++rank) {
        for (window_ = 0; window_ < windows_; ++window_) {
            author(rank).fence(Mode::blocking, {.no_succeed = true});
        }
    }
}

/// What goes to cells of its own, so that it is seen when it is there; and what fails, which raises
/// nothing, even if its notification is there before it.
void Generator::maybe_notify(int rank, std::size_t step)
{
    const Step& operation = author(rank).step(step);
    const bool fails = operation.call == Call::stray;
    if (draft_.program().counters == 0 || !(is_watched(operation.call) || fails) ||
        !notes_.chance(60)) {
        return;
    }
    const int counter = notes_.between(0, draft_.program().counters - 1);
    author(rank).make_notified(step, counter);
    if (!fails) {
        ++notified(operation.target, counter);
    } else if (!operation.named && notes_.chance(50)) {
        author(rank).make_long(step);
    }
}

/// Everybody shows something, and some read it, who notify its owner when they have it.
void Generator::notified_gets()
{
    if (draft_.program().counters == 0 || notes_.chance(50)) {
        return;
    }
    std::vector<Shown> shown;
    for (int rank = 0; rank < ranks_; ++rank) {
        const bool wide = notes_.chance(30);
        shown.push_back(author(rank).expose(1 + notes_.below(wide ? 1400 : 4)));
        author(rank).meet();
    }
    for (int rank = 0; rank < ranks_; ++rank) {
        const int target = notes_.between(0, ranks_ - 1);
        const Mode mode = notes_.chance(50) ? Mode::blocking : Mode::nonblocking;
        author(rank).lock(rma::LockType::shared, target);
        for (int left = notes_.between(1, 3); left > 0; --left) {
            maybe_notify(rank, author(rank).get(target, shown[static_cast<std::size_t>(target)]));
        }
        if (notes_.chance(30)) {
            author(rank).flush(target, rma::FlushScope::remote, Mode::nonblocking);
        }
        author(rank).unlock(target, mode);
    }
    maybe_await_notifications();
}

void Generator::maybe_await_notifications()
{
    for (int rank = 0; rank < ranks_ && draft_.program().counters != 0; ++rank) {
        const int counter = notes_.between(0, draft_.program().counters - 1);
        const std::uint64_t most = notified(rank, counter);
        if (!notes_.chance(40)) {
            continue;
        }
        const Mode mode = notes_.chance(50) ? Mode::blocking : Mode::nonblocking;
        const auto step =
            author(rank).await_notification(counter, most - notes_.below(most + 1), mode);
        if (mode == Mode::nonblocking) {
            thresholds_[static_cast<std::size_t>(rank)].push_back(static_cast<int>(step));
        }
    }
}

/// Those that are left are reached while the window is closed, if not before.
void Generator::release_thresholds()
{
    for (int rank = 0; rank < ranks_; ++rank) {
        Ranks& thresholds = thresholds_[static_cast<std::size_t>(rank)];
        if (!thresholds.empty() && notes_.chance(70)) {
            author(rank).wait_for(thresholds);
        }
    }
}

} // namespace sidelight::sim
