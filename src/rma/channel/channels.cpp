// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/channels.hpp"

#include <new>

#include "base/log.hpp"

namespace sidelight::rma {

Channels::~Channels()
{
    for (const std::int32_t rank : opened_) {
        channels_[rank]->held.reset();
        channels_[rank]->active.reset();
        carrier_.channels().give_back(channels_[rank]);
    }
}

Channel& Channels::make(int rank, int peer) noexcept
{
    Channel* channel = carrier_.channels().take();
    try {
        if (channel == nullptr) {
            throw std::bad_alloc();
        }
        opened_.push_back(rank);
    } catch (const std::bad_alloc&) {
        log(LogLevel::error, "out of memory for messages to rank %d: it is lost to this process",
            rank);
        if (channel != nullptr) {
            carrier_.channels().give_back(channel);
        }
        channels_[rank] = &nobody_;
        give_up(rank, peer);
        return nobody_;
    }
    *channel = {.rank = rank, .peer = peer};
    channels_[rank] = channel;
    return *channel;
}

/// If that cannot leave either, the fabric ends the connection.
void Channels::turn_away(int peer) noexcept
{
    Framed<LostBody> lost{.body = {.rank = rank_}};
    write_header(lost.header, MessageKind::lost);
    carrier_.note_sent();
    static_cast<void>(carrier_.fabric().send(peer, lost.bytes(), {}));
}

void Channels::give_up(int rank, int peer) noexcept
{
    turn_away(peer);
    if (observer_ != nullptr) {
        observer_->unreachable(rank);
    }
}

void Channels::send_framed(Channel& to, std::span<const std::byte> framed,
                           std::span<const std::byte> payload) noexcept
{
    if (to.lost) [[unlikely]] {
        return;
    }
    if (!to.probed) {
        to.probed = true;
        farewells_.note_met(to.peer);
    }
    carrier_.note_sent();
    if (const Status status = carrier_.fabric().send(to.peer, framed, payload);
        status != Status::ok) [[unlikely]] {
        log(LogLevel::error, "a message to rank %d cannot be sent (%s): it is lost to this process",
            to.rank, name(status));
        observer_->unreachable(to.rank);
    }
}

} // namespace sidelight::rma
