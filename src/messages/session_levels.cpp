// SPDX-License-Identifier: BSD-3-Clause
#include "messages/session_levels.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "host/mpi/session_level.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::messages {

namespace {

using host::mpi::table;

struct Known {
    MPI_Session session;
    int level;
};
std::mutex mutex; // guards known
/// Never destroyed: MPI may end when this library has.
std::vector<Known>& known()
{
    static auto* const made = new std::vector<Known>;
    return *made;
}

auto find(MPI_Session session) noexcept
{
    return std::find_if(known().begin(), known().end(),
                        [session](const Known& one) { return one.session == session; });
}

} // namespace

int level_asked_for(MPI_Info info) noexcept
{
    return host::mpi::session_level_in(info).value_or(MPI_THREAD_SINGLE);
}

MPI_Info with_threads(MPI_Info info) noexcept
{
    MPI_Info raised = MPI_INFO_NULL;
    if (info == MPI_INFO_NULL || table().Info_dup(info, &raised) != MPI_SUCCESS) {
        table().Info_create(&raised);
    }
    host::mpi::set_session_level(raised, MPI_THREAD_MULTIPLE);
    return raised;
}

bool has_threads(MPI_Session session) noexcept
{
    return host::mpi::session_level_of(session) == MPI_THREAD_MULTIPLE;
}

void remember_level(MPI_Session session, int level) noexcept
{
    const std::scoped_lock lock(mutex);
    try {
        known().push_back({session, level});
    } catch (const std::bad_alloc&) {
        return; // it is told the host's level
    }
}

std::optional<int> forget_level(MPI_Session session) noexcept
{
    const std::scoped_lock lock(mutex);
    const auto place = find(session);
    if (place == known().end()) {
        return std::nullopt;
    }
    const int level = place->level;
    known().erase(place);
    return level;
}

void answer_level(MPI_Session session, MPI_Info info) noexcept
{
    const std::scoped_lock lock(mutex);
    const auto place = find(session);
    if (place != known().end() && host::mpi::session_level_in(info)) {
        host::mpi::set_session_level(info, place->level);
    }
}

} // namespace sidelight::messages
