// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/clock.hpp"
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

/// A handler's message is to be answered, and this thread may not have the engine. Helpers hear of
/// it; others that sleep look again within a millisecond.
inline void leave_job(Engine& engine, rma::ActiveJob& job) noexcept
{
    engine.process().leave_active(job);
    job = {};
    engine.fabric().bell().ring();
    engine.fabric().bell().summon();
}

/// As `run_active`, but for what is left.
template <class Token>
bool run_those_that_may(Engine& engine) noexcept
{
    constexpr int most = 64; // then the caller looks at what it waits for
    ActiveAnswers answers;
    rma::ActiveJob job;
    for (int count = 0;;) {
        const bool has_run = job.window != nullptr;
        {
            const Token token(engine);
            if (!token && !has_run) {
                return count != 0;
            }
            if (!token) {
                leave_job(engine, job);
                continue; // whoever had the engine may be out of it
            }
            const bool others = engine.process().finish_left();
            const bool alone = has_run && rma::Process::finish_active(job);
            const bool may_wait = alone && !others;
            if (count == most || !engine.process().take_active(job)) {
                return count != 0;
            }
            if (answers.may_wait_for(job, may_wait)) {
                engine.process().hold_back();
            }
        }
        HandlerCaller caller;
        if (job.more) {
            answers.begin(job, now());
        }
        rma::Process::run_active(job, caller);
        if (job.more) {
            answers.end(job, now());
        } else {
            answers.forget();
        }
        ++count;
    }
}

/// Runs active messages that have their turn, by this thread, which must not hold the engine: a
/// handler may take long. Answers whether there was any. `Token` is how this kind of thread takes
/// the engine: one that is refused behind a handler leaves what is to be told to whoever has the
/// engine next. It may not wait: it may have a lock of the host's, for which that one waits.
template <class Token>
bool run_active(Engine& engine) noexcept
{
    if (!engine.process().has_active() || HandlerCaller::inside()) {
        return false;
    }
    const bool any = run_those_that_may<Token>(engine);
    engine.leave_handlers();
    return any;
}

} // namespace sidelight::runtime
