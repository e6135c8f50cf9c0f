// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/settings.hpp"
#include "host/mpi/declarations.hpp"
#include "rma/kinds.hpp"

namespace sidelight::runtime {

/// Whether it is one, or MPI_INFO_NULL, as far as the host can tell.
[[nodiscard]] bool is_info(MPI_Info info) noexcept;

/// The info keys that a window knows, with the values in force: those of MPI-4.1, 12.2, and the
/// four of P1. Keys that are not known are ignored, as the standard has it.
class WindowInfo {
public:
    /// The defaults, with the reorder keys from the settings.
    WindowInfo();

    /// Takes over the known keys of `info`; MPI_INFO_NULL has none.
    void update(MPI_Info info);

    /// A new info object with every known key. The host's error code.
    int create(MPI_Info* info) const noexcept;

    [[nodiscard]] rma::Reorder reorder() const noexcept;
    [[nodiscard]] bool noncontiguous() const noexcept;
    /// In force where all members have promised it when the window was made; nothing changes it
    /// later.
    [[nodiscard]] bool no_exclusive_locks() const noexcept;
    void set_no_exclusive_locks(bool promised) noexcept;
    [[nodiscard]] SharePolicy share_policy() const noexcept;
    /// The keys that are about notifications (MPI-5.1, 12.6).
    void note_notifications(MPI_Info info);
    /// All members have as many counters, by the program's word.
    [[nodiscard]] bool same_notifications() const noexcept;
    /// What memory that MPI allocates is aligned to at least, a power of two (MPI-4.1, 9.2). What
    /// is none, or more than a GiB, asks for nothing.
    [[nodiscard]] std::size_t minimum_alignment() const noexcept;

private:
    static constexpr std::size_t keys = 17;
    [[nodiscard]] bool is_set(std::size_t key) const noexcept;

    std::array<std::string, keys> values_;
};

} // namespace sidelight::runtime
