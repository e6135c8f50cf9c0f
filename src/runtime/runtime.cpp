// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runtime.hpp"

#include "base/settings.hpp"
#include "host/mpi/completed_request.hpp"
#include "host/mpi/progress.hpp"
#include "host/node/cores.hpp"
#include "rma/engine/window_parts.hpp"
#include "runtime/thread_level.hpp"
#include "runtime/tracing.hpp"

namespace sidelight::runtime {

Runtime& Runtime::instance()
{
    const std::scoped_lock lock(making_);
    Runtime* runtime = existing();
    if (runtime == nullptr) {
        runtime = new Runtime;
        existing_.store(runtime, std::memory_order_release);
    }
    return *runtime;
}

Runtime* Runtime::made() noexcept
{
    const std::scoped_lock lock(making_);
    return existing();
}

Runtime::Runtime()
{
    if (threads_possible()) {
        engine_.expect_program_threads();
    } else {
        // A trace has each request by its own name.
        host::mpi::CompletedRequest::keep(settings().trace.empty());
    }
    begin_trace(engine_);
    Helpers::watch_requests();
    waiting_.learn_neighbours(host::node::launched_neighbours());
}

/// The host's turn is the dearest, and few wait for it. What is held back stays mostly: calls that
/// issue operations come by here, too. Handlers call nothing that might run another one, and
/// helpers nothing of the host.
void Runtime::look_around() noexcept
{
    constexpr unsigned looks_for_all = 16;
    if (HandlerCaller::inside() || Engine::is_helper()) {
        return;
    }
    const bool all = passed_by_ / calls_per_look % looks_for_all == 0;
    if (Network::hears_messages() || (all && engine_.process().busy())) {
        waiting_.sweep(all ? rma::Process::Held::leaves : rma::Process::Held::stays);
    }
    if (all) {
        host::mpi::poll_host();
    }
    if (LastAccess::is_repeated()) {
        waiting_.waiter().give_way();
    }
}

bool Runtime::wait_for(MPI_Request handle) noexcept
{
    constexpr int peeks_per_poll = 8; // a peek is a load, a poll sweeps
    const CallNote note(engine_);
    const Attendance attendance(engine_);
    NonblockingRequest* request = nullptr;
    {
        const EngineToken token(engine_);
        request = requests_.claim(handle);
        if (request == nullptr) {
            return false;
        }
        if (!Engine::threaded() && !engine_.process().messages() &&
            request->peek(peeks_per_poll * Waiting::polls())) {
            return requests_.settle(*request);
        }
    }
    const rma::Request& engine_side = *request;
    if (!waiting_.briefly([&] { return engine_side.complete; }) && waiting_.waiter().crowded()) {
        waiting_.until([&] { return engine_side.complete; });
    }
    const EngineToken token(engine_);
    return requests_.settle(*request);
}

Status Runtime::told(const WindowObject& object, Status own) noexcept
{
    rma::EarlyReturn& early = object.window->parts().queue.early();
    return own != Status::ok || !early.failed() ? own : early.take_failure();
}

void Runtime::drain() noexcept
{
    const auto any = [this] {
        const EngineToken token(engine_);
        return engine_.process().early().any();
    };
    if (any()) {
        waiting_.until([this] { return !engine_.process().early().any(); });
    }
}

void Runtime::meet_in_windows() noexcept
{
    waiting_.until([this] {
        bool all = true;
        for (const auto& window : engine_.process().windows()) {
            all &= window->close_at_end();
        }
        return all;
    });
}

void Runtime::learn_threads() noexcept
{
    if (Engine::program_has_threads() || !threads_possible()) {
        return;
    }
    engine_.expect_more_program_threads();
    {
        const EngineToken token(engine_); // no call hands it out
        host::mpi::CompletedRequest::keep(false);
    }
    helpers_.restart(); // the next is told
}

bool Runtime::has_windows() noexcept
{
    const EngineToken token(engine_);
    return !engine_.process().windows().empty();
}

void Runtime::stop(GoesOn rest) noexcept
{
    helpers_.stop_thread();
    if (rest == GoesOn::nothing) {
        helpers_.forget_wish();
        network_.close();
    }
    host::mpi::CompletedRequest::keep(false);
    requests_.complete_found();
    NonblockingRequest* spare = nullptr;
    {
        const EngineToken token(engine_);
        spare = requests_.give_up_spare();
    }
    if (spare != nullptr) {
        spare->abandon();
    }
    Helpers::stop_hook();
    if (rest == GoesOn::sessions && has_windows()) {
        helpers_.start(); // the world's end waits for others, which may need windows of sessions
    }
    settle_trace();
}

} // namespace sidelight::runtime
