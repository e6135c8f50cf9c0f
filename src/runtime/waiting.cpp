// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/waiting.hpp"

namespace sidelight::runtime {

void Waiting::learn_neighbours(int ranks) noexcept
{
    waiter_.learn_neighbours(ranks);
    if (waiter_.crowded()) {
        constexpr int polls_crowded = 2;
        polls_ = polls_crowded;
        engine_.expect_crowd();
    }
}

void Waiting::sweep(rma::Process::Held held) noexcept
{
    {
        const EngineToken token(engine_);
        if (engine_.process().busy()) {
            engine_.process().progress(held);
        }
    }
    run_active<EngineToken>(engine_);
}

void Waiting::sweep_for_all() noexcept
{
    for (int polls = 0; polls < fabric::Fabric::polls_for_all; ++polls) {
        sweep();
    }
}

/// With other threads, whoever completes the request rings for the one that waits.
void Waiting::wait(BlockingRequest& request) noexcept
{
    const bool threaded = Engine::threaded();
    if (threaded) {
        const EngineToken token(engine_);
        request.waiter = &waiter_;
        request.on_complete = [](rma::Request& of) noexcept {
            static_cast<BlockingRequest&>(of).waiter->rouse();
        };
    }
    until([&] { return request.complete; }, threaded ? nullptr : engine_.process().barrier_bell());
}

namespace {

bool sweep_of(void* context) noexcept { return (*static_cast<bool (**)() noexcept>(context))(); }

} // namespace

void Waiting::pause(bool (*host_sweep)() noexcept, bool moved) noexcept
{
    waiter_.pause(moved, sweep_of, &host_sweep);
}

void Waiting::pause_in_loop(host::node::LoopPause& loop, bool (*host_sweep)() noexcept,
                            bool moved) noexcept
{
    // With several threads the host may hold a lock in its loop, for which the others would wait.
    loop.leave(waiter_, moved, !Engine::program_has_threads(), sweep_of, &host_sweep);
}

} // namespace sidelight::runtime
