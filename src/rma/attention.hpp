// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace sidelight::rma {

/// Why a window has to be looked at in each sweep.
enum class Reason : std::uint8_t {
    unsettled_epoch,  ///< an active epoch waits for a peer
    deferred_epoch,   ///< one may be activated
    lost_member,      ///< what waits for it is to be given up
    acknowledgement,  ///< one is owed
    waiting_for_lock, ///< a remote member waits for this member's lock
    notification,     ///< a request waits for a counter of notifications
    active_here,      ///< active messages wait for their turn at this member
    active_there,     ///< likewise, to be run here on others' memory
};

/// Whether a window needs progress: its owners say why, and the process keeps the list of those
/// that do. Guarded by the engine.
class Attention {
public:
    /// Sets or drops one reason.
    void set(Reason reason, bool holds) noexcept
    {
        const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(reason));
        const auto after = static_cast<std::uint8_t>(holds ? reasons_ | bit : reasons_ & ~bit);
        if ((after != 0) != (reasons_ != 0)) {
            needed(after != 0);
        }
        if (((after & active_reasons) != 0) != ((reasons_ & active_reasons) != 0)) {
            const bool has = (after & active_reasons) != 0;
            with_active_->fetch_add(has ? 1U : ~0U, std::memory_order_relaxed);
        }
        reasons_ = after;
    }

protected:
    ~Attention() = default;
    /// Where windows are counted in which active messages wait for a thread that runs them. Before
    /// the first of these.
    void count_active_in(std::atomic<std::uint32_t>& windows) noexcept { with_active_ = &windows; }
    [[nodiscard]] bool is_needed() const noexcept { return reasons_ != 0; }

private:
    virtual void needed(bool needed) noexcept = 0;
    static constexpr std::uint8_t active_reasons =
        1U << static_cast<unsigned>(Reason::active_here) |
        1U << static_cast<unsigned>(Reason::active_there);

    std::uint8_t reasons_ = 0;
    std::atomic<std::uint32_t>* with_active_ = nullptr;
};

} // namespace sidelight::rma
