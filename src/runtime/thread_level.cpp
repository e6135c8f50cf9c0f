// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/thread_level.hpp"

#include <atomic>

#include "host/mpi/session_level.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::runtime {

namespace {

/// Relaxed: only ever set, before the window that is the reason to ask.
std::atomic<bool> session_seen{false};
std::atomic<bool> session_with_threads{false};
constexpr int not_told = -1;
std::atomic<int> told_level{not_told};

} // namespace

void learn_session(MPI_Session session) noexcept
{
    session_seen.store(true, std::memory_order_relaxed);
    if (host::mpi::session_level_of(session).value_or(MPI_THREAD_MULTIPLE) == MPI_THREAD_MULTIPLE) {
        session_with_threads.store(true, std::memory_order_relaxed);
    }
}

void learn_program_level(int level) noexcept
{
    int told = told_level.load(std::memory_order_relaxed);
    while (told < level &&
           !told_level.compare_exchange_weak(told, level, std::memory_order_relaxed)) {
    }
}

bool host_has_more_threads() noexcept
{
    return told_level.load(std::memory_order_relaxed) != not_told;
}

bool threads_possible() noexcept
{
    if (const int level = told_level.load(std::memory_order_relaxed); level != not_told) {
        return level == MPI_THREAD_MULTIPLE;
    }
    const auto& mpi = host::mpi::table();
    int initialized = 0;
    int level =
        session_seen.load(std::memory_order_relaxed) ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    if (mpi.Initialized(&initialized) == MPI_SUCCESS && initialized != 0) {
        mpi.Query_thread(&level);
    }
    return level == MPI_THREAD_MULTIPLE || session_with_threads.load(std::memory_order_relaxed);
}

} // namespace sidelight::runtime
