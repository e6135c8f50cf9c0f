// SPDX-License-Identifier: BSD-3-Clause
#include "draft.hpp"

#include <utility>

namespace sidelight::sim {

namespace {

constexpr bool blocks(Mode mode) noexcept { return mode == Mode::blocking; }

} // namespace

Draft::Draft(int ranks, int node_size, int windows)
    : next_cell_(static_cast<std::size_t>(ranks * windows), first_free_cell)
{
    program_.ranks = ranks;
    program_.node_size = node_size;
    program_.windows = windows;
    program_.scripts.resize(static_cast<std::size_t>(ranks));
}

Author Draft::rank(int number, int window) { return {*this, number, window}; }

std::size_t Draft::take_cells(int window, int target, std::size_t cells)
{
    std::size_t& next = next_cell_[static_cast<std::size_t>(window * program_.ranks + target)];
    const std::size_t first = next;
    next += cells;
    program_.cells = next > program_.cells ? next : program_.cells;
    return first;
}

std::uint64_t Draft::take_values(std::size_t values) noexcept
{
    const std::uint64_t first = next_value_;
    next_value_ += values;
    return first;
}

Program Draft::finish()
{
    for (int window = 0; window < program_.windows; ++window) {
        for (Script& script : program_.scripts) {
            script.push_back({.call = Call::close, .blocking = true, .window = window});
        }
    }
    return std::move(program_);
}

std::size_t Author::append(Step step)
{
    step.window = window_;
    script().push_back(std::move(step));
    return script().size() - 1;
}

std::size_t Author::append(Call call, Mode mode)
{
    return append({.call = call, .blocking = blocks(mode)});
}

std::size_t Author::compute(Time duration)
{
    return append({.call = Call::compute, .duration = duration});
}

std::size_t Author::meet() { return append({.call = Call::meet}); }

std::size_t Author::meet_in_memory() { return append({.call = Call::meet, .bare = true}); }

Shown Author::expose(std::size_t words)
{
    const Shown shown{draft_.take_cells(window_, rank_, words), draft_.take_values(words), words};
    append({.call = Call::expose, .cell = shown.cell, .value = shown.value, .words = words});
    return shown;
}

std::size_t Author::set_keys(const rma::Reorder& keys)
{
    return append({.call = Call::set_keys, .keys = keys});
}

std::size_t Author::wait_for(std::vector<int> steps)
{
    return append({.call = Call::wait_for, .list = std::move(steps)});
}

std::size_t Author::attach(std::size_t cell, std::size_t words)
{
    return append({.call = Call::attach, .blocking = true, .cell = cell, .words = words});
}

std::size_t Author::detach(std::size_t cell, std::size_t words)
{
    return append({.call = Call::detach, .blocking = true, .cell = cell, .words = words});
}

std::size_t Author::fence(Mode mode, rma::Assertion assertion)
{
    return append({.call = Call::fence, .blocking = blocks(mode), .assertion = assertion});
}

std::size_t Author::post(std::vector<int> origins, rma::Assertion assertion)
{
    return append({.call = Call::post, .assertion = assertion, .list = std::move(origins)});
}

std::size_t Author::start(std::vector<int> targets, rma::Assertion assertion)
{
    return append({.call = Call::start, .assertion = assertion, .list = std::move(targets)});
}

std::size_t Author::complete(Mode mode) { return append(Call::complete, mode); }

std::size_t Author::wait(Mode mode) { return append(Call::wait, mode); }

std::size_t Author::test() { return append(Call::test, Mode::blocking); }

std::size_t Author::lock(rma::LockType type, int target, rma::Assertion assertion)
{
    return append(
        {.call = Call::lock, .target = target, .lock_type = type, .assertion = assertion});
}

std::size_t Author::unlock(int target, Mode mode)
{
    return append({.call = Call::unlock, .blocking = blocks(mode), .target = target});
}

std::size_t Author::await_notification(int counter, std::uint64_t value, Mode mode)
{
    return append({.call = Call::await_notification,
                   .blocking = blocks(mode),
                   .cell = static_cast<std::size_t>(counter),
                   .value = value});
}

std::size_t Author::lock_all(rma::Assertion assertion)
{
    return append({.call = Call::lock_all, .assertion = assertion});
}

std::size_t Author::unlock_all(Mode mode) { return append(Call::unlock_all, mode); }

std::size_t Author::flush(int target, rma::FlushScope scope, Mode mode)
{
    return append(
        {.call = Call::flush, .blocking = blocks(mode), .target = target, .scope = scope});
}

std::size_t Author::await_grant(int target)
{
    return append({.call = Call::await_grant, .blocking = true, .target = target});
}

std::size_t Author::write(Call call, int target, std::size_t words, Spread spread)
{
    const std::size_t cell = draft_.take_cells(window_, target, cells_of(words, spread));
    return append({.call = call,
                   .target = target,
                   .cell = cell,
                   .value = draft_.take_values(words),
                   .words = words,
                   .spread = spread});
}

std::size_t Author::get(int target, const Shown& shown)
{
    return append({.call = Call::get,
                   .target = target,
                   .cell = shown.cell,
                   .value = shown.value,
                   .words = shown.words});
}

std::size_t Author::fetch(std::size_t step, std::size_t first, std::size_t words)
{
    const Step& written = script()[step];
    return append({.call = Call::fetch,
                   .target = written.target,
                   .cell = written.cell + first,
                   .value = written.value + first,
                   .words = words});
}

std::size_t Author::release() { return append({.call = Call::release}); }

std::size_t Author::stray(int target) { return append({.call = Call::stray, .target = target}); }

void Author::chain(int target, std::size_t words, int puts)
{
    const std::size_t cell = draft_.take_cells(window_, target, words);
    for (int put = 0; put < puts; ++put) {
        const std::uint64_t value = draft_.take_values(words);
        for (const Call call : {Call::overwrite, Call::reread}) {
            append({.call = call,
                    .ordered = true,
                    .target = target,
                    .cell = cell,
                    .value = value,
                    .words = words});
        }
    }
}

std::size_t Author::add(int target)
{
    return append({.call = Call::add, .target = target, .cell = counter_cell});
}

std::size_t Author::fetch_add(int target)
{
    return append({.call = Call::fetch_add, .target = target, .cell = counter_cell});
}

std::size_t Author::count(int target)
{
    flush(target, rma::FlushScope::remote, Mode::blocking); // puts and gets are not ordered
    const auto read = append({.call = Call::read_tally, .target = target, .cell = tally_cell});
    flush(target, rma::FlushScope::remote, Mode::blocking);
    return append({.call = Call::write_tally,
                   .target = target,
                   .list = {static_cast<int>(read)},
                   .cell = tally_cell});
}

} // namespace sidelight::sim
