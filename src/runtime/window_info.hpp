// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/settings.hpp"
#include "host/mpi/declarations.hpp"
#include "rma/kinds.hpp"

namespace sidelight::runtime {

/// Whether it is one, or MPI_INFO_NULL, as far as the host can tell.
[[nodiscard]] bool is_info(MPI_Info info) noexcept;

/// Who may give a key another value.
enum class KeyScope : std::uint8_t {
    creation, ///< whoever makes the window, and nobody later
    window,   ///< MPI_Win_set_info on the window itself, for all its handles
    handle,   ///< whoever makes a handle or sets its info, for this handle alone
};

/// The info keys that a window knows, with the values in force: those of MPI-4.1, 12.2, those of
/// P1 and P2, and ours. Keys that are not known are ignored, as the standard has it, and so are
/// values that cannot be honoured.
class WindowInfo {
public:
    /// The defaults, which for some keys the settings say.
    WindowInfo();

    /// Takes over the keys of `info` that may be changed by who may change those of this scope; so
    /// KeyScope::creation takes all. MPI_INFO_NULL has none. Throws std::bad_alloc.
    void update(MPI_Info info, KeyScope by);
    /// Takes over what all handles of a window have alike. Throws std::bad_alloc.
    void share(const WindowInfo& original);

    /// A new info object with every known key. The host's error code.
    int create(MPI_Info* info) const noexcept;

    [[nodiscard]] rma::Reorder reorder() const noexcept;
    [[nodiscard]] bool noncontiguous() const noexcept;
    /// Not all members have asked for that. Throws std::bad_alloc.
    void set_contiguous();
    /// mpi_win_scope=thread (P2, section 2.1).
    [[nodiscard]] bool thread_scope() const noexcept;
    /// In force where all members have promised it when the window was made; nothing changes it
    /// later.
    [[nodiscard]] bool no_exclusive_locks() const noexcept { return no_exclusive_locks_; }
    void set_no_exclusive_locks(bool promised) noexcept { no_exclusive_locks_ = promised; }
    /// Handlers of active messages run at the target, wherever its memory is mapped. In force where
    /// any member has asked for it when the window was made.
    [[nodiscard]] bool active_at_target() const noexcept { return active_at_target_; }
    void set_active_at_target(bool asked) noexcept { active_at_target_ = asked; }
    /// Operations complete at their target in the order of issue (P2, section 2.2).
    [[nodiscard]] bool ordered() const noexcept;
    /// am_ordering (P5, section IV.E.1).
    [[nodiscard]] rma::ActiveOrder active_ordering() const noexcept;
    /// Accumulates are such as MPIX_Win_op_intrinsic says yes to (P2, section 2.3), by the
    /// program's word; and `asserts_single`: on one element each, as Open MPI's key has it.
    [[nodiscard]] bool asserts_intrinsic() const noexcept;
    [[nodiscard]] bool asserts_single() const noexcept;
    /// sidelight_progress; automatic: as the process has it.
    [[nodiscard]] Progress progress() const noexcept;
    /// sidelight_early_return, in bytes.
    [[nodiscard]] std::size_t early_return() const noexcept;
    [[nodiscard]] SharePolicy share_policy() const noexcept;
    /// Of a call that sets the number of counters of notifications (MPI-5.1, 12.6): what the
    /// program says of one such call does not count for the next one.
    void note_notifications(MPI_Info info);
    /// All members have as many of them, by the program's word.
    [[nodiscard]] bool same_notifications() const noexcept;
    /// What memory that MPI allocates is aligned to at least, a power of two (MPI-4.1, 9.2). What
    /// is none, or more than a GiB, asks for nothing.
    [[nodiscard]] std::size_t minimum_alignment() const noexcept;

private:
    static constexpr std::size_t keys = 25;
    using Values = std::array<std::string, keys>;

    static std::shared_ptr<const Values> defaults();
    [[nodiscard]] const char* in_force(std::size_t key) const noexcept;
    [[nodiscard]] bool is_set(std::size_t key) const noexcept;
    void set(std::size_t key, std::string value);

    std::shared_ptr<const Values> values_; ///< copied before a change: mostly all have the same
    // Agreed on by all members, when nothing may fail any more; before that this member's wish.
    bool no_exclusive_locks_ = false;
    bool active_at_target_ = false;
};

} // namespace sidelight::runtime
