// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

namespace sidelight::runtime {

/// The ranks in a window of the group that was used last, so that a loop over post and start does
/// not translate the same group each time. Stale as soon as any group has been freed, since the
/// host may give its handle to another. Guarded by MPI: no two threads may open the same kind of
/// epoch on one window at the same time.
class TranslatedGroup {
public:
    /// The ranks of the members of `group` in `window_group`, in the group's order; valid until the
    /// next call. Status::group for a null group and for members that are not in the window.
    Status translate(MPI_Group group, MPI_Group window_group, std::span<const int>& ranks) noexcept;

    /// Whether `ranks` are those of this group. Calls nothing.
    [[nodiscard]] bool knows(MPI_Group group) const noexcept
    {
        return valid_ && group_ == group &&
               generation_ == freed_groups_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::span<const int> ranks() const noexcept { return ranks_; }

    /// To be called before a group is freed.
    static void forget_all() noexcept;

private:
    /// Groups freed so far. The acquire load pairs with the release addition: whoever got a handle
    /// that was used before sees that its former group has been freed.
    static inline std::atomic<std::uint64_t> freed_groups_{0};

    bool valid_ = false;
    std::uint64_t generation_ = 0;
    MPI_Group group_{};
    std::vector<int> ranks_;
};

} // namespace sidelight::runtime
