// SPDX-License-Identifier: BSD-3-Clause
#include "rma/process.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.hpp"

namespace sidelight::rma {

Window& Process::create_window(const WindowShape& shape)
{
    auto window = std::make_unique<Window>(*this, shape);
    by_id_.emplace(window->id(), window.get());
    windows_.push_back(std::move(window));
    return *windows_.back();
}

void Process::destroy_window(Window& window) noexcept
{
    if (window.broken()) {
        window.leave_broken();
        left_.emplace(window.id(), window.rank());
    }
    by_id_.erase(window.id());
    latest_ = nullptr;
    std::erase_if(windows_, [&](const auto& owned) { return owned.get() == &window; });
}

void Process::set_threaded(bool threaded) noexcept
{
    threaded_ = threaded;
    for (const auto& window : windows_) {
        if (threaded) {
            window->expect_threads();
        }
    }
}

bool Process::progress() noexcept
{
    bool moved = messages() && fabric_.poll(*this);
    for (Window* window = busy_windows_.front(); window != nullptr;) {
        Window* next = decltype(busy_windows_)::after(*window);
        moved |= window->progress();
        window = next;
    }
    if (held_) {
        push_all();
    }
    return moved;
}

Doorbell* Process::barrier_bell() noexcept
{
    Window* window = busy_windows_.front();
    const bool only = window != nullptr && !messages_ &&
                      decltype(busy_windows_)::after(*window) == nullptr &&
                      window->waits_at_barrier_only();
    return only ? &window->barrier_.shape().word->bell : nullptr;
}

/// The window that a message names; null for what is no message of ours, or comes for a window that
/// has been freed.
Window* Process::window_of(std::span<const std::byte> message, MessageHeader& header) noexcept
{
    if (message.size() < sizeof header) {
        return nullptr;
    }
    std::memcpy(&header, message.data(), sizeof header);
    if (latest_ != nullptr && latest_->id() == header.window) {
        return latest_;
    }
    const auto found = by_id_.find(header.window);
    if (found == by_id_.end()) {
        return nullptr;
    }
    latest_ = found->second;
    return latest_;
}

void Process::receive(int from, std::span<const std::byte> message) noexcept
{
    Message taken;
    if (Window* window = window_of(message, taken.header); window != nullptr) {
        taken.payload = message.subspan(sizeof taken.header);
        window->receive(from, taken);
    } else if (message.size() >= sizeof taken.header && taken.header.window == 0) {
        receive_from_process(from, taken.header);
    } else if (message.size() >= sizeof taken.header) {
        tell_left(from, taken.header);
    }
}

std::byte* Process::place(int from, std::span<const std::byte> message, std::size_t bytes) noexcept
{
    MessageHeader header;
    Window* window = window_of(message, header);
    if (window == nullptr && message.size() >= sizeof header) {
        tell_left(from, header);
    }
    return window != nullptr ? window->place(from, header, bytes) : nullptr;
}

void Process::placed(int /*from*/, std::span<const std::byte> message, std::size_t bytes) noexcept
{
    MessageHeader header;
    if (Window* window = window_of(message, header); window != nullptr) {
        window->placed(header, bytes);
    }
}

/// Who has said farewell has freed all its windows: others that are still in the last barrier of
/// one lose nothing with it. It may come back (a program may start MPI again, with sessions).
void Process::lost(int peer) noexcept
{
    awaited_.erase(peer);
    if (departed_.erase(peer) != 0) {
        return;
    }
    try {
        lost_peers_.insert(peer);
    } catch (const std::bad_alloc&) {
        log(LogLevel::error, "out of memory: windows made later wait for peer %d", peer);
    }
    for (const auto& window : windows_) {
        window->lose_peer(peer);
    }
}

/// Without memory for the note, closing does not wait for that peer.
void Process::note_met(int peer) noexcept
{
    departed_.erase(peer); // it has come back
    try {
        met_.insert(peer);
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "out of memory: messages to peer %d may be lost at the end", peer);
    }
}

void Process::note_departed(int peer) noexcept
{
    try {
        departed_.insert(peer);
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "out of memory: peer %d will be lost when it ends", peer);
    }
}

/// A message that cannot leave is waited for in vain by its receiver, which is lost then, and no
/// message comes there any more that would have been behind it.
Status Process::send(int peer, const MessageHeader& header,
                     std::span<const std::byte> payload) noexcept
{
    note_sent();
    const Status status = fabric_.send(peer, std::as_bytes(std::span(&header, 1)), payload);
    if (status != Status::ok) [[unlikely]] {
        log(LogLevel::error, "a message to peer %d cannot be sent; that peer counts as lost: %s",
            peer, status == Status::no_memory ? "out of memory" : "no network");
        lost(peer);
    }
    return status;
}

Status Process::send_to_process(int peer, MessageKind kind) noexcept
{
    MessageHeader header;
    header.kind = kind;
    note_sent();
    return fabric_.send(peer, std::as_bytes(std::span(&header, 1)), {});
}

void Process::say_farewell() noexcept
{
    awaited_ = std::exchange(met_, {});
    std::erase_if(awaited_, [this](int peer) {
        return lost_peers_.contains(peer) || departed_.contains(peer);
    });
    std::erase_if(awaited_, [this](int peer) {
        return send_to_process(peer, MessageKind::farewell) != Status::ok;
    });
    push();
}

/// Messages of one peer come in order: an answer says that everything before the question is here.
void Process::receive_from_process(int from, const MessageHeader& header) noexcept
{
    if (header.kind == MessageKind::farewell) {
        note_departed(from);
        awaited_.erase(from); // it needs nothing any more, and may be gone before it answers
        static_cast<void>(send_to_process(from, MessageKind::farewell_answer));
    } else if (header.kind == MessageKind::farewell_answer) {
        awaited_.erase(from);
    }
}

/// This member has left a window that others still work in: it is lost to them.
void Process::tell_left(int to, const MessageHeader& asked) noexcept
{
    const auto found = left_.find(asked.window);
    if (found == left_.end() || asked.kind == MessageKind::lost) {
        return;
    }
    MessageHeader header;
    header.kind = MessageKind::lost;
    header.window = asked.window;
    header.origin = static_cast<std::uint32_t>(found->second);
    header.number = header.origin;
    static_cast<void>(send(to, header));
}

} // namespace sidelight::rma
