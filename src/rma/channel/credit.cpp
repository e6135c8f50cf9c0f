// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/credit.hpp"

#include <algorithm>
#include <utility>

namespace sidelight::rma {

void Credit::use(Channel& target, std::size_t bytes) const noexcept
{
    target.large_in_flight =
        (target.in_flight++ != 0 && target.large_in_flight) || bytes > limits_.small;
}

bool Credit::is_left(const Channel& target) const noexcept
{
    return target.in_flight < most(target);
}

bool Credit::acknowledged(const Channel& target, std::uint32_t fragment) noexcept
{
    return static_cast<std::int32_t>(target.acknowledged - fragment) >= 0;
}

/// The first operation asks, with its last fragment, so that whoever waits for it has no need to;
/// others leave that to those who wait, but for those that a request of their own waits for: what
/// comes last of such a one may have an answer of its own. Else nobody waits for those of an access
/// epoch, and hardly anybody for what tells its target that it is there.
bool Credit::count(Flight& flight, bool last) noexcept
{
    Channel& target = *flight.channel;
    flight.last_fragment = ++target.fragments_sent;
    flight.unacknowledged = true;
    const bool nothing_requested = acknowledged(target, target.requested);
    const bool tells = notifies(flight.op->operation);
    if ((last && nothing_requested && flight.op->awaited && !tells) ||
        has_remote_request(*flight.op) ||
        target.fragments_sent - target.requested >= limits_.unasked) {
        target.requested = target.fragments_sent;
        return true;
    }
    target.unawaited += tells ? 1 : 0;
    if (!std::exchange(target.in_unrequested, true)) {
        target.next_unrequested = unrequested_;
        unrequested_ = &target;
    }
    return false;
}

void Credit::request_all() noexcept
{
    while (unrequested_ != nullptr) {
        Channel& target = *unrequested_;
        unrequested_ = target.next_unrequested;
        target.in_unrequested = false;
        request(target);
    }
}

bool Credit::request(Channel& target) noexcept
{
    const bool asks = ask_along(target);
    if (asks) {
        channels_.send(target, MessageKind::acknowledgement_request);
    }
    return asks;
}

bool Credit::ask_along(Channel& target) noexcept
{
    return std::exchange(target.requested, target.fragments_sent) != target.fragments_sent;
}

bool Credit::take(Channel& target, std::uint32_t fragments) noexcept
{
    const std::uint32_t more = fragments - target.acknowledged;
    if (more > target.fragments_sent - target.acknowledged) {
        return false;
    }
    target.acknowledged += more;
    target.in_flight -= more;
    target.unawaited = std::min(target.unawaited, target.in_flight);
    return true;
}

void Credit::owe(Channel& origin) noexcept
{
    if (!std::exchange(origin.in_owed, true)) {
        origin.next_owed = owed_;
        owed_ = &origin;
        attention_.set(Reason::acknowledgement, true);
    }
}

bool Credit::tell_owed() noexcept
{
    if (owed_ == nullptr) {
        return false;
    }
    while (owed_ != nullptr) {
        Channel& origin = *owed_;
        owed_ = origin.next_owed;
        origin.in_owed = false;
        channels_.send(origin, MessageKind::acknowledgement,
                       AcknowledgementBody{.fragments = origin.fragments_taken});
    }
    attention_.set(Reason::acknowledgement, false);
    return true;
}

} // namespace sidelight::rma
