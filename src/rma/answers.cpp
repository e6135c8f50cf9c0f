// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <utility>

#include "rma/process.hpp"
#include "rma/window.hpp"

/// The emulated route, at the origin: what the target answers. An answer is believed as far as it
/// fits: one that names no operation towards its sender changes nothing, and one that brings other
/// data than were asked for ends its operation with an error.
namespace sidelight::rma {

using datatype::Buffer;
using datatype::Cursor;

namespace {

void scatter(Cursor& to, std::span<const std::byte> from) noexcept
{
    while (!from.empty() && !to.at_end()) {
        const datatype::Piece piece = to.piece();
        const std::size_t length = std::min(from.size(), piece.length);
        std::memcpy(piece.address, from.data(), length);
        to.advance(length);
        from = from.subspan(length);
    }
}

/// Why a piece was not performed, as far as the target's word for it is one.
Status reason_of(const MessageHeader& header) noexcept
{
    const bool known = header.flag != static_cast<std::uint8_t>(Status::ok) &&
                       header.flag <= static_cast<std::uint8_t>(Status::other);
    return known ? static_cast<Status>(header.flag) : Status::other;
}

} // namespace

/// A piece was not performed.
void Window::refuse(Flight& flight, Status status) noexcept
{
    flight.status = flight.status == Status::ok ? status : flight.status;
    piece_answered(flight);
}

/// One piece less is under way. The flight may be gone on return.
void Window::piece_answered(Flight& flight) noexcept
{
    --flight.replies;
    --targets_[flight.op->operation.target].in_flight;
    answer_complete(flight);
}

/// Completes what the answers so far complete. The flight may be gone on return.
void Window::answer_complete(Flight& flight) noexcept
{
    Op& op = *flight.op;
    if (!flight.launched || flight.sends != 0 || flight.placing != 0) {
        return;
    }
    const bool all = flight.replies == 0 && !flight.counted;
    const bool returns = returned_to(op.operation) != nullptr;
    if (all && returns && flight.status == Status::ok && flight.received != flight.position) {
        flight.status = Status::other;
    }
    if (all && flight.status != Status::ok) {
        note_failure(op, std::exchange(flight.status, Status::ok));
    }
    if (!op.locally_complete && (all || !returns)) {
        local_complete(op);
    }
    if (all) {
        process_.flights_.give_back(flight);
        remote_complete(op);
    }
}

/// The flight that an answer names, if it is one of this window towards the sender.
Flight* Window::flight_of(const MessageHeader& header) noexcept
{
    Flight* flight = process_.flights_.find(header.cookie);
    const bool right = flight != nullptr && flight->op->window == this &&
                       (flight->replies != 0 || flight->counted) &&
                       flight->op->operation.target == static_cast<int>(header.origin);
    return right ? flight : nullptr;
}

/// One of its pieces has been refused that is answered by the count, which is still to come.
void Window::refuse_counted(Flight& flight, Status status) noexcept
{
    if (flight.counted && flight.status == Status::ok) {
        flight.status = status;
    }
}

void Window::take_answer(const Message& message) noexcept
{
    Flight* flight = flight_of(message.header);
    if (flight == nullptr) {
        return;
    }
    if (message.header.kind == MessageKind::refused && message.header.number != 0) {
        refuse_counted(*flight, reason_of(message.header));
        return;
    }
    if (flight->replies == 0) {
        return;
    }
    Target& target = targets_[flight->op->operation.target];
    const bool brings = message.header.kind == MessageKind::reply;
    note_longs(target, message.header);
    if (message.header.kind == MessageKind::refused) {
        refuse(*flight, reason_of(message.header));
    } else if (brings != (returned_to(flight->op->operation) != nullptr) ||
               (brings && !take_data(*flight, message))) {
        refuse(*flight, Status::other);
    } else {
        piece_answered(*flight);
    }
    launch_more(target);
}

/// The target has so many long puts, of those that it was sent.
void Window::note_longs(Target& target, const MessageHeader& header) noexcept
{
    const std::uint32_t more = static_cast<std::uint32_t>(header.round) - target.longs_performed;
    if (more <= target.longs_sent - target.longs_performed) {
        target.longs_performed += more;
    }
}

/// Answers false if the data are not from where the operation has asked for them.
bool Window::take_data(Flight& flight, const Message& message) noexcept
{
    const std::uint64_t position = message.header.position;
    if (!asked_for(flight, position, message.payload.size())) {
        return false;
    }
    scatter(answers_at(flight, position), message.payload);
    flight.answered += message.payload.size();
    flight.received += message.payload.size();
    return true;
}

bool Window::asked_for(const Flight& flight, std::uint64_t position, std::uint64_t bytes) noexcept
{
    return position <= flight.position && bytes <= flight.position - position;
}

/// Answers come in order, as a rule; long ones may come later.
Cursor& Window::answers_at(Flight& flight, std::uint64_t position) noexcept
{
    if (position < flight.answered) {
        flight.answers = Cursor(*returned_to(flight.op->operation));
        flight.answered = 0;
    }
    flight.answers.advance(position - flight.answered);
    flight.answered = position;
    return flight.answers;
}

/// Where the data of a long answer go: they were asked for only where they lie side by side. The
/// operation is not complete, whatever else is answered, while they are on their way there.
std::byte* Window::place_reply(const MessageHeader& header, std::size_t bytes) noexcept
{
    Flight* flight = flight_of(header);
    if (flight == nullptr || returned_to(flight->op->operation) == nullptr ||
        flight->placing >= flight->replies || !asked_for(*flight, header.position, bytes)) {
        return nullptr;
    }
    const datatype::Piece piece = answers_at(*flight, header.position).piece();
    if (bytes == 0 || bytes > piece.length) {
        return nullptr;
    }
    ++flight->placing;
    return piece.address;
}

void Window::placed_reply(const MessageHeader& header, std::size_t bytes) noexcept
{
    Flight* flight = process_.flights_.find(header.cookie); // it has waited for this
    if (flight == nullptr || flight->placing == 0) {
        return;
    }
    Target& target = targets_[flight->op->operation.target];
    --flight->placing;
    flight->received += bytes;
    if (flight->replies != 0) {
        piece_answered(*flight);
    } else {
        answer_complete(*flight);
    }
    launch_more(target);
}

} // namespace sidelight::rma
