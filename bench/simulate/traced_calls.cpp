// SPDX-License-Identifier: BSD-3-Clause
#include "traced_calls.hpp"

#include <utility>

namespace sidelight::simulate {

using trace::CallKind;
using trace::Event;

void TracedCalls::begin(rma::Window& window) noexcept
{
    track_ = trace_of(window);
    for (int rank = 0; track_ && window.rank() == 0 && rank < window.size(); ++rank) {
        track_.note({.event = Event::window_member,
                     .peer = rank,
                     .value = static_cast<std::uint64_t>(rank)});
    }
}

void TracedCalls::enter(CallKind call, bool nonblocking, int peer)
{
    const auto bit = static_cast<unsigned>(nonblocking ? CallKind::nonblocking : CallKind{});
    enter_from(
        __builtin_return_address(0),
        {.detail = static_cast<std::uint8_t>(static_cast<unsigned>(call) | bit), .peer = peer});
}

void TracedCalls::enter_from(const void *from, trace::Record call)
{
    if (track_) {
        call_ = call;
        call_.event = Event::call_entered;
        call_.value = reinterpret_cast<std::uintptr_t>(from);
        track_.note(call_);
        inside_ = true;
    }
}

void TracedCalls::leave()
{
    if (!inside_) {
        return;
    }
    if (const rma::Request *request = std::exchange(awaited_, nullptr)) {
        track_.note({.event = Event::request_ended, .value = handles_.at(request)});
        handles_.erase(request);
    }
    call_.event = Event::call_left;
    call_.value = 0;
    track_.note(call_);
    inside_ = false;
}

void TracedCalls::leave_with(const rma::Request& request)
{
    if (inside_) {
        handles_[&request] = ++latest_;
        track_.note({.event = Event::request_begun, .value = latest_});
        leave();
    }
}

void TracedCalls::await(const rma::Request& request)
{
    if (handles_.contains(&request)) {
        enter_from(__builtin_return_address(0),
                   {.detail = static_cast<std::uint8_t>(CallKind::request)});
        awaited_ = &request;
    }
}

} // namespace sidelight::simulate
