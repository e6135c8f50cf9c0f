// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "draft.hpp"
#include "generator.hpp"

namespace sidelight::sim {

using Ranks = std::vector<int>;

/// Draws one program; used once. See generator.hpp.
class Generator {
public:
    Generator(std::uint64_t seed, const Taste& taste);
    Program draw();

private:
    // The machine and the manners of the program.
    void draw_machine();
    void draw_borders(Program& program);
    void draw_order(Program& program);
    void draw_reorder();
    [[nodiscard]] rma::Reorder draw_keys(bool all);
    void maybe_set_keys();

    // Items: generator_active.cpp, generator_locks.cpp.
    void meet();
    void fences();
    void fence_operations(int rank, const std::vector<Shown>& shown);
    /// Whom each rank accesses, and by whom it is.
    struct Exchange {
        std::vector<Ranks> targets_of;
        std::vector<Ranks> origins_of;
    };
    void exchange();
    [[nodiscard]] Exchange draw_exchange(const std::vector<Ranks>& locked);
    void exchange(const Exchange& drawn);
    void expose_side(int target, const Ranks& origins, bool no_check);
    void access_side(int origin, const Ranks& targets, bool no_check);
    void close_side(int rank, bool origin, bool target);
    void locks();
    void single_lock(int rank);
    void failure_before_grant(int rank, int target);
    void several_locks(int rank);
    std::vector<Ranks> locks_beside(const std::vector<Ranks>& targets_of);
    void everyones_lock(int rank);
    void locked_operations(int rank, const Ranks& targets, rma::LockType type, bool may_block);

    // Notifications: generator_notifications.cpp.
    void draw_counters();
    void maybe_notify(int rank, std::size_t step);
    void notified_gets();
    void maybe_await_notifications();
    void release_thresholds();
    [[nodiscard]] std::uint64_t& notified(int target, int counter)
    {
        const int counters = draft_.program().counters;
        const int member = window_ * ranks_ + target;
        return notified_[static_cast<std::size_t>(member * counters + counter)];
    }

    // Parts of items.
    std::size_t operation(int rank, int target, bool may_be_wide);
    std::size_t drawn_operation(int rank, int target, bool may_be_wide);
    std::size_t accumulate(int rank, int target, std::size_t words);
    std::size_t stray(int rank, int target);
    void maybe_chain(int rank, int target);
    std::size_t operation_and_maybe_wait(int rank, int target, bool may_block);
    void unchecked_locks();
    void nobody(int rank, bool access);
    void maybe_flush(int rank, int target, bool may_block);
    void maybe_by_thread(int rank);
    void maybe_compute(int rank);
    void maybe_wait(int rank);
    void wait_for_all(int rank);
    void close_exposure(int rank);
    void remember(int rank, std::size_t step);
    void release_requests();
    [[nodiscard]] Mode mode();
    [[nodiscard]] Ranks subset(int least, int most);
    [[nodiscard]] int any_rank() { return random_.between(0, ranks_ - 1); }
    [[nodiscard]] Author author(int rank) { return draft_.rank(rank, window_); }
    [[nodiscard]] rma::LockType draw_type();
    [[nodiscard]] std::size_t draw_shown();
    [[nodiscard]] bool asks_in_order(int rank);

    fabric::sim::Random random_;
    fabric::sim::Random notes_; ///< for all about notifications, which change nothing else
    fabric::sim::Random names_; ///< likewise for which operations go by memory handles
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
    bool threads_;                                ///< the window has thread scope
    std::vector<std::vector<rma::Reorder>> keys_; ///< per window and rank: set now
    std::vector<Ranks> requests_;                 ///< per rank: nonblocking steps not waited for
    std::vector<std::vector<bool>> exposed_; ///< per window and rank: posted, wait not called yet
    std::vector<std::uint64_t> notified_;    ///< per window, target and counter: so often until now
    std::vector<Ranks> thresholds_;          ///< per rank: awaited and not waited for
    std::vector<std::vector<Shown>> shown_;  ///< per target: what its present exposure shows
};

} // namespace sidelight::sim
