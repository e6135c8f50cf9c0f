// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include <sys/types.h>

#include "fabric/remote_memory.hpp"

namespace sidelight::fabric {

/// Whether the kernel copies from and to that process: the word at `address` there is `expected`.
[[nodiscard]] bool can_copy(pid_t owner, std::uint64_t address, std::uint64_t expected) noexcept;

/// How long the kernel takes for one word of a process that it copies from.
[[nodiscard]] std::chrono::nanoseconds copy_time(pid_t owner, std::uint64_t address) noexcept;

/// Private memory of a process on this node, which the kernel copies to and from: one system call,
/// and one copy, by the origin. Complete when the call returns.
class CopiedMemory final : public RemoteMemory {
public:
    /// Offsets are counted from `base`, an address of the owner.
    CopiedMemory(pid_t owner, std::uint64_t base, Worthwhile worthwhile) noexcept
        : RemoteMemory(worthwhile, true), owner_(owner), base_(base)
    {}

    Access put(std::span<const AccessPiece> pieces, Completion& done) noexcept override;
    Access get(std::span<const AccessPiece> pieces, Completion& done) noexcept override;

    /// Whether the kernel has not refused yet.
    [[nodiscard]] bool usable() const noexcept { return usable_; }

private:
    template <typename Copy>
    Access move(std::span<const AccessPiece> pieces, Copy copy) noexcept;

    pid_t owner_;
    std::uint64_t base_;
    bool usable_ = true; ///< until the kernel refuses
};

} // namespace sidelight::fabric
