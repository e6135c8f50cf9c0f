// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/process.hpp"

#include <cstring>
#include <new>

#include "base/log.hpp"
#include "rma/engine/window_parts.hpp"
#include "rma/epoch/wanted.hpp"

namespace sidelight::rma {

Window& Process::create_window(const WindowShape& shape)
{
    auto window = std::make_unique<Window>(shared_, shape);
    window->expect_threads(sweeps_, many_threads_);
    Window& made = *window;
    windows_.push_back(std::move(window));
    try {
        by_id_.emplace(made.id(), &made);
    } catch (const std::bad_alloc&) {
        windows_.pop_back();
        throw;
    }
    return made;
}

void Process::destroy_window(Window& window) noexcept
{
    if (window.broken()) {
        window.parts().losses.leave_broken();
        note_left(window);
    }
    by_id_.erase(window.id());
    latest_ = nullptr;
    std::erase_if(windows_, [&](const auto& owned) { return owned.get() == &window; });
}

void Process::note_left(const Window& window) noexcept
{
    try {
        left_.emplace(window.id(), window.rank());
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn,
            "out of memory: who asks for window %llx later is not told that it is gone",
            static_cast<unsigned long long>(window.id()));
    }
}

void Process::expect_threads(bool sweeps, bool many) noexcept
{
    sweeps_ = sweeps;
    many_threads_ = many;
    for (const auto& window : windows_) {
        window->expect_threads(sweeps, many);
    }
}

bool Process::progress(Held held) noexcept
{
    bool moved = messages() && shared_.carrier.fabric().poll(*this);
    moved |= finish_left();
    const std::uint64_t oldest = shared_.early.oldest();
    moved |= sweep_windows();
    if (shared_.early.oldest() != oldest) [[unlikely]] {
        sweep_windows(); // locks of other windows may have waited for it
    }
    if (held == Held::leaves) {
        shared_.carrier.push_held();
    } else {
        shared_.carrier.push();
    }
    if (moved && shared_.latest_trace) [[unlikely]] {
        shared_.latest_trace.recorder->note({.event = trace::Event::moved});
    }
    return moved;
}

bool Process::sweep_windows() noexcept
{
    bool moved = false;
    for (Window* window = shared_.busy.front(); window != nullptr;) {
        Window* next = shared_.busy.after(*window);
        moved |= window->progress();
        window = next;
    }
    return moved;
}

Wanted Process::wanted() noexcept
{
    WantedEvents all(messages());
    for (Window* window = shared_.busy.front(); window != nullptr;
         window = shared_.busy.after(*window)) {
        if (window->parts().surroundings.calls_for_events) {
            all.add(window->parts().queue, window->parts().surroundings);
        }
    }
    return all.wanted();
}

Doorbell* Process::barrier_bell() noexcept
{
    Window* window = shared_.busy.front();
    const bool only = window != nullptr && !messages() && shared_.busy.after(*window) == nullptr;
    return only ? window->barrier_bell() : nullptr;
}

/// The window that a message names; null for what is no message of ours, or comes for a window that
/// is closed or destroyed: its memory may be the program's again at any time.
Window* Process::window_of(std::span<const std::byte> bytes, Message& message) noexcept
{
    if (bytes.size() < sizeof message.header) {
        return nullptr;
    }
    std::memcpy(&message.header, bytes.data(), sizeof message.header);
    message.rest = bytes.subspan(sizeof message.header);
    if (latest_ == nullptr || latest_->id() != message.header.window) {
        const auto found = by_id_.find(message.header.window);
        if (found == by_id_.end()) {
            return nullptr;
        }
        latest_ = found->second;
    }
    return latest_->parts().queue.closed() ? nullptr : latest_;
}

void Process::receive(int from, std::span<const std::byte> bytes) noexcept
{
    Message message;
    if (Window* window = window_of(bytes, message); window != nullptr) {
        window->parts().dispatch.receive(from, message);
    } else if (bytes.size() >= sizeof message.header && message.header.window == 0) {
        shared_.farewells.receive(from, message.header.kind);
    } else if (bytes.size() >= sizeof message.header) {
        tell_left(from, message.header);
    }
}

std::byte* Process::place(int from, std::span<const std::byte> header, std::size_t bytes) noexcept
{
    Message message;
    Window* window = window_of(header, message);
    if (window == nullptr && header.size() >= sizeof message.header) {
        tell_left(from, message.header);
    }
    return window != nullptr ? window->parts().dispatch.place(from, message, bytes) : nullptr;
}

void Process::placed(int /*from*/, std::span<const std::byte> header, std::size_t bytes) noexcept
{
    Message message;
    if (Window* window = window_of(header, message); window != nullptr) {
        window->parts().dispatch.placed(message, bytes);
    }
}

void Process::lost(int peer) noexcept
{
    if (shared_.farewells.lose(peer)) {
        for (const auto& window : windows_) {
            window->parts().losses.lose_peer(peer);
        }
    }
}

/// The rank that this process had in a broken window that it has closed; -1: it has closed none of
/// that name.
int Process::left_as(std::uint64_t window) const noexcept
{
    if (const auto closed = by_id_.find(window); closed != by_id_.end()) {
        return closed->second->broken() ? closed->second->rank() : -1;
    }
    const auto left = left_.find(window);
    return left != left_.end() ? left->second : -1;
}

/// This member has left a window that others still work in: it is lost to them.
void Process::tell_left(int to, const MessageHeader& asked) noexcept
{
    const int rank = left_as(asked.window);
    if (rank < 0 || asked.kind == MessageKind::lost) {
        return;
    }
    const Framed<LostBody> lost{.header = {.kind = MessageKind::lost,
                                           .origin = static_cast<std::uint32_t>(rank),
                                           .window = asked.window},
                                .body = {.rank = rank}};
    shared_.carrier.note_sent();
    // Whoever cannot be told waits until the fabric says that this process is gone.
    static_cast<void>(shared_.carrier.fabric().send(to, lost.bytes(), {}));
}

} // namespace sidelight::rma
