// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/active_buffer.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "rma/active/ring.hpp"
#include "rma/active/rules.hpp"

namespace sidelight::rma {

void ActiveBuffer::begin_detach() noexcept
{
    leaving_ = true;
    serve();
}

bool ActiveBuffer::end_detach() noexcept
{
    if (!given_.empty()) {
        return false;
    }
    memory_ = nullptr;
    bytes_ = 0;
    leaving_ = false;
    return true;
}

/// Without memory for it, it is refused.
void ActiveBuffer::reserve(Channel& from, const ActiveReservationBody& body) noexcept
{
    const std::uint64_t most = std::max(body.least, body.most);
    ActiveReservation* wanted = body.least <= bytes() && body.least != 0 ? pool_.take() : nullptr;
    if (wanted == nullptr) {
        ActiveReservation none;
        none.from = &from;
        none.operation = body.operation;
        answer(none);
        return;
    }
    *wanted = {.from = &from, .operation = body.operation, .least = body.least, .most = most};
    waiting_.push(wanted);
    serve();
}

/// Those that can never be served are told so; the first of the others waits until there is room.
void ActiveBuffer::serve() noexcept
{
    bool first = true;
    waiting_.for_each([&](ActiveReservation& wanted) {
        const bool never = wanted.least > bytes();
        if (never) {
            waiting_.remove(&wanted);
            answer(wanted);
            pool_.give_back(&wanted);
        } else if (rules::reservation_is_served(first) && place(wanted)) {
            answer(wanted);
        } else {
            first = false;
        }
    });
}

/// The first gap that is large enough.
bool ActiveBuffer::place(ActiveReservation& wanted) noexcept
{
    std::uint64_t begin = 0;
    ActiveReservation* behind = given_.front();
    for (;; behind = Reservations::after(*behind)) {
        const std::uint64_t end = behind != nullptr ? behind->place : bytes_;
        wanted.place = begin;
        wanted.bytes = rules::reservation_takes(end > begin ? end - begin : 0, wanted.least,
                                                wanted.most, bytes_);
        if (wanted.bytes != 0) {
            break;
        }
        if (behind == nullptr) {
            return false;
        }
        begin = round_up(behind->place + behind->bytes, active_granule);
    }
    waiting_.remove(&wanted);
    given_.insert_before(&wanted, behind);
    return true;
}

void ActiveBuffer::answer(const ActiveReservation& reservation) noexcept
{
    channels_.send(*reservation.from, MessageKind::active_reserved,
                   ActiveReservationBody{.operation = reservation.operation,
                                         .place = reservation.place,
                                         .least = reservation.bytes});
}

std::byte* ActiveBuffer::find(const Channel& from, std::uint64_t operation, std::uint64_t place,
                              std::uint64_t bytes) noexcept
{
    for (ActiveReservation* given = given_.front(); given != nullptr;
         given = Reservations::after(*given)) {
        if (given->from == &from && given->operation == operation) {
            const bool inside = place >= given->place && bytes <= given->bytes &&
                                place - given->place <= given->bytes - bytes;
            return inside ? memory_ + place : nullptr;
        }
    }
    return nullptr;
}

void ActiveBuffer::release(const Channel& from, std::uint64_t operation) noexcept
{
    const auto of_message = [&](const ActiveReservation& held) {
        return held.from == &from && held.operation == operation;
    };
    remove_if(waiting_, of_message);
    remove_if(given_, of_message);
    serve();
}

} // namespace sidelight::rma
