// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/fabric.hpp"

namespace sidelight::fabric {

/// Bytes of this process, and where in the peer's memory they go to or come from.
struct AccessPiece {
    std::byte* here = nullptr;
    std::uint64_t there = 0; ///< an offset
    std::size_t bytes = 0;
};

/// What became of an access that was started.
enum class Access : std::uint8_t {
    complete, ///< it is over: of a put, the bytes are in the peer's memory
    pending,  ///< the Completion tells when it is
    left,     ///< the same, of a put whose memory here may be used again already
    failed,   ///< it is over, and what was moved is undefined; it may be done by messages
};

/// From how many bytes on an access is quicker than messages: one with which the caller goes on at
/// once, and one that somebody waits for before the next, as for a put and a flush; and how many
/// each of several pieces must have on average.
struct Worthwhile {
    std::size_t among_others = 0;
    std::size_t alone = 0;
    std::size_t piece = 0;
};

/// Memory of one peer that this process reads and writes without the peer's engine. Whoever asks
/// has made sure that what it asks for lies inside. Several pieces, of one access or of different
/// ones, may be moved in any order; memory of this process may be used again when the access is
/// over. Nothing blocks for longer than a copy takes.
class RemoteMemory {
public:
    virtual ~RemoteMemory() = default;

    /// At most so many pieces in one access.
    static constexpr std::size_t most_pieces = 64;

    virtual Access put(std::span<const AccessPiece> pieces, Completion& done) noexcept = 0;
    virtual Access get(std::span<const AccessPiece> pieces, Completion& done) noexcept = 0;

    /// Puts to memory of this peer that are started from now on are performed behind all that were
    /// before. False: that cannot be had.
    [[nodiscard]] virtual bool fence() noexcept { return false; }

    /// Whether an access is never pending: its Completion is not used.
    [[nodiscard]] bool moves_at_once() const noexcept { return at_once_; }

    /// Whether an access to so many bytes is quicker than messages.
    [[nodiscard]] bool is_worthwhile(std::size_t bytes, bool alone) const noexcept
    {
        return bytes >= (alone ? worthwhile_.alone : worthwhile_.among_others);
    }
    /// So many pieces at most, for that. One always may be.
    [[nodiscard]] std::size_t most_worthwhile_pieces(std::size_t bytes) const noexcept
    {
        return worthwhile_.piece == 0 ? SIZE_MAX
                                      : std::max<std::size_t>(bytes / worthwhile_.piece, 1);
    }

protected:
    RemoteMemory(Worthwhile worthwhile, bool at_once) noexcept
        : worthwhile_(worthwhile), at_once_(at_once)
    {}

private:
    Worthwhile worthwhile_;
    bool at_once_;
};

} // namespace sidelight::fabric
