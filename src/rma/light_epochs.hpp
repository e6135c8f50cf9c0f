// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "rma/kinds.hpp"

namespace sidelight::rma {

class Window;
struct Epoch;

/// The peers of an access or an exposure epoch that is open and has no Epoch.
class LightGroup {
public:
    static constexpr std::size_t most_peers = 8;

    [[nodiscard]] bool is_open() const noexcept { return open_; }
    [[nodiscard]] std::span<const int> peers() const noexcept { return {peers_.data(), size_}; }

    /// Without peers; they are added.
    void open() noexcept
    {
        open_ = true;
        size_ = 0;
    }
    void add(int peer) noexcept { peers_[size_++] = peer; }
    void close() noexcept { open_ = false; }

private:
    bool open_ = false;
    std::size_t size_ = 0;
    std::array<int, most_peers> peers_{};
};

/// Access and exposure epochs towards few members of this node, in a window where no epoch is held
/// back or holds one back, and nobody is lost. While nothing is recorded in them and nobody waits
/// for them they are the numbers that both sides count, and no more: docs/design/epochs.md.
///
/// A call that answers false has changed nothing, and Window's function of the same name does the
/// same the long way. Each polls up to `polls` times for what it needs of the peers. All need the
/// engine.
struct LightEpochs {
    [[nodiscard]] static bool post(Window& window, std::span<const int> origins) noexcept;
    /// False also where an exposure is missing: operations would have to be recorded.
    [[nodiscard]] static bool start(Window& window, std::span<const int> targets,
                                    int polls) noexcept;
    [[nodiscard]] static bool complete(Window& window) noexcept;
    [[nodiscard]] static bool wait(Window& window, int polls) noexcept;

    /// `complete` where the access is known to be light: also where a target is lost, which it
    /// tells.
    static Status end_access(Window& window) noexcept;
    /// Gives the access that is open an Epoch, for an operation that has to be recorded; it becomes
    /// the window's. Null: no memory; it stays as it is.
    [[nodiscard]] static Epoch* access_fully(Window& window) noexcept;
    /// Gives the exposure that is open an Epoch, so that it can be closed before it is over, or
    /// given up. Null: no memory; it stays as it is.
    [[nodiscard]] static Epoch* expose_fully(Window& window) noexcept;

private:
    /// Whether an access or exposure epoch opened now would be active at once and hold nothing back
    /// while it is open.
    [[nodiscard]] static bool possible(const Window& window, std::span<const int> peers) noexcept;
    [[nodiscard]] static Epoch* make_full(Window& window, EpochKind kind,
                                          const LightGroup& group) noexcept;
};

} // namespace sidelight::rma
