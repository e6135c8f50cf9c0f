// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "rma/active/rules.hpp"
#include "rma/engine/active_job.hpp"

namespace sidelight::runtime {

/// When the answers leave that a thread makes one after the other. On a network each sending is a
/// system call on both sides, so while handlers are short the answers to one origin leave together.
/// Times are handed in.
class ActiveAnswers {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// How long a handler may take that is called short, and an answer wait for others.
    static constexpr std::chrono::microseconds short_handler{40};
    static constexpr std::chrono::microseconds longest_wait{100};

    /// Around each call of a handler.
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
        latest_is_short_ = ended_ - began_ <= short_handler;
    }
    /// Whether the answer to the latest call waits for that one's.
    [[nodiscard]] bool may_wait_for(const rma::ActiveJob& next) noexcept
    {
        waits_ = rma::rules::active_answer_may_wait(from_ != nullptr && next.from == from_,
                                                    latest_is_short_ &&
                                                        next.invocation.handler == latest_,
                                                    ended_ - waits_since_ > longest_wait);
        return waits_;
    }

private:
    const void* latest_ = nullptr; ///< handler
    bool latest_is_short_ = false;
    Time began_{};
    Time ended_{};
    Time waits_since_{};
    const rma::Channel* from_ = nullptr; ///< the origin of the latest call
    bool waits_ = false;
};

} // namespace sidelight::runtime
