// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "base/trace.hpp"
#include "runtime/tracing.hpp"

namespace sidelight::api {

/// A call that ends requests, in a trace if some of them are of traced windows.
class TracedWait {
public:
    /// `from`: the address that the call returns to; null: of a call that only tests, what it ends
    /// is noted and not the call.
    TracedWait(int count, const MPI_Request* requests, const void* from) noexcept;

    /// At its end. Answers the code.
    int left(int code) noexcept;

private:
    struct Awaited {
        const MPI_Request* place; ///< where the program has it; the call takes it away there
        runtime::TracedRequest request;
    };

    void note(trace::Event event, std::uint64_t value) const noexcept;

    bool waits_;
    std::vector<Awaited> awaited_;
};

} // namespace sidelight::api
