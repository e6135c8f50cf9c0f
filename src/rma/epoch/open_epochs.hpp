// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/contacts.hpp"

namespace sidelight::rma {

/// One epoch towards one peer.
struct PeerEpochRef {
    Epoch* epoch = nullptr;
    std::size_t index = 0; ///< a whole word: it is handed on in a register at once

    explicit operator bool() const noexcept { return epoch != nullptr; }
    /// Whether the epoch knows the peer: one without places takes it in at its first operation.
    [[nodiscard]] bool known() const noexcept { return index < epoch->peers.size(); }
    [[nodiscard]] std::uint32_t number() const noexcept
    {
        return static_cast<std::uint32_t>(index);
    }
    [[nodiscard]] PeerEpoch& peer() const noexcept { return epoch->peers[index]; }
};

/// The epochs of one window that are open at application level: what MPI's calls may do next, and
/// where an operation belongs. Guarded by the engine.
struct OpenEpochs {
    Epoch* fence = nullptr;
    Epoch* access = nullptr; ///< by MPI_Win_start
    Epoch* exposure = nullptr;
    Epoch* lock_all = nullptr;
    std::size_t locks = 0;      ///< by MPI_Win_lock; each is named by the Peer that it reaches
    std::uint64_t barriers = 0; ///< fence calls and closes so far

    /// Whether an access epoch other than a fence's is open.
    [[nodiscard]] bool any_access() const noexcept
    {
        return access != nullptr || lock_all != nullptr || locks != 0;
    }
    [[nodiscard]] bool any_passive() const noexcept { return lock_all != nullptr || locks != 0; }
    /// Whether the epoch of the last start or fence, if it is open, is granted everywhere.
    [[nodiscard]] bool granted() const noexcept
    {
        const Epoch* epoch = access != nullptr ? access : fence;
        return epoch == nullptr || epoch->granted_by_all();
    }

    /// Where an operation on that target belongs. Recording makes the peer known there.
    [[nodiscard]] PeerEpochRef find(const Contacts& contacts, int target) const noexcept
    {
        if (contacts.is_met(target) && contacts.peer(target).epoch != nullptr) {
            return {contacts.peer(target).epoch, contacts.peer(target).index};
        }
        if (lock_all != nullptr) {
            return {lock_all, lock_all->no_check
                                  ? static_cast<std::uint32_t>(lock_all->peers.size())
                                  : static_cast<std::uint32_t>(target)};
        }
        return {fence, 0};
    }
};

} // namespace sidelight::rma
