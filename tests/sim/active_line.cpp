// SPDX-License-Identifier: BSD-3-Clause
#include "active_line.hpp"

#include <algorithm>
#include <cstring>

namespace sidelight::sim {

namespace {

using rma::MessageKind;

template <class Plain>
Plain read(std::span<const std::byte> bytes)
{
    Plain plain{};
    std::memcpy(&plain, bytes.data(), std::min(bytes.size(), sizeof plain));
    return plain;
}

template <class Body>
Body body_of(std::span<const std::byte> message)
{
    return read<Body>(message.subspan(sizeof(rma::MessageHeader)));
}

} // namespace

void ReservationLine::handed_over(int from, int to, std::span<const std::byte> message)
{
    const MessageKind kind = read<rma::MessageHeader>(message).kind;
    if (kind == MessageKind::active_reserve) {
        const auto body = body_of<rma::ActiveReservationBody>(message);
        waiting_[to].push_back({{to, from, body.operation}, body.least, body.most});
    } else if (kind == MessageKind::active) {
        const auto body = body_of<rma::ActiveBody>(message);
        Progress& progress = messages_[{to, from, body.operation}];
        progress.segments = body.segments;
        progress.pieces[body.segment] = body.number;
    }
}

void ReservationLine::sent(int from, int to, std::span<const std::byte> message)
{
    const MessageKind kind = read<rma::MessageHeader>(message).kind;
    if (kind == MessageKind::active_reserved) {
        const auto body = body_of<rma::ActiveReservationBody>(message);
        answered({from, to, body.operation}, body);
    } else if (kind == MessageKind::active_done) {
        const auto body = body_of<rma::ActiveDoneBody>(message);
        done({from, to, body.operation}, body);
    }
}

/// In an answer `least` is what was given.
void ReservationLine::answered(const Name& name, const rma::ActiveReservationBody& body)
{
    const auto target = static_cast<std::size_t>(name.target);
    std::deque<Wish>& line = waiting_[name.target];
    if (body.least != 0 && !line.empty()) {
        const Wish& first = line.front();
        if (first.name != name) {
            failure_ = "a reservation was served before one that came earlier";
        } else if (body.least < first.least ||
                   body.least < std::min<std::uint64_t>(first.most, attached_[target]) / 2) {
            failure_ = "a reservation is a sliver";
        }
    }
    std::erase_if(line, [&](const Wish& wish) { return wish.name == name; });
}

/// A message that is over gives back what it has, and waits for nothing.
void ReservationLine::done(const Name& name, const rma::ActiveDoneBody& body)
{
    Progress& progress = messages_[name];
    progress.answered += progress.pieces[body.segment];
    if (body.status != 0 || progress.answered == progress.segments) {
        over(name);
    }
}

void ReservationLine::over(const Name& name)
{
    messages_.erase(name);
    std::erase_if(waiting_[name.target], [&](const Wish& wish) { return wish.name == name; });
}

} // namespace sidelight::sim
