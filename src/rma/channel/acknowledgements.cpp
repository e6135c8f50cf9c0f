// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/acknowledgements.hpp"

#include "rma/channel/fragments.hpp"
#include "rma/channel/order.hpp"

namespace sidelight::rma {

using datatype::Cursor;

namespace {

/// Whether the operation has asked for those data.
bool asked_for(const Flight& flight, std::uint64_t position, std::uint64_t bytes) noexcept
{
    return position <= flight.position && bytes <= flight.position - position;
}

/// Answers come in order, as a rule; zero-copy ones may come later.
Cursor& answers_at(Flight& flight, std::uint64_t position) noexcept
{
    if (position < flight.answered) {
        flight.answers = Cursor(*returned_to(flight.op->operation));
        flight.answered = 0;
    }
    flight.answers.advance(position - flight.answered);
    flight.answered = position;
    return flight.answers;
}

bool fetches(const Flight& flight) noexcept { return returned_to(flight.op->operation) != nullptr; }

} // namespace

/// The flight that an answer names, if the target has not answered all of it.
Flight* Acknowledgements::find(std::uint64_t name, const Channel& from) noexcept
{
    Flight* flight = channels_.carrier().flights().find(name, from);
    return flight != nullptr && !flight->all_answered() ? flight : nullptr;
}

/// Something has come back. One that has to notify its target is not over yet.
void Acknowledgements::answered(Flight& flight, Status status) noexcept
{
    const bool notifies = flight.owes_notification && status == Status::ok;
    life_.fragment_answered(flight, status);
    if (notifies) {
        origin_.notify_behind(flight);
    }
}

void Acknowledgements::take_reply(Channel& from, const ReplyBody& body,
                                  std::span<const std::byte> payload) noexcept
{
    Flight* flight = find(body.operation, from);
    if (flight == nullptr || flight->replies == 0) {
        return;
    }
    note_placed(from, body.placed);
    const bool fits = fetches(*flight) && asked_for(*flight, body.position, payload.size());
    if (fits) {
        scatter(answers_at(*flight, body.position), payload);
        flight->answered += payload.size();
        flight->received += payload.size();
    }
    answered(*flight, fits ? Status::ok : Status::other);
    origin_.launch_more(from);
}

void Acknowledgements::take_placed(Channel& from, const PlacedBody& body) noexcept
{
    Flight* flight = find(body.operation, from);
    if (flight == nullptr || flight->replies == 0) {
        return;
    }
    note_placed(from, body.placed);
    life_.fragment_answered(*flight, fetches(*flight) ? Status::other : Status::ok);
    origin_.launch_more(from);
}

/// One of the fragments that are counted is still to be acknowledged.
void Acknowledgements::take_refused(Channel& from, const RefusedBody& body) noexcept
{
    Flight* flight = find(body.operation, from);
    if (flight == nullptr) {
        return;
    }
    if (body.acknowledged != 0) {
        const bool open = flight->unacknowledged && flight->status == Status::ok;
        flight->status = open ? failure_of(body.status) : flight->status;
    } else if (flight->replies != 0) {
        note_placed(from, body.placed);
        life_.fragment_answered(*flight, failure_of(body.status));
        origin_.launch_more(from);
    }
}

void Acknowledgements::take_acknowledgement(Channel& from, const AcknowledgementBody& body) noexcept
{
    if (!Credit::take(from, body.fragments)) {
        return;
    }
    Fifo<Flight>& waiting = from.unacknowledged;
    while (!waiting.empty() && Credit::acknowledged(from, waiting.front()->last_fragment)) {
        Flight& flight = *waiting.pop();
        flight.unacknowledged = false;
        life_.settle(flight);
    }
    origin_.launch_more(from);
}

/// They were asked for only where they lie side by side.
std::byte* Acknowledgements::place_reply(Channel& from, const ReplyBody& body,
                                         std::size_t bytes) noexcept
{
    Flight* flight = find(body.operation, from);
    if (flight == nullptr || !fetches(*flight) || flight->placing >= flight->replies ||
        !asked_for(*flight, body.position, bytes)) {
        return nullptr;
    }
    const datatype::Piece stretch = answers_at(*flight, body.position).piece();
    if (bytes == 0 || bytes > stretch.length) {
        return nullptr;
    }
    ++flight->placing;
    return stretch.address;
}

void Acknowledgements::reply_placed(Channel& from, const ReplyBody& body,
                                    std::size_t bytes) noexcept
{
    Flight* flight = channels_.carrier().flights().find(body.operation, from);
    if (flight == nullptr || flight->placing == 0) {
        return;
    }
    --flight->placing;
    flight->received += bytes;
    if (flight->replies != 0) {
        answered(*flight, Status::ok);
    } else {
        life_.settle(*flight);
    }
    origin_.launch_more(from);
}

void Acknowledgements::abandon(Channel& channel) noexcept
{
    channel.leaving = {};
    channel.unacknowledged = {};
    channel.held.reset();
    channel.in_flight = 0;
    channel.acknowledged = channel.fragments_sent;
    channels_.carrier().flights().for_each(channel, [&](Flight& flight) {
        flight.status = Status::lost;
        flight.replies = 0;
        flight.unacknowledged = false;
        if (flight.op->state == OperationState::leaving) {
            life_.all_sent(flight);
        } else {
            life_.settle(flight);
        }
    });
}

void Acknowledgements::end_placing(Channel& channel) noexcept
{
    while (channel.placing != 0) {
        channels_.end_placing(channel);
    }
    channels_.carrier().flights().for_each(channel, [&](Flight& flight) {
        flight.placing = 0;
        life_.settle(flight);
    });
}

} // namespace sidelight::rma
