// SPDX-License-Identifier: BSD-3-Clause
#include "survivors.hpp"

#include <algorithm>

#include "generator.hpp"
#include "world.hpp"

namespace sidelight::sim {

namespace {

Deaths seen;

bool closes(const Step& step, const Step& operation)
{
    switch (step.call) {
    case Call::fence:
        return !step.assertion.no_precede;
    case Call::complete:
    case Call::unlock_all:
    case Call::close:
        return true;
    case Call::unlock:
        return step.target == operation.target;
    case Call::flush:
        return step.scope == rma::FlushScope::remote &&
               (step.target == rma::all_targets || step.target == operation.target) &&
               (step.thread == 0 || operation.thread == 0 || step.thread == operation.thread);
    default:
        return false;
    }
}

/// The event by which the rank has left the window. What others do there afterwards nobody looks
/// at.
std::uint64_t left_at(const Rank& rank, int window)
{
    for (std::size_t step = 0; step < rank.script().size(); ++step) {
        if (rank.script()[step].call == Call::close && rank.script()[step].window == window) {
            return rank.times(step).event;
        }
    }
    return 0;
}

/// Whether the program was told that the operation is complete at its target, before that had left
/// the window: without an error, by itself and by the call that closed its epoch or flushed it.
bool told_complete(World& world, const Rank& rank, std::size_t number)
{
    const Script& script = rank.script();
    const Step& step = script[number];
    if (rank.status(number) != Status::ok) {
        return false;
    }
    for (std::size_t next = number + 1; next < script.size(); ++next) {
        if (script[next].window == step.window && closes(script[next], step)) {
            return rank.status(next) == Status::ok &&
                   rank.times(next).event < left_at(world.rank(step.target), step.window);
        }
    }
    return false;
}

bool writes(const Step& step) { return is_watched(step.call) && !is_read(step.call); }

/// A cell of its own holds what one operation has written, or nothing.
void check_cells(World& world, const Rank& rank, std::size_t number)
{
    const Step& step = rank.script()[number];
    const std::uint64_t* cells = world.left_behind(step.window, step.target).data() + step.cell;
    const bool must = told_complete(world, rank, number);
    seen.proved += must ? 1 : 0;
    for (std::size_t word = 0; word < step.words; ++word) {
        const std::uint64_t value = cells[cell_of(word, step.spread)];
        if (value != step.value + word && (must || value != 0)) {
            world.fail(rank.number(), must ? "an operation among survivors was lost"
                                           : "an operation among survivors has written garbage");
        }
    }
}

/// A get from another node that is complete has brought what its target had. On one node it may
/// read what the target has made of its memory since it has left the window.
void check_got(World& world, Rank& rank, std::size_t number)
{
    const Step& step = rank.script()[number];
    if (step.bare || rank.status(number) != Status::ok ||
        world.same_node(rank.number(), step.target)) {
        return;
    }
    ++seen.got;
    for (std::size_t word = 0; word < step.words; ++word) {
        if (rank.origin(number)[word] != step.value + word) {
            world.fail(rank.number(), "a get from a survivor has brought garbage");
        }
    }
}

void check_statuses(World& world, const Rank& rank)
{
    for (std::size_t step = 0; step < rank.script().size(); ++step) {
        if (rank.script()[step].call > Call::wait_for && !rank.completed(step)) {
            world.fail(rank.number(), "a request never completed");
        }
        const Status status = rank.status(step);
        if (rank.script()[step].call == Call::await_grant && status != Status::ok &&
            rank.status(step - 1) == Status::ok) { // its opening call's
            world.fail(rank.number(), "a call tells of a loss, and has opened an epoch");
        }
        ++(status == Status::ok ? seen.complete : seen.failed);
        const bool lost = status != Status::ok && status != Status::rma_range;
        if (lost && rank.times(step).done < world.program().dies_at) {
            world.fail(rank.number(), "an error came before anybody was dead");
        }
    }
}

/// The counter of a survivor: all additions that the program was told to be complete, and no more
/// than were asked for.
void check_counter(World& world, int window, int target)
{
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    for (int number = 0; number < world.program().ranks; ++number) {
        const Rank& rank = world.rank(number);
        for (std::size_t step = 0; step < rank.script().size(); ++step) {
            const Step& s = rank.script()[step];
            if (s.window == window && s.target == target &&
                (s.call == Call::add || s.call == Call::fetch_add)) {
                ++most;
                least += !world.network().dead(number) && told_complete(world, rank, step) ? 1 : 0;
            }
        }
    }
    const std::uint64_t counter = world.left_behind(window, target)[counter_cell];
    if (counter < least || counter > most) {
        world.fail(target, "a survivor's counter is not what additions make of it");
    }
}

Program with_death(std::uint64_t seed)
{
    Program program = draw_program(seed, taste_of(seed));
    fabric::sim::Random random(seed * 2 + 11);
    program.node_size = random.between(1, std::max(1, program.ranks / 2));
    while (program.ranks % program.node_size != 0) {
        --program.node_size;
    }
    program.dying_node = random.between(0, program.ranks / program.node_size - 1);
    static constexpr Time latest[] = {1'000, 20'000, 100'000, 1'000'000};
    program.dies_at = 1 + random.below(latest[random.below(std::size(latest))]);
    program.costs.notice = random.chance(50) ? 3'000 : 300'000;
    return program;
}

} // namespace

Deaths deaths() noexcept { return seen; }

void check_survivors(World& world)
{
    for (int number = 0; number < world.program().ranks; ++number) {
        if (world.network().dead(number)) {
            continue;
        }
        Rank& rank = world.rank(number);
        check_statuses(world, rank);
        for (std::size_t step = 0; step < rank.script().size(); ++step) {
            const Step& s = rank.script()[step];
            if (writes(s) && !world.network().dead(s.target)) {
                check_cells(world, rank, step);
            } else if (is_read(s.call) && !world.network().dead(s.target)) {
                check_got(world, rank, step);
            }
        }
        for (int window = 0; window < world.program().windows; ++window) {
            check_counter(world, window, number);
        }
    }
}

Outcome run_deaths(std::uint64_t first, std::uint64_t count, bool report)
{
    return run_programs(first, count, report, with_death);
}

} // namespace sidelight::sim
