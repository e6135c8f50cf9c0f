// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/kinds.hpp"

/// What the ledger writes down about a run. Owned by the ledger; pointers stay valid all through
/// it.
namespace sidelight::sim {

/// What an epoch has to do with one peer.
struct PartRecord {
    int peer = 0;
    std::uint64_t number = 0; ///< of the access or exposure, per pair, from 1
    std::uint32_t issued = 0; ///< watched operations
    std::uint32_t landed = 0;
    std::uint64_t place = 0; ///< in the order of taking places in the peer's lock queue; 0: unknown
    bool entered = false;    ///< the lock was seen to be held
};

/// An epoch as the program sees it, by the program's own calls.
struct EpochRecord {
    int rank = 0;
    int window = 0;
    rma::EpochKind kind = rma::EpochKind::fence;
    rma::LockType lock_type = rma::LockType::shared;
    bool no_check = false;
    rma::Reorder keys{};          ///< set when it was opened
    bool completed = false;       ///< the closing request is complete
    bool early = false;           ///< and that before all its targets had opened their exposures
    std::uint64_t opened = 0;     ///< per rank and window, openings and closings count together
    std::uint64_t closed = 0;     ///< 0: open
    std::size_t opening_step = 0; ///< of its rank's script
    std::size_t closing_step = 0;
    std::uint64_t fence = 0;       ///< number of the fence call that opened it
    std::vector<PartRecord> parts; ///< fence: none

    [[nodiscard]] PartRecord* part(int peer) noexcept
    {
        for (PartRecord& candidate : parts) {
            if (candidate.peer == peer) {
                return &candidate;
            }
        }
        return nullptr;
    }
};

/// A watched operation that is not wholly visible where it goes.
struct OpRecord {
    EpochRecord* epoch = nullptr;
    int target = 0;
    std::size_t step = 0;
    bool fetches = false;  ///< its effect is at the origin
    bool touched = false;  ///< some of its effect has been seen
    bool sent = false;     ///< a message that carries it has left
    int notification = -1; ///< the target's counter that it raises
    const std::uint64_t* first = nullptr;
    std::uint64_t value = 0;
    std::size_t words = 1;
    Spread spread{};
    std::size_t cell = 0;

    [[nodiscard]] bool shows(std::size_t word) const noexcept
    {
        return first[cell_of(word, spread)] == value + word;
    }
    [[nodiscard]] bool landed() const noexcept
    {
        for (std::size_t word = 0; word < words; ++word) {
            if (!shows(word)) {
                return false;
            }
        }
        return true;
    }
};

/// What the runs of many seeds must have shown at least sometimes.
struct Statistics {
    std::uint64_t overlaps[4] = {}; ///< by key: A_A_A_R, A_A_E_R, E_A_E_R, E_A_A_R
    std::uint64_t readers_together = 0;
    std::uint64_t done_early = 0; ///< an exposure ended before another target of its origin's epoch
    std::uint64_t flush_overtaken = 0; ///< a flush completed with later operations in flight
    std::uint64_t far_ahead = 0;       ///< the most epochs pending on a window
    std::uint64_t strays = 0;          ///< operations that failed, and others had to tell
    std::uint64_t notified = 0;        ///< operations that have raised a counter
    std::uint64_t early_returns = 0;   ///< closing calls that have not waited for late targets
    std::uint64_t calls = 0;           ///< of ranks that compute, by events that they wait for
    std::uint64_t futile_calls = 0;    ///< those that have found nothing to do
    std::uint64_t operations = 0;
    std::uint64_t messages = 0;
    std::uint64_t accesses = 0; ///< by cards, to the memory of another rank
    std::uint64_t visits = 0;   ///< to the memory of another rank, by who performs what it offers
    std::uint64_t events = 0;

    void add(const Statistics& other) noexcept;
};

} // namespace sidelight::sim
