// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/channels.hpp"

#include "base/log.hpp"

namespace sidelight::rma {

void Channels::send_framed(Channel& to, std::span<const std::byte> framed,
                           std::span<const std::byte> payload) noexcept
{
    if (to.lost) [[unlikely]] {
        return;
    }
    if (!to.greeted) {
        to.greeted = true;
        farewells_.note_met(to.peer);
    }
    carrier_.note_sent();
    if (const Status status = carrier_.fabric().send(to.peer, framed, payload);
        status != Status::ok) [[unlikely]] {
        log(LogLevel::error, "a message to rank %d cannot be sent (%s): it is lost to this process",
            to.rank, name(status));
        observer_->unreachable(to);
    }
}

} // namespace sidelight::rma
