// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "rma/process.hpp"
#include "rma/window.hpp"

/// Pieces of operations that bring nothing back have no answers of their own: the target counts
/// those that it has performed, and says how many when it is asked. Both sides count alike, since
/// they come in order. Who waits for completion at the target asks.
namespace sidelight::rma {

namespace {

/// Unanswered pieces of which the target is asked at the latest, so that more may be sent.
constexpr std::uint32_t asked_by_itself = 128;

} // namespace

/// Whether it has said so of the piece with that number.
bool Window::has_performed(const Target& target, std::uint32_t piece) noexcept
{
    return static_cast<std::int32_t>(target.pieces_performed - piece) >= 0;
}

/// A piece without an answer of its own is about to be sent. The first one asks, so that whoever
/// waits for it has no need to; others leave that to those who wait. Nobody waits for those of an
/// access epoch.
void Window::count_piece(Flight& flight, Target& target, MessageHeader& header) noexcept
{
    flight.last_piece = ++target.pieces_sent;
    flight.counted = true;
    const bool nothing_asked = target.pieces_asked == target.pieces_performed;
    const bool waited_for = flight.op->epoch->kind != EpochKind::access;
    if ((nothing_asked && waited_for) ||
        target.pieces_sent - target.pieces_asked >= asked_by_itself) {
        target.pieces_asked = target.pieces_sent;
        header.number = 1;
    } else if (!std::exchange(target.in_unasked, true)) {
        target.next_unasked = first_unasked_;
        first_unasked_ = flight.op->operation.target + 1;
    }
}

/// Somebody waits for completion at the targets.
void Window::ask_all() noexcept
{
    while (first_unasked_ != 0) {
        const int rank = first_unasked_ - 1;
        Target& target = targets_[rank];
        first_unasked_ = target.next_unasked;
        target.in_unasked = false;
        if (target.pieces_asked != target.pieces_sent) {
            target.pieces_asked = target.pieces_sent;
            MessageHeader header;
            header.kind = MessageKind::ask;
            send(rank, header);
        }
    }
}

/// The target has performed so many pieces.
void Window::take_performed(const MessageHeader& header) noexcept
{
    Target& target = targets_[static_cast<int>(header.origin)];
    const std::uint32_t more = static_cast<std::uint32_t>(header.number) - target.pieces_performed;
    if (more > target.pieces_sent - target.pieces_performed) {
        return;
    }
    target.pieces_performed += more;
    target.in_flight -= more;
    while (!target.counted.empty() && has_performed(target, target.counted.front()->last_piece)) {
        Flight& flight = *target.counted.pop();
        flight.counted = false;
        answer_complete(flight);
    }
    launch_more(target);
}

/// A piece of an origin's was performed here, or will not be.
void Window::count_performed(const MessageHeader& asked, Status status) noexcept
{
    const auto origin = static_cast<int>(asked.origin);
    if (status != Status::ok) {
        MessageHeader header = answer_to(asked, MessageKind::refused);
        header.flag = static_cast<std::uint8_t>(status);
        header.number = 1;
        send(origin, header);
    }
    ++targets_[origin].pieces_taken;
    if (asked.number != 0) {
        owe(origin);
    }
}

/// The origin is told at the end of the sweep.
void Window::owe(int origin) noexcept
{
    Target& owed = targets_[origin];
    if (!std::exchange(owed.in_owed, true)) {
        owed.next_owed = first_owed_;
        first_owed_ = origin + 1;
        update_busy();
    }
}

bool Window::tell_owed() noexcept
{
    const bool any = first_owed_ != 0;
    while (first_owed_ != 0) {
        const int rank = first_owed_ - 1;
        Target& owed = targets_[rank];
        first_owed_ = owed.next_owed;
        owed.in_owed = false;
        MessageHeader header;
        header.kind = MessageKind::performed;
        header.number = owed.pieces_taken;
        send(rank, header);
    }
    if (any) {
        update_busy();
    }
    return any;
}

} // namespace sidelight::rma
