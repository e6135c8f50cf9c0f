// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/held_file.hpp"

namespace sidelight::host::node {

/// A descriptor that can be read when another one can, but only while the gate is open: so that
/// nobody is woken for what a thread that polls finds by itself. Opened and closed by any thread.
class NetworkGate {
public:
    /// Open, from now on. Where there can be none the descriptor itself is slept at, and never
    /// closed.
    void watch(int descriptor) noexcept;
    [[nodiscard]] explicit operator bool() const noexcept { return watched_ >= 0; }

    [[nodiscard]] int descriptor() const noexcept
    {
        return gate_.is_open() ? gate_.descriptor() : watched_;
    }
    /// The descriptor may be another one by now.
    void forget() noexcept;
    void close() noexcept { set(0); }
    /// Wakes who sleeps there, if something has come meanwhile.
    void open() noexcept;

private:
    void set(unsigned events) noexcept;

    HeldFile gate_;
    int watched_ = -1;
};

} // namespace sidelight::host::node
