// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include "generator_parts.hpp"
#include "handles.hpp"

/// The machine, the order of items, and what all items are made of.
namespace sidelight::sim {

Generator::Generator(std::uint64_t seed, const Taste& taste)
    : random_(seed * 2 + 1),
      notes_(seed * 2 + 2),
      names_(~seed),
      taste_(taste),
      ranks_(random_.between(2, taste.max_ranks)),
      windows_(random_.chance(20) ? 2 : 1),
      draft_(ranks_, random_.chance(30) ? ranks_ : random_.between(1, ranks_), windows_),
      blocking_percent_(std::array<unsigned, 4>{0, 20, 50, 100}[random_.below(4)]),
      compute_percent_(std::array<unsigned, 3>{0, 10, 40}[random_.below(3)]),
      wait_percent_(std::array<unsigned, 3>{0, 20, 60}[random_.below(3)]),
      longest_compute_(random_.chance(50) ? 2'000 : 200'000),
      only_shared_(random_.chance(20)),
      threads_(random_.chance(25)),
      keys_(static_cast<std::size_t>(windows_),
            std::vector<rma::Reorder>(static_cast<std::size_t>(ranks_))),
      requests_(static_cast<std::size_t>(ranks_)),
      exposed_(static_cast<std::size_t>(windows_),
               std::vector<bool>(static_cast<std::size_t>(ranks_), false)),
      thresholds_(static_cast<std::size_t>(ranks_)),
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
    program.costs.zero_copy_from = random_.chance(20) ? 10'000 : 0;
    program.step_time = random_.chance(50) ? 20 : 2'000;
    program.autonomous = random_.chance(20);
    program.smart = !program.autonomous && program.seed % 3 != 0;
    program.early_bytes =
        std::array<std::size_t, 4>{0, 1'500, 6'000, 1'000'000}[program.seed / 5 % 4];
    program.carried = random_.chance(20);
    program.copied = random_.chance(50);
    program.copied_from = random_.chance(50) ? 0 : 64;
    program.opened = random_.chance(70);
    program.unreadable = program.seed % 11 == 0;
    program.failing_visits = program.seed % 7 == 0 ? 30 : 0;
    program.costs.native_percent = std::array<unsigned, 4>{0, 0, 50, 100}[random_.below(4)];
    program.threaded = random_.chance(10);
    program.traced = program.seed % 4 == 0; // the fastest ways are closed then
    program.direct = random_.chance(60);
    program.dynamic = random_.chance(20);
    program.unmapped_percent = random_.chance(50) ? 0 : 30;
    program.no_map_percent = random_.chance(50) ? 0 : 30;
    program.shared = random_.chance(20);
    program.progress_percent = std::array<unsigned, 3>{0, 30, 100}[random_.below(3)];
    program.no_exclusive_locks = only_shared_ && random_.chance(50);
    if (program.seed % 5 == 2) { // what otherwise takes thousands of operations
        program.credit = {.most = 3, .most_small = 8, .small = 16, .unasked = 2};
    }
    program.ordered_percent = std::array<unsigned, 5>{0, 0, 0, 70, 100}[random_.below(5)];
}

rma::Reorder Generator::draw_keys(bool all)
{
    return {.access_after_access = all || random_.chance(50),
            .access_after_exposure = all || random_.chance(50),
            .exposure_after_exposure = all || random_.chance(50),
            .exposure_after_access = all || random_.chance(50)};
}

void Generator::draw_reorder()
{
    if (random_.chance(30)) {
        return;
    }
    const bool all = random_.chance(30);
    for (int rank = 0; rank < ranks_; ++rank) {
        draft_.program().reorder.push_back(draw_keys(all));
        for (auto& keys : keys_) {
            keys[static_cast<std::size_t>(rank)] = draft_.program().reorder.back();
        }
    }
}

/// In programs with keys, now and then, whatever is open or deferred.
void Generator::maybe_set_keys()
{
    for (int rank = 0; rank < ranks_ && !draft_.program().reorder.empty(); ++rank) {
        if (random_.chance(10)) {
            rma::Reorder& keys =
                keys_[static_cast<std::size_t>(window_)][static_cast<std::size_t>(rank)];
            keys = draw_keys(random_.chance(30));
            author(rank).set_keys(keys);
        }
    }
}

Program Generator::draw()
{
    draw_machine();
    draw_reorder();
    draw_counters();
    const int items = random_.between(1, taste_.max_items);
    for (int item = 0; item < items; ++item) {
        window_ = random_.between(0, windows_ - 1);
        maybe_set_keys();
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
        maybe_await_notifications();
    }
    release_requests();
    notified_gets();
    release_thresholds();
    Program program = draft_.finish();
    draw_borders(program);
    draw_order(program);
    draw_names(program, names_);
    return program;
}

/// Regions touch inside of what one operation goes to, as often as there is one.
void Generator::draw_borders(Program& program)
{
    for (const Script& script : program.scripts) {
        for (const Step& step : script) {
            if (is_watched(step.call) && step.words > 1 && random_.chance(30)) {
                program.borders.push_back(step.cell + 1 + random_.below(step.words - 1));
            }
        }
    }
}

/// Some windows have handles whose operations are ordered, and others.
void Generator::draw_order(Program& program)
{
    for (Script& script : program.scripts) {
        for (Step& step : script) {
            step.ordered |= is_operation(step.call) && random_.chance(program.ordered_percent);
        }
    }
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

std::size_t Generator::operation_and_maybe_wait(int rank, int target, bool may_block)
{
    const auto step = operation(rank, target, true);
    if (may_block && random_.chance(8)) {
        author(rank).wait_for({static_cast<int>(step)});
    }
    return step;
}

std::size_t Generator::operation(int rank, int target, bool may_be_wide)
{
    Author a = author(rank);
    if (draft_.program().dynamic && random_.chance(8)) {
        return stray(rank, target);
    }
    if (draft_.program().ordered_percent != 0) {
        maybe_chain(rank, target);
    }
    const auto step = drawn_operation(rank, target, may_be_wide);
    maybe_by_thread(rank);
    if (random_.chance(30)) {
        a.make_bare();
    } else if (random_.chance(30)) {
        a.make_remote();
    }
    return step;
}

/// The latest step, an operation or a flush, is that of one of few threads.
void Generator::maybe_by_thread(int rank)
{
    if (threads_ && random_.chance(70)) {
        author(rank).make_thread(static_cast<rma::ThreadNumber>(random_.between(1, 3)));
    }
}

/// Ordered operations in a row, now and then long ones; and a long put before what follows. Some
/// are so long that ordered ones are zero-copy messages, too.
void Generator::maybe_chain(int rank, int target)
{
    Author a = author(rank);
    const auto many = [&] {
        return random_.chance(60) ? 8200 + random_.below(2000) : 900 + random_.below(1100);
    };
    if (random_.chance(20)) {
        a.chain(target, random_.chance(20) ? many() : 1 + random_.below(3), random_.between(1, 3));
    }
    while (random_.chance(6)) {
        a.write(Call::put, target, many());
        a.make_bare();
        if (random_.chance(50)) {
            a.write(Call::put, target, many());
        }
    }
}

/// A put that fails, wherever it is performed. Mostly others have to tell of that.
std::size_t Generator::stray(int rank, int target)
{
    const auto step = author(rank).stray(target);
    if (random_.chance(75)) {
        author(rank).make_bare();
    } else if (random_.chance(50)) {
        author(rank).make_remote();
    }
    return step;
}

/// An accumulate, of which some may be read back behind it.
std::size_t Generator::accumulate(int rank, int target, std::size_t words)
{
    Author a = author(rank);
    const auto step = a.write(Call::accumulate, target, words);
    if (random_.chance(50)) {
        return step;
    }
    if (random_.chance(30)) {
        a.make_bare();
    }
    const auto first = random_.below(words);
    return a.fetch(step, first, 1 + random_.below(words - first));
}

std::size_t Generator::drawn_operation(int rank, int target, bool may_be_wide)
{
    static constexpr std::array<Call, 3> calls{Call::put, Call::accumulate, Call::put};
    Author a = author(rank);
    const auto kind = random_.below(20);
    if (kind == 0 && may_be_wide && random_.chance(50)) {
        const bool apart = random_.chance(50); // short and long messages of one operation
        return a.write(Call::put, target, 700 + random_.below(700),
                       apart ? Spread::first_apart : Spread::none);
    }
    if (kind < 3) {
        return a.write(calls[random_.below(3)], target, 2 * (1 + random_.below(4)),
                       Spread::every_other);
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
    if (kind < 14) {
        return accumulate(rank, target, 1 + random_.below(3));
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

void Generator::wait_for_all(int rank)
{
    if (Ranks& requests = requests_[static_cast<std::size_t>(rank)]; !requests.empty()) {
        author(rank).wait_for(std::exchange(requests, {}));
    }
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

Program draw_program(std::uint64_t seed, const Taste& taste)
{
    return Generator(seed, taste).draw();
}

} // namespace sidelight::sim
