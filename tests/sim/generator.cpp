// SPDX-License-Identifier: BSD-3-Clause
#include "generator.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "draft.hpp"

namespace sidelight::sim {

namespace {

using fabric::sim::Random;
using rma::FlushScope;
using rma::LockType;

using Ranks = std::vector<int>;

class Generator {
public:
    Generator(std::uint64_t seed, const Taste& taste);
    Program draw();

private:
    // The machine and the manners of the program.
    void draw_machine();
    void draw_reorder();

    // Items.
    void meet();
    void fences();
    void fence_operations(int rank, const std::vector<Shown>& shown);
    void exchange();
    void expose_side(int target, const Ranks& origins, bool no_check);
    void access_side(int origin, const Ranks& targets, bool no_check);
    void close_side(int rank, bool origin, bool target);
    void locks();
    void single_lock(int rank);
    void several_locks(int rank);
    void everyones_lock(int rank);
    void locked_operations(int rank, const Ranks& targets, LockType type, bool may_block);

    // Parts of items.
    std::size_t operation(int rank, int target, bool may_be_wide);
    void operation_and_maybe_wait(int rank, int target, bool may_block);
    void unchecked_locks();
    void nobody(int rank, bool access);
    void maybe_flush(int rank, int target, bool may_block);
    void maybe_compute(int rank);
    void maybe_wait(int rank);
    void close_exposure(int rank);
    void remember(int rank, std::size_t step);
    void release_requests();
    [[nodiscard]] Mode mode();
    [[nodiscard]] Ranks subset(int least, int most);
    [[nodiscard]] int any_rank() { return random_.between(0, ranks_ - 1); }
    [[nodiscard]] Author author(int rank) { return draft_.rank(rank, window_); }
    [[nodiscard]] LockType draw_type();
    [[nodiscard]] bool asks_in_order(int rank);

    Random random_;
    Taste taste_;
    int ranks_;
    int windows_;
    Draft draft_;
    int window_ = 0;
    unsigned blocking_percent_;
    unsigned compute_percent_;
    unsigned wait_percent_;
    Time longest_compute_;
    bool only_shared_;
    std::vector<Ranks> requests_;            ///< per rank: nonblocking steps not waited for
    std::vector<std::vector<bool>> exposed_; ///< per window and rank: posted, wait not called yet
    std::vector<std::vector<Shown>> shown_;  ///< per target: what its present exposure shows
};

Generator::Generator(std::uint64_t seed, const Taste& taste)
    : random_(seed * 2 + 1),
      taste_(taste),
      ranks_(random_.between(2, taste.max_ranks)),
      windows_(random_.chance(20) ? 2 : 1),
      draft_(ranks_, random_.chance(30) ? ranks_ : random_.between(1, ranks_), windows_),
      blocking_percent_(std::array<unsigned, 4>{0, 20, 50, 100}[random_.below(4)]),
      compute_percent_(std::array<unsigned, 3>{0, 10, 40}[random_.below(3)]),
      wait_percent_(std::array<unsigned, 3>{0, 20, 60}[random_.below(3)]),
      longest_compute_(random_.chance(50) ? 2'000 : 200'000),
      only_shared_(random_.chance(20)),
      requests_(static_cast<std::size_t>(ranks_)),
      exposed_(static_cast<std::size_t>(windows_),
               std::vector<bool>(static_cast<std::size_t>(ranks_), false)),
      shown_(static_cast<std::size_t>(ranks_))
{
    draft_.program().seed = seed;
}

void Generator::draw_machine()
{
    Program& program = draft_.program();
    program.costs.latency = std::array<Time, 3>{200, 1'000, 5'000}[random_.below(3)];
    program.costs.jitter = std::array<Time, 3>{0, 500, 20'000}[random_.below(3)];
    program.costs.byte_ps = random_.chance(50) ? 330 : 20'000;
    program.step_time = random_.chance(50) ? 20 : 2'000;
    program.autonomous = random_.chance(20);
    program.threaded = random_.chance(10);
    program.direct = random_.chance(60);
    program.shared = random_.chance(20);
    program.progress_percent = std::array<unsigned, 3>{0, 30, 100}[random_.below(3)];
}

void Generator::draw_reorder()
{
    if (random_.chance(30)) {
        return;
    }
    const bool all = random_.chance(30);
    for (int rank = 0; rank < ranks_; ++rank) {
        draft_.program().reorder.push_back({.access_after_access = all || random_.chance(50),
                                            .access_after_exposure = all || random_.chance(50),
                                            .exposure_after_exposure = all || random_.chance(50),
                                            .exposure_after_access = all || random_.chance(50)});
    }
}

Program Generator::draw()
{
    draw_machine();
    draw_reorder();
    const int items = random_.between(1, taste_.max_items);
    for (int item = 0; item < items; ++item) {
        window_ = random_.between(0, windows_ - 1);
        switch (random_.below(8)) {
        case 0:
        case 1:
            fences();
            break;
        case 2:
        case 3:
            random_.chance(10) ? unchecked_locks() : locks();
            break;
        case 4:
            if (random_.chance(30)) {
                meet();
            }
            break;
        default:
            exchange();
        }
    }
    release_requests();
    return draft_.finish();
}

/// Calls whatever closes an exposure that is still open, and waits for all or nothing.
void Generator::release_requests()
{
    for (int rank = 0; rank < ranks_; ++rank) {
        for (window_ = 0; window_ < windows_; ++window_) {
            close_exposure(rank);
        }
        window_ = 0;
        maybe_wait(rank);
    }
}

void Generator::meet()
{
    for (int rank = 0; rank < ranks_; ++rank) {
        author(rank).meet();
    }
}

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
            shown[static_cast<std::size_t>(rank)] = a.expose();
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

/// Post, start, complete, wait between some origins and some targets, each in one epoch per side.
void Generator::exchange()
{
    const bool everyone = random_.chance(15);
    const Ranks origins = everyone ? subset(ranks_, ranks_) : subset(1, ranks_);
    std::vector<Ranks> origins_of(static_cast<std::size_t>(ranks_));
    std::vector<Ranks> targets_of(static_cast<std::size_t>(ranks_));
    for (const int origin : origins) {
        for (const int target : subset(1, random_.chance(50) ? 1 : ranks_)) {
            targets_of[static_cast<std::size_t>(origin)].push_back(target);
            origins_of[static_cast<std::size_t>(target)].push_back(origin);
        }
    }
    const bool no_check = random_.chance(8);
    const bool start_first = !no_check && random_.chance(50);
    if (start_first) {
        // What the exposures will show must be known to the gets in any case.
        for (int rank = 0; rank < ranks_; ++rank) {
            close_exposure(rank);
        }
    }
    for (int rank = 0; rank < ranks_; ++rank) {
        if (!origins_of[static_cast<std::size_t>(rank)].empty()) {
            expose_side(rank, origins_of[static_cast<std::size_t>(rank)], no_check);
        }
    }
    if (no_check) {
        meet();
    }
    for (int rank = 0; rank < ranks_; ++rank) {
        const bool origin = !targets_of[static_cast<std::size_t>(rank)].empty();
        if (origin) {
            access_side(rank, targets_of[static_cast<std::size_t>(rank)], no_check);
        }
        close_side(rank, origin, !origins_of[static_cast<std::size_t>(rank)].empty());
    }
}

void Generator::expose_side(int target, const Ranks& origins, bool no_check)
{
    close_exposure(target);
    nobody(target, false);
    Author a = author(target);
    shown_[static_cast<std::size_t>(target)] = {a.expose()};
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
    locked_operations(rank, {target}, type, true);
    const Mode m = mode();
    const auto step = author(rank).unlock(target, m);
    if (m == Mode::nonblocking) {
        remember(rank, step);
    }
}

/// Whether the rank may hold locks and block for the next one: its locks are taken in rank order.
bool Generator::asks_in_order(int rank)
{
    const auto& reorder = draft_.program().reorder;
    return reorder.empty() || !reorder[static_cast<std::size_t>(rank)].access_after_access;
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
            operation_and_maybe_wait(rank, target, may_block);
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
    if (m == Mode::nonblocking) {
        remember(rank, step);
    }
}

void Generator::operation_and_maybe_wait(int rank, int target, bool may_block)
{
    const auto step = operation(rank, target, true);
    if (may_block && random_.chance(8)) {
        author(rank).wait_for({static_cast<int>(step)});
    }
}

std::size_t Generator::operation(int rank, int target, bool may_be_wide)
{
    static constexpr std::array<Call, 3> calls{Call::put, Call::accumulate, Call::put};
    Author a = author(rank);
    const auto kind = random_.below(20);
    if (kind == 0 && may_be_wide && random_.chance(20)) {
        return a.write(Call::put, target, 700 + random_.below(700));
    }
    if (kind < 3) {
        return a.write(calls[random_.below(3)], target, 2 * (1 + random_.below(4)), 2);
    }
    if (kind < 5) {
        return a.write(Call::compare_and_swap, target);
    }
    if (kind < 8) {
        return a.add(target);
    }
    if (kind < 11) {
        return a.fetch_add(target);
    }
    return a.write(calls[random_.below(3)], target, 1 + random_.below(3));
}

void Generator::maybe_compute(int rank)
{
    if (random_.chance(compute_percent_)) {
        author(rank).compute(random_.below(longest_compute_));
    }
}

/// Waits for some of the requests so far. Not for use inside a lock.
void Generator::maybe_wait(int rank)
{
    Ranks& requests = requests_[static_cast<std::size_t>(rank)];
    if (requests.empty() || !random_.chance(wait_percent_)) {
        return;
    }
    random_.shuffle(requests);
    const auto count = random_.chance(50) ? requests.size() : 1 + random_.below(requests.size());
    Ranks waited(requests.end() - static_cast<std::ptrdiff_t>(count), requests.end());
    requests.resize(requests.size() - count);
    author(rank).wait_for(std::move(waited));
}

void Generator::remember(int rank, std::size_t step)
{
    requests_[static_cast<std::size_t>(rank)].push_back(static_cast<int>(step));
}

Mode Generator::mode()
{
    return random_.chance(blocking_percent_) ? Mode::blocking : Mode::nonblocking;
}

/// So many different ranks, in rank order.
Ranks Generator::subset(int least, int most)
{
    Ranks all(static_cast<std::size_t>(ranks_));
    for (int rank = 0; rank < ranks_; ++rank) {
        all[static_cast<std::size_t>(rank)] = rank;
    }
    random_.shuffle(all);
    all.resize(static_cast<std::size_t>(random_.between(std::min(least, ranks_), most)));
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

Program draw_program(std::uint64_t seed, const Taste& taste)
{
    return Generator(seed, taste).draw();
}

} // namespace sidelight::sim
