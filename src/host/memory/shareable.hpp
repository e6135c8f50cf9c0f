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
/// pages that were replaced for it, and that nobody claims any more, are private again. The memory
/// must still be there then, as MPI asks for until MPI_Win_free and MPI_Win_detach; if it is not,
/// nothing is touched.
class SharedRange {
public:
    SharedRange() = default;
    /// Of memory that was shared from its birth: there is nothing to give up.
    explicit SharedRange(const FileRange& where) noexcept : refusal_(Refusal::none), where_(where)
    {}
    ~SharedRange() { release(); }
    SharedRange(SharedRange&& other) noexcept;
    SharedRange& operator=(SharedRange&& other) noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return refusal_ == Refusal::none; }
    [[nodiscard]] Refusal refusal() const noexcept { return refusal_; }
    /// Whether its file stays what it is as long as this process lives.
    [[nodiscard]] bool lasts() const noexcept { return *this && claim_ == Claim::nothing; }
    /// Where peers find it; valid while this lives.
    [[nodiscard]] const FileRange& where() const noexcept { return where_; }
    void release() noexcept;

private:
    friend class UserMemory;

    /// What there is to give up.
    enum class Claim : std::uint8_t {
        nothing,
        as_it_is, ///< private pages that must stay what they are
        replaced, ///< pages that were made shareable
        file,     ///< a file that was opened again
    };

    Refusal refusal_ = Refusal::no_memory_there;
    Claim claim_ = Claim::nothing;
    FileRange where_;
    Span range_;
    std::uint64_t device_ = 0; ///< of the file
};

/// Finds `size` bytes at `base` in memory that is shared already. With `inplace`, replaces whole
/// pages of private memory if nothing tells against it; addresses and contents stay the same. What
/// stays private is not replaced for another range as long as this one lives: peers may write into
/// it through the kernel, which holds on to a page while it writes.
[[nodiscard]] SharedRange share(const void* base, std::size_t size, SharePolicy policy) noexcept;

} // namespace sidelight::host::memory
