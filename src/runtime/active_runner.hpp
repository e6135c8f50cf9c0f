// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <thread>

#include "rma/engine/active_job.hpp"
#include "runtime/active_answers.hpp"
#include "runtime/active_operations.hpp"
#include "runtime/engine.hpp"

namespace sidelight::runtime {

/// Calls handlers of the program.
class HandlerCaller final : public rma::ActiveCaller {
public:
    void call(const rma::ActiveInvocation& with) noexcept override;

    /// Whether this thread is in a handler: then it may not call MPI.
    [[nodiscard]] static bool inside() noexcept { return inside_ != nullptr; }
    /// The name of that handler; null: there is none.
    [[nodiscard]] static const char* running() noexcept;

    /// While it lives this thread is in a handler.
    class Inside {
    public:
        explicit Inside(const ActiveOperation& operation) noexcept { inside_ = &operation; }
        ~Inside() { inside_ = nullptr; }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
    };

private:
    static inline thread_local const ActiveOperation* inside_ = nullptr;
};

/// Runs active messages that have their turn, by this thread, which must not hold the engine: a
/// handler may take long. Answers whether there was any. `Token` is how this kind of thread takes
/// the engine.
template <class Token>
bool run_active(Engine& engine) noexcept
{
    using Clock = std::chrono::steady_clock;
    constexpr int most = 64; // then the caller looks at what it waits for
    // Whoever has the engine has it for some microseconds; what the kernel refuses stays refused.
    constexpr int few = 1000;
    constexpr std::chrono::milliseconds pause{1};
    if (!engine.process().has_active() || HandlerCaller::inside()) {
        return false;
    }
    ActiveAnswers answers;
    rma::ActiveJob job;
    int refusals = 0;
    for (int count = 0;;) {
        const bool has_run = job.window != nullptr;
        {
            const Token token(engine);
            if (!token && has_run) { // it is to be answered
                std::this_thread::sleep_for(++refusals > few ? pause : pause.zero());
                continue;
            }
            const bool may_wait = has_run && rma::Process::finish_active(job);
            if (!token || count == most || !engine.process().take_active(job)) {
                return count != 0;
            }
            if (answers.may_wait_for(job, may_wait)) {
                engine.process().hold_back();
            }
        }
        HandlerCaller caller;
        if (job.more) {
            answers.begin(job, Clock::now());
        }
        rma::Process::run_active(job, caller);
        if (job.more) {
            answers.end(job, Clock::now());
        } else {
            answers.forget();
        }
        ++count;
    }
}

} // namespace sidelight::runtime
