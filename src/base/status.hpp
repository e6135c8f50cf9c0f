// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight {

/// What a call decided. Everything below `api` answers with a Status; `api` turns it into the MPI
/// error class of the same name and calls the window's error handler.
enum class [[nodiscard]] Status : std::uint8_t{
    ok,
    win,              ///< not a window, or a freed one
    rank,             ///< not a rank of the window's group
    disp,             ///< displacement unit or displacement that cannot be
    count,            ///< negative count
    type,             ///< datatype that is null, uncommitted or not usable here
    op,               ///< operation that does not fit the datatype, or is not predefined
    assertion,        ///< unknown bits in an assertion
    lock_type,        ///< neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE, or not for this window
    rma_sync,         ///< wrong synchronisation: no epoch, or one that forbids the call
    rma_conflict,     ///< conflicting accesses to a window
    rma_range,        ///< access outside the target's window
    rma_attach,       ///< memory cannot be attached
    rma_shared,       ///< memory cannot be shared
    rma_flavor,       ///< wrong flavour of window
    rma_notification, ///< no such counter of notifications, or one that is gone
    size,             ///< invalid size
    base,             ///< invalid base address
    buffer,           ///< null address of data that are read or written
    argument,         ///< any other invalid argument
    group,            ///< null group, or one with members outside the window
    info,             ///< invalid info object
    no_memory,        ///< out of memory
    unsupported,      ///< cannot be done on this window
    lost,             ///< a member of the window cannot be reached any more
    other,            ///< an error of the host MPI or the system
};

/// The term used for it in messages, equal to the enumerator.
[[nodiscard]] const char* name(Status status) noexcept;

} // namespace sidelight
