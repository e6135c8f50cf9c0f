// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/network.hpp"

#include <chrono>
#include <utility>

#include "host/mpi/progress.hpp"

namespace sidelight::runtime {

void Network::hear_messages(bool messages) noexcept
{
    engine_.process().set_messages(messages);
    hears_messages_.store(messages, std::memory_order_relaxed);
}

bool Network::open()
{
    const bool open = engine_.fabric().open_network();
    if (open) {
        hear_messages(true);
    }
    if (open && !std::exchange(heard_, true)) {
        waiting_.waiter().listen_to(
            {.descriptor = engine_.fabric().network()->event_fd(), .arm = arm, .context = this});
    }
    return open;
}

/// Who may not have the engine sleeps unarmed: a helper, or a thread in the host's loop, for which
/// whoever has it may wait. Nor does a helper sleep on handlers that have come in while it let go
/// of the engine.
Arming Network::arm(void* self) noexcept
{
    Engine& engine = static_cast<Network*>(self)->engine_;
    if (Engine::is_helper()) {
        const bool had_active = engine.process().has_active();
        const Arming arming = [&engine] {
            const HelperToken token(engine);
            return token ? engine.fabric().arm() : Arming::unarmed;
        }();
        const bool has_come = !had_active && engine.process().has_active();
        return arming != Arming::refused && has_come ? Arming::news : arming;
    }
    if (host::mpi::is_in_hook()) {
        if (!engine.lock().try_acquire()) {
            return Arming::unarmed;
        }
        const Arming arming = engine.fabric().arm();
        engine.lock().release();
        return arming;
    }
    const EngineToken token(engine);
    return engine.fabric().arm();
}

/// Everything has been answered by then, as all members of all windows have come to their end; what
/// has been sent last still has to leave.
void Network::close() noexcept
{
    constexpr std::chrono::seconds limit{2};
    if (engine_.fabric().network() != nullptr) {
        part_from_peers();
    }
    waiting_.waiter().stop_listening();
    const EngineToken token(engine_);
    engine_.fabric().close_network(engine_.process(), limit);
    hear_messages(false);
    heard_ = false;
}

/// A connection that is closed too early takes with it what the peer has not read yet. Who needs
/// that is in the last barrier of a window, and answers; who computes needs nothing, and may come
/// late or, if it has disconnected, not at all.
void Network::part_from_peers() noexcept
{
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds limit{2};
    const Clock::time_point end = Clock::now() + limit;
    {
        const EngineToken token(engine_);
        engine_.process().say_farewell();
    }
    waiting_.until([&] { return engine_.process().has_parted() || Clock::now() > end; });
}

} // namespace sidelight::runtime
