// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "script.hpp"

namespace sidelight::sim {

enum class Mode : bool { nonblocking, blocking };

class Author;

/// A program that is being written. Hands out the cells, so that every watched operation has its
/// own, and the values, so that every one is seen but once.
class Draft {
public:
    Draft(int ranks, int node_size, int windows = 1);

    [[nodiscard]] Author rank(int number, int window = 0);
    [[nodiscard]] Program& program() noexcept { return program_; }

    /// The program, with every window closed at the end of every script.
    [[nodiscard]] Program finish();

    /// Cells at a member that nobody else is given.
    [[nodiscard]] std::size_t take_cells(int window, int target, std::size_t cells);
    /// The first of so many values that nobody else is given.
    [[nodiscard]] std::uint64_t take_values(std::size_t values) noexcept;

private:
    Program program_;
    std::vector<std::size_t> next_cell_; ///< per window and member
    std::uint64_t next_value_ = std::uint64_t{1} << 40;
};

/// What a rank shows to others: cells of its own and the values, from `value` on, that it will
/// store there.
struct Shown {
    std::size_t cell = 0;
    std::uint64_t value = 0;
    std::size_t words = 1;
};

/// Writes the script of one rank on one window. Each call answers with the number of its step.
class Author {
public:
    Author(Draft& draft, int rank, int window) noexcept
        : draft_(draft), rank_(rank), window_(window)
    {}

    std::size_t compute(Time duration);
    std::size_t meet();
    /// In memory that the library knows nothing of: a rank that waits there calls nothing.
    std::size_t meet_in_memory();
    Shown expose(std::size_t words = 1);
    std::size_t set_keys(const rma::Reorder& keys);
    std::size_t wait_for(std::vector<int> steps);
    std::size_t attach(std::size_t cell, std::size_t words);
    std::size_t detach(std::size_t cell, std::size_t words);

    std::size_t fence(Mode mode, rma::Assertion assertion = {});
    std::size_t post(std::vector<int> origins, rma::Assertion assertion = {});
    std::size_t start(std::vector<int> targets, rma::Assertion assertion = {});
    std::size_t complete(Mode mode);
    std::size_t wait(Mode mode);
    std::size_t test();
    std::size_t lock(rma::LockType type, int target, rma::Assertion assertion = {});
    std::size_t unlock(int target, Mode mode);
    std::size_t lock_all(rma::Assertion assertion = {});
    std::size_t unlock_all(Mode mode);
    std::size_t flush(int target, rma::FlushScope scope, Mode mode);
    std::size_t await_grant(int target);
    std::size_t await_notification(int counter, std::uint64_t value, Mode mode);

    /// put, accumulate or compare_and_swap of words of its own.
    std::size_t write(Call call, int target, std::size_t words = 1, Spread spread = Spread::none);
    std::size_t get(int target, const Shown& shown);
    /// Some words of what an accumulate of this epoch, by that step, writes.
    std::size_t fetch(std::size_t step, std::size_t first, std::size_t words);
    std::size_t stray(int target);
    std::size_t release();
    /// Ordered: a put, a get of the same cells, and another put to them; and so on.
    void chain(int target, std::size_t words, int puts);
    std::size_t add(int target);
    std::size_t fetch_add(int target);
    /// Adds 1 to the tally by a get, a blocking flush and a put.
    std::size_t count(int target);

    [[nodiscard]] int number() const noexcept { return rank_; }
    /// The latest step, an operation, gets no request.
    void make_bare() { script().back().bare = true; }
    /// The latest step, an operation, gets a request that completes when it is complete at the
    /// target.
    void make_remote() { script().back().request_scope = rma::FlushScope::remote; }
    /// The latest step, an operation or a flush, is that of a thread.
    void make_thread(rma::ThreadNumber thread) { script().back().thread = thread; }
    /// The latest step, an operation, goes through the window of a memory handle.
    void make_named() { script().back().named = true; }
    /// And if it is a stray, by the name that counts until it is released in the run.
    void make_present() { script().back().value = 1; }
    /// That step, an operation, raises a counter of its target.
    void make_notified(std::size_t step, int counter) { script()[step].notification = counter; }
    /// That step, a stray, is a zero-copy message where it goes by messages.
    void make_long(std::size_t step) { script()[step].words = 1400; }
    [[nodiscard]] const Step& step(std::size_t number) const { return script()[number]; }
    /// Steps so far.
    [[nodiscard]] std::size_t length() const { return script().size(); }

private:
    [[nodiscard]] Script& script() const { return draft_.program().script(rank_); }
    std::size_t append(Step step);
    std::size_t append(Call call, Mode mode);

    Draft& draft_;
    int rank_;
    int window_;
};

} // namespace sidelight::sim
