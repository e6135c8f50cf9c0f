// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/credit.hpp"

#include <utility>

namespace sidelight::rma {

namespace {

/// What is small counts by its header.
constexpr std::size_t small_bytes = 512;

/// Fragments sent to one target and not answered, at most: 4 MB at a time, or 2 and a bit. What is
/// more waits at the origin.
constexpr std::uint32_t most_in_flight(const Channel& target) noexcept
{
    return target.large_in_flight ? 512 : 4096;
}

/// Fragments without an acknowledgement asked for, at most. Fewer than may be in flight, whatever
/// they are: what waits for others to be answered is never waiting for who would ask.
constexpr std::uint32_t requested_by_itself = 128;

} // namespace

void Credit::note_bytes(Channel& target, std::size_t bytes) noexcept
{
    target.large_in_flight = target.large_in_flight || bytes > small_bytes;
}

bool Credit::is_left(const Channel& target) noexcept
{
    return target.in_flight < most_in_flight(target);
}

bool Credit::acknowledged(const Channel& target, std::uint32_t fragment) noexcept
{
    return static_cast<std::int32_t>(target.acknowledged - fragment) >= 0;
}

/// The first one asks, so that whoever waits for it has no need to; others leave that to those who
/// wait, but for those that a request of their own waits for. Else nobody waits for those of an
/// access epoch.
bool Credit::count(Flight& flight) noexcept
{
    Channel& target = *flight.channel;
    flight.last_fragment = ++target.fragments_sent;
    flight.unacknowledged = true;
    const bool nothing_requested = target.requested == target.acknowledged;
    if ((nothing_requested && flight.op->awaited) || has_remote_request(*flight.op) ||
        target.fragments_sent - target.requested >= requested_by_itself) {
        target.requested = target.fragments_sent;
        return true;
    }
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
        if (ask_along(target)) {
            channels_.send(target, MessageKind::acknowledgement_request);
        }
    }
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
