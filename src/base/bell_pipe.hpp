// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "base/held_file.hpp"

namespace sidelight {

/// How a thread sleeps at its process's doorbell and at a file descriptor at once: rings that come
/// while it does are also written to this pipe, which other processes open through /proc as they
/// open the doorbell. One thread at a time.
class BellPipe {
public:
    /// Not made: errno says why.
    [[nodiscard]] static BellPipe create() noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return reading_.descriptor() >= 0; }
    [[nodiscard]] const MemoryFileAddress& address() const noexcept { return address_; }

    /// Sleeps until there is something to read in the pipe or at `descriptor`, or for `limit`; a
    /// millisecond at most once the program has closed the pipe.
    void sleep(int descriptor, std::chrono::nanoseconds limit) const noexcept;

private:
    MemoryFileAddress address_;
    HeldFile reading_;
    HeldFile writing_; ///< kept: without a writer the pipe would end, and wake for that
};

/// Wakes who sleeps at another process's pipe, or at this one's. Does nothing if it cannot be
/// opened: then who sleeps there looks again by itself.
void ring_pipe(const MemoryFileAddress& address) noexcept;

} // namespace sidelight
