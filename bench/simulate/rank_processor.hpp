// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace sidelight::simulate {

/// The processor that a rank works on, and what moves its operations on meanwhile. Processors are
/// shared in equal parts: with a polling thread in each process there are twice as many who want
/// one. Who sleeps takes none, and has one at once when it is woken, that of its own process.
class Processor {
public:
    Processor(const ProgressOptions& options, int rank, fabric::sim::Network& network);

    /// The rank works for so long, if nobody else wants the processor.
    void begin(fabric::sim::Time work) noexcept;
    [[nodiscard]] bool is_done() const noexcept { return network_.now() >= done_; }
    /// Something has come, or is due. Answers whether anybody looks at it now; then `end_interrupt`
    /// follows, and what it took is taken from the work.
    [[nodiscard]] bool begin_interrupt() noexcept;
    void end_interrupt() noexcept;
    /// When the rank is to be run next: its work is done, or its thread has a processor.
    [[nodiscard]] fabric::sim::Time next_run() const noexcept;

    [[nodiscard]] std::uint64_t wakes() const noexcept { return wakes_; }

private:
    /// When the polling thread has a processor for the first time from then on.
    [[nodiscard]] fabric::sim::Time polls_from(fabric::sim::Time at) const noexcept;

    fabric::sim::Network& network_;
    int rank_;
    Mover mover_;
    fabric::sim::Time interrupt_;
    fabric::sim::Time slice_;
    fabric::sim::Time offset_ = 0; ///< of its slices
    double share_ = 1;             ///< of a processor, for each who wants one
    bool owed_ = false;            ///< the polling thread has something to look at
    fabric::sim::Time done_ = 0;
    fabric::sim::Time began_ = 0; ///< the interrupt
    std::uint64_t wakes_ = 0;
};

} // namespace sidelight::simulate
