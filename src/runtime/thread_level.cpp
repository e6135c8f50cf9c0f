// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/thread_level.hpp"

#include <array>
#include <atomic>
#include <string_view>

#include "host/mpi/table.hpp"

namespace sidelight::runtime {

namespace {

/// Relaxed: only ever set, before the window that is the reason to ask.
std::atomic<bool> session_seen{false};
std::atomic<bool> session_with_threads{false};
constexpr int not_told = -1;
std::atomic<int> told_level{not_told};

/// Whether the session has MPI_THREAD_MULTIPLE, also where the host does not tell.
bool may_use_threads(MPI_Session session) noexcept
{
    const auto& mpi = host::mpi::table();
    MPI_Info info = MPI_INFO_NULL;
    if (mpi.Session_get_info == nullptr || mpi.Session_get_info(session, &info) != MPI_SUCCESS ||
        info == MPI_INFO_NULL) {
        return true;
    }
    std::array<char, 64> level{};
    int flag = 0;
    const int code =
        mpi.Info_get(info, "thread_level", static_cast<int>(level.size()) - 1, level.data(), &flag);
    mpi.Info_free(&info);
    const std::string_view known = level.data();
    return code != MPI_SUCCESS || flag == 0 ||
           (known != "MPI_THREAD_SINGLE" && known != "MPI_THREAD_FUNNELED" &&
            known != "MPI_THREAD_SERIALIZED");
}

} // namespace

void learn_session(MPI_Session session) noexcept
{
    session_seen.store(true, std::memory_order_relaxed);
    if (may_use_threads(session)) {
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
