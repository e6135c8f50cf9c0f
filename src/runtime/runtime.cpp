// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runtime.hpp"

#include <mutex>

#include "host/node/cores.hpp"
#include "runtime/thread_level.hpp"
#include "runtime/tracing.hpp"

namespace sidelight::runtime {

Runtime& Runtime::instance()
{
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    Runtime* runtime = existing();
    if (runtime == nullptr) {
        runtime = new Runtime;
        existing_.store(runtime, std::memory_order_release);
    }
    return *runtime;
}

Runtime::Runtime()
{
    if (threads_possible()) {
        engine_.expect_program_threads();
    }
    begin_trace(engine_);
    Helpers::watch_requests();
    waiting_.learn_neighbours(host::node::launched_neighbours());
}

void Runtime::stop(bool for_good) noexcept
{
    helpers_.stop_thread();
    if (for_good) {
        network_.close();
    }
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
    settle_trace();
}

} // namespace sidelight::runtime
