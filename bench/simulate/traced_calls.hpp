// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>

#include "rma/engine/window.hpp"

namespace sidelight::simulate {

/// The calls of a simulated program on its window, one at a time, for the window's trace; where it
/// has none, nothing is noted. A call that blocks lasts until what it waits for is complete.
/// Whoever calls `enter` or `await` is where the trace says that the program calls.
class TracedCalls {
public:
    /// Behind the making of the window.
    void begin(rma::Window& window) noexcept;

    [[gnu::noinline]] void enter(trace::CallKind call, bool nonblocking = false, int peer = -1);
    /// The call is over. Does nothing outside of one.
    void leave();
    /// The nonblocking call is over, and the program has its request.
    void leave_with(const rma::Request& request);
    /// MPI_Wait for such a request, until `leave`. Does nothing if there is none, or no more.
    [[gnu::noinline]] void await(const rma::Request& request);

private:
    void enter_from(const void *from, trace::Record call);

    trace::Track track_;
    bool inside_ = false;
    trace::Record call_;                    ///< that it is in
    const rma::Request *awaited_ = nullptr; ///< by it
    std::uint64_t latest_ = 0;              ///< handle, of those that were handed out
    std::unordered_map<const rma::Request *, std::uint64_t> handles_;
};

} // namespace sidelight::simulate
