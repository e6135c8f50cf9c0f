// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include "base/trace.hpp"
#include "host/mpi/declarations.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::api {

/// The rank that a call names among its arguments before the window; -1: it names none.
template <trace::CallKind call, class... Arguments>
[[nodiscard]] constexpr int rank_among(Arguments... arguments) noexcept
{
    const std::tuple all(arguments...);
    if constexpr (call == trace::CallKind::lock) {
        return std::get<1>(all);
    } else if constexpr (call == trace::CallKind::unlock || call == trace::CallKind::flush ||
                         call == trace::CallKind::flush_local) {
        return std::get<0>(all);
    } else {
        return -1;
    }
}

/// A call that is in a trace, if there is one, from its making on.
class TracedCall {
public:
    /// `from`: the address that the call returns to.
    TracedCall(trace::CallKind call, bool nonblocking, MPI_Win win, int rank,
               const void* from) noexcept
    {
        if (trace::of_process.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
            enter(call, nonblocking, win, rank, from);
        }
    }

    /// At its end. Answers the code.
    int left(int code) const noexcept
    {
        if (track_) [[unlikely]] {
            trace::Record record = record_;
            record.event = trace::Event::call_left;
            record.value = static_cast<std::uint64_t>(code);
            track_.note(record);
        }
        return code;
    }

private:
    void enter(trace::CallKind call, bool nonblocking, MPI_Win win, int rank,
               const void* from) noexcept
    {
        const runtime::WindowObject* object = runtime::window_table::find(win);
        if (object == nullptr || !trace_of(*object->window)) {
            return;
        }
        const auto bit =
            static_cast<unsigned>(nonblocking ? trace::CallKind::nonblocking : trace::CallKind{});
        track_ = trace_of(*object->window);
        record_ = {.event = trace::Event::call_entered,
                   .detail = static_cast<std::uint8_t>(static_cast<unsigned>(call) | bit),
                   .peer = rank,
                   .value = reinterpret_cast<std::uintptr_t>(from)};
        track_.note(record_);
    }

    trace::Track track_;
    trace::Record record_;
};

} // namespace sidelight::api
