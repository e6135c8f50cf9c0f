// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/farewells.hpp"

#include <new>
#include <utility>

#include "base/log.hpp"

namespace sidelight::rma {

void Farewells::note_met(int peer) noexcept
{
    departed_.erase(peer); // it has come back
    try {
        met_.insert(peer);
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "out of memory: messages to peer %d may be lost at the end", peer);
    }
}

void Farewells::note_departed(int peer) noexcept
{
    try {
        departed_.insert(peer);
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "out of memory: peer %d will be lost when it ends", peer);
    }
}

bool Farewells::send(int peer, MessageKind kind) noexcept
{
    const MessageHeader header{.kind = kind};
    carrier_.note_sent();
    return carrier_.fabric().send(peer, std::as_bytes(std::span(&header, 1)), {}) == Status::ok;
}

/// A peer that cannot be sent this is not waited for.
void Farewells::say() noexcept
{
    awaited_ = std::exchange(met_, {});
    std::erase_if(awaited_, [this](int peer) {
        return lost_.contains(peer) || departed_.contains(peer) ||
               !send(peer, MessageKind::farewell);
    });
    carrier_.push();
}

/// Messages of one peer come in order: an answer says that everything before the question is here.
void Farewells::receive(int from, MessageKind kind) noexcept
{
    if (kind == MessageKind::farewell) {
        note_departed(from);
        awaited_.erase(from); // it needs nothing any more, and may be gone before it answers
        static_cast<void>(send(from, MessageKind::farewell_answer)); // else it waits for less
    } else if (kind == MessageKind::farewell_answer) {
        awaited_.erase(from);
    }
}

bool Farewells::lose(int peer) noexcept
{
    awaited_.erase(peer);
    met_.erase(peer); // it will not answer
    if (departed_.erase(peer) != 0) {
        return false;
    }
    try {
        lost_.insert(peer);
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "out of memory: windows to come do not know that peer %d is lost",
            peer);
    }
    return true;
}

} // namespace sidelight::rma
