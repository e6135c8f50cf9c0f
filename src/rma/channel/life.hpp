// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/flight.hpp"

namespace sidelight::rma {

/// Moves operations through their states, as what is known of them says. Guarded by the engine.
class OperationLife {
public:
    explicit OperationLife(Flights& flights) noexcept : flights_(flights) {}

    void observe(OperationObserver& observer) noexcept { observer_ = &observer; }

    /// Its turn has come.
    void begin(Op& op) noexcept { step(op, OperationEvent::begin); }
    /// What the fabric performs has left: its buffers are free.
    void left(Op& op) noexcept { step(op, OperationEvent::buffers_free); }
    /// It is over at the origin and at the target, and was not performed if that is not ok. Gone on
    /// return.
    void end(Op& op, Status status) noexcept;

    /// All its messages have left. The flight may be gone on return.
    void all_sent(Flight& flight) noexcept;
    /// One fragment with an answer of its own is answered; not ok: it was not performed. The flight
    /// may be gone on return.
    void fragment_answered(Flight& flight, Status status) noexcept;
    /// One of its counters has changed. The flight may be gone on return.
    void settle(Flight& flight) noexcept;

private:
    void step(Op& op, OperationEvent event) noexcept;

    Flights& flights_;
    OperationObserver* observer_ = nullptr;
};

} // namespace sidelight::rma
