// SPDX-License-Identifier: BSD-3-Clause
#include "rank_processor.hpp"

#include <algorithm>

namespace sidelight::simulate {

using fabric::sim::Time;

Processor::Processor(const ProgressOptions& options, int rank, fabric::sim::Network& network)
    : network_(network),
      rank_(rank),
      mover_(options.mover),
      interrupt_(options.machine.interrupt),
      slice_(options.machine.slice)
{
    const int ranks = options.ranks / 2; // of a node
    const int wanted = options.mover == Mover::polling ? 2 * ranks : ranks;
    const int processors = options.processors != 0 ? options.processors : ranks;
    share_ = std::min(1.0, static_cast<double>(processors) / wanted);
    offset_ = network.random().below(2 * slice_);
}

void Processor::begin(Time work) noexcept
{
    done_ = network_.now() + static_cast<Time>(static_cast<double>(work) / share_);
    owed_ = false;
}

bool Processor::begin_interrupt() noexcept
{
    fabric::sim::Endpoint& card = network_.endpoint(rank_);
    Interest& interest = card.interest();
    const bool message = card.has_arrivals();
    switch (mover_) {
    case Mover::nobody:
        return false;
    case Mover::polling:
        owed_ = true;
        if (polls_from(network_.now()) > network_.now()) {
            return false;
        }
        break;
    case Mover::interrupts:
        if (!message && !interest.is_called()) {
            return false;
        }
        ++wakes_;
        break;
    }
    began_ = network_.now();
    if (mover_ == Mover::interrupts) {
        network_.spend(interrupt_);
    }
    interest.enter();
    interest.answer_call();
    static_cast<void>(interest.leave_as_it_is());
    owed_ = false;
    return true;
}

/// A polling thread with a processor of its own, or in its own slice, takes nothing from the work.
void Processor::end_interrupt() noexcept
{
    if (mover_ == Mover::interrupts) {
        done_ += network_.now() - began_;
    }
}

Time Processor::next_run() const noexcept
{
    return owed_ ? std::min(done_, polls_from(network_.now())) : done_;
}

/// Of two slices in turn it has the second one.
Time Processor::polls_from(Time at) const noexcept
{
    if (share_ >= 1) {
        return at;
    }
    const Time within = (at + offset_) % (2 * slice_);
    return within >= slice_ ? at : at + (slice_ - within);
}

} // namespace sidelight::simulate
