// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "base/status.hpp"

namespace sidelight::fabric {

/// Who takes the messages that a fabric delivers: the engine of one process.
class Receiver {
public:
    /// `message` is valid during the call only. May send.
    virtual void receive(int from, std::span<const std::byte> message) noexcept = 0;

protected:
    ~Receiver() = default;
};

/// How messages move between processes, as one process sees it. Memory that is mapped needs no
/// fabric to be read and written; `wake` is all that it asks of one.
///
/// Peers are numbered by the fabric; the number of a window's member is in its Target.
/// Contract: messages between an ordered pair of processes arrive once, whole, in the order sent.
/// Nothing blocks. All calls come from the thread that holds the engine.
class Fabric {
public:
    virtual ~Fabric() = default;

    /// Sends `header` and `payload` as one message. Both may be reused when the call returns.
    virtual Status send(int peer, std::span<const std::byte> header,
                        std::span<const std::byte> payload) noexcept = 0;

    /// Hands what has arrived to the receiver. Answers whether there was anything.
    virtual bool poll(Receiver& receiver) noexcept = 0;

    /// A word that `peer` polls in shared memory has just been written by an atomic
    /// read-modify-write: if that process sleeps, it is woken.
    virtual void wake(int peer) noexcept = 0;
};

} // namespace sidelight::fabric
