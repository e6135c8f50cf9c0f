// SPDX-License-Identifier: BSD-3-Clause
#include "messages/session_levels.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "host/mpi/table.hpp"

namespace sidelight::messages {

namespace {

using host::mpi::table;

constexpr const char* key = "thread_level";

struct Name {
    int level;
    const char* text;
};
constexpr std::array level_names{Name{MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
                                 Name{MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
                                 Name{MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
                                 Name{MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"}};

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

/// -1: it does not say.
int level_in(MPI_Info info) noexcept
{
    std::array<char, 64> text{};
    int flag = 0;
    if (info == MPI_INFO_NULL ||
        table().Info_get(info, key, static_cast<int>(text.size()) - 1, text.data(), &flag) !=
            MPI_SUCCESS ||
        flag == 0) {
        return -1;
    }
    const auto* found = std::find_if(level_names.begin(), level_names.end(), [&](const Name& name) {
        return std::string_view(text.data()) == name.text;
    });
    return found != level_names.end() ? found->level : -1;
}

auto find(MPI_Session session) noexcept
{
    return std::find_if(known().begin(), known().end(),
                        [session](const Known& one) { return one.session == session; });
}

} // namespace

int level_asked_for(MPI_Info info) noexcept
{
    return std::max<int>(level_in(info), MPI_THREAD_SINGLE);
}

MPI_Info with_threads(MPI_Info info) noexcept
{
    MPI_Info raised = MPI_INFO_NULL;
    if (info == MPI_INFO_NULL || table().Info_dup(info, &raised) != MPI_SUCCESS) {
        table().Info_create(&raised);
    }
    table().Info_set(raised, key, "MPI_THREAD_MULTIPLE");
    return raised;
}

bool has_threads(MPI_Session session) noexcept
{
    MPI_Info info = MPI_INFO_NULL;
    if (table().Session_get_info(session, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) {
        return false;
    }
    const int level = level_in(info);
    table().Info_free(&info);
    return level == MPI_THREAD_MULTIPLE;
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
    if (place != known().end() && level_in(info) >= 0) {
        table().Info_set(info, key, level_names[static_cast<std::size_t>(place->level)].text);
    }
}

} // namespace sidelight::messages
