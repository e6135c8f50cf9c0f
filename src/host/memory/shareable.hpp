// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/settings.hpp"
#include "base/shared_memory.hpp"
#include "host/memory/rules.hpp"
#include "host/memory/span.hpp"

/// Memory that the user brings, mappable by the other processes of the node. Any thread may call.
/// See docs/design/user-memory.md.
namespace sidelight::host::memory {

/// One range that peers can map, or the reason why they cannot. It gives up its claim with its end:
/// pages that nobody claims any more are private again. The memory must still be there then, as
/// MPI asks for until MPI_Win_free and MPI_Win_detach; if it is not, nothing is touched.
class SharedRange {
public:
    SharedRange() = default;
    explicit SharedRange(Refusal refusal) noexcept : refusal_(refusal) {}
    ~SharedRange() { release(); }
    SharedRange(SharedRange&& other) noexcept;
    SharedRange& operator=(SharedRange&& other) noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return refusal_ == Refusal::none; }
    [[nodiscard]] Refusal refusal() const noexcept { return refusal_; }
    /// Where peers find it; valid while this lives.
    [[nodiscard]] const FileRange& where() const noexcept { return where_; }
    void release() noexcept;

private:
    friend class UserMemory;

    Refusal refusal_ = Refusal::no_memory_there;
    FileRange where_;
    Span pages_;               ///< that it claims; empty: none, or another file's
    bool vouched_ = false;     ///< the user said that no other thread interferes
    std::uint64_t device_ = 0; ///< of another file
};

/// What becomes of memory that stays private.
enum class IfPrivate : std::uint8_t {
    leave,
    /// Its pages stay what they are as long as the range lives, whatever other ranges want: peers
    /// write into them through the kernel, which holds on to a page while it writes.
    keep,
};

/// Makes `size` bytes at `base` shareable, in place. Addresses and contents stay the same, for all
/// threads. `never` keeps private memory private, and lets memory be used that is shared already.
[[nodiscard]] SharedRange share(const void* base, std::size_t size, SharePolicy policy,
                                IfPrivate if_private = IfPrivate::leave) noexcept;

} // namespace sidelight::host::memory
