// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

namespace sidelight::host::mpi {

/// Requests that are complete from the start. One of them, a generalized request of the host, is
/// the library's: it goes to the program, and where MPI_Wait ends it, which is ours, it comes back,
/// and the host hears of neither. Any other call ends it at the host, whose last word on it
/// (`freed`) comes before its handle can be another request's.
///
/// Threads: those of the program, of which one calls at a time while `keep` is in force; else
/// nothing is written.
class CompletedRequest {
public:
    /// From now on, or no longer. Ends the one that is here; one that the program has is the
    /// host's affair from then on.
    static void keep(bool wanted) noexcept;

    /// A communicator of this process, by which nothing is sent, or null: from now on the host may
    /// be asked for requests of it. Any thread, which sees then what others have done before their
    /// last use of this.
    static void use(MPI_Comm comm) noexcept;

    [[nodiscard, gnu::always_inline]] static Status create(MPI_Request* handle) noexcept
    {
        const MPI_Request here = here_.load(std::memory_order_relaxed);
        if (here == none) [[unlikely]] {
            return create_another(handle);
        }
        here_.store(none, std::memory_order_relaxed);
        away_.store(here, std::memory_order_relaxed);
        *handle = here;
        return Status::ok;
    }

    /// Whether the program waits for the library's own one.
    [[nodiscard, gnu::always_inline]] static bool is_own(const MPI_Request* handle) noexcept
    {
        const MPI_Request away = away_.load(std::memory_order_relaxed);
        return away != none && handle != nullptr && *handle == away;
    }
    /// Then the program has it no more.
    [[gnu::always_inline]] static void take_back(MPI_Request* handle) noexcept
    {
        here_.store(away_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        away_.store(none, std::memory_order_relaxed);
        *handle = MPI_REQUEST_NULL;
    }

private:
    static constexpr MPI_Request none{}; ///< no host has a request of that name

    static Status create_another(MPI_Request* handle) noexcept;
    static int freed(void* state) noexcept;

    static inline std::atomic<MPI_Request> here_{none}; ///< to be handed out next
    static inline std::atomic<MPI_Request> away_{none}; ///< the program has it
    static inline bool wanted_ = false;
    static inline int others_first_ = 0; ///< how many of the host's go out before a new one is made
};

} // namespace sidelight::host::mpi
