// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "rma/active/rules.hpp"
#include "rma/engine/active_job.hpp"

namespace sidelight::runtime {

/// When the answers leave that a thread makes one after the other. On a network each sending is a
/// system call on both sides, so while handlers are short the answers to one origin leave together.
/// What a call is to take is known from the one before: as much for each element. Times are handed
/// in.
class ActiveAnswers {
public:
    /// How long a handler may take that is called short, and an answer wait for others.
    static constexpr std::chrono::microseconds short_handler{40};
    static constexpr std::chrono::microseconds longest_wait{100};

    /// Around each call of a handler that something may follow.
    void begin(const rma::ActiveJob& job, Time now) noexcept
    {
        began_ = now;
        waits_since_ = waits_ ? waits_since_ : now;
        from_ = job.from;
    }
    void end(const rma::ActiveJob& job, Time now) noexcept
    {
        ended_ = now;
        latest_ = job.invocation.handler;
        latest_size_ = size_of(job);
    }
    /// A handler was called with nothing behind it.
    void forget() noexcept { from_ = nullptr; }
    /// Whether the answer to the latest call, if that is all there is, waits for that one's.
    [[nodiscard]] bool may_wait_for(const rma::ActiveJob& next, bool is_all) noexcept
    {
        waits_ = rma::rules::active_answer_may_wait(
            is_all && from_ != nullptr && next.from == from_, is_short(next),
            ended_ - waits_since_ > longest_wait);
        return waits_;
    }

private:
    /// Elements that a handler gets.
    static double size_of(const rma::ActiveJob& job) noexcept
    {
        const rma::ActiveInvocation& with = job.invocation;
        return static_cast<double>(with.segments) *
                   static_cast<double>(with.input_count + with.output_count + 1) +
               static_cast<double>(with.persistent_count) + 1;
    }
    [[nodiscard]] bool is_short(const rma::ActiveJob& next) const noexcept
    {
        const std::chrono::duration<double> took = ended_ - began_;
        return next.invocation.handler == latest_ &&
               took * std::max(size_of(next) / latest_size_, 1.0) <= short_handler;
    }

    const void* latest_ = nullptr; ///< handler
    double latest_size_ = 1;
    Time began_{};
    Time ended_{};
    Time waits_since_{};
    const rma::Channel* from_ = nullptr; ///< the origin of the latest call
    bool waits_ = false;
};

} // namespace sidelight::runtime
