// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unordered_set>

#include "rma/channel/carrier.hpp"
#include "rma/channel/wire.hpp"

namespace sidelight::rma {

/// Who was met on the fabric, and how this process takes leave of them: what was sent has arrived
/// before the fabric is closed, and nobody takes the end of a connection for a loss. Protocol:
/// docs/design/wire.md. Guarded by the engine.
class Farewells {
public:
    explicit Farewells(Carrier& carrier) noexcept : carrier_(carrier) {}

    /// The peer was sent something, or has sent something. Without memory for the note, closing
    /// does not wait for it.
    void note_met(int peer) noexcept;

    /// Tells all who were met and asks them to answer. No window is left, and nothing is sent
    /// afterwards but answers.
    void say() noexcept;
    /// Whether all of them have answered, or are lost.
    [[nodiscard]] bool answered() const noexcept { return awaited_.empty(); }

    void receive(int from, MessageKind kind) noexcept;

    /// The fabric has lost a peer. Answers whether that is a loss: who has said farewell has freed
    /// all its windows, so others that are still in the last barrier of one lose nothing with it.
    /// It may come back (a program may start MPI again, with sessions).
    [[nodiscard]] bool lose(int peer) noexcept;
    [[nodiscard]] bool is_lost(int peer) const noexcept { return lost_.contains(peer); }

private:
    void note_departed(int peer) noexcept;
    bool send(int peer, MessageKind kind) noexcept;

    Carrier& carrier_;
    std::unordered_set<int> met_;      ///< since the last farewell
    std::unordered_set<int> awaited_;  ///< of those, who has not answered the farewell
    std::unordered_set<int> departed_; ///< peers that have said farewell
    std::unordered_set<int> lost_;
};

} // namespace sidelight::rma
