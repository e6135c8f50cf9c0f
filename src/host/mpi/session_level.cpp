// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/session_level.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {

namespace {

constexpr const char* level_key = "thread_level";

struct LevelName {
    int level;
    const char* text;
};
constexpr std::array level_names{LevelName{MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
                                 LevelName{MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
                                 LevelName{MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
                                 LevelName{MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"}};

} // namespace

std::optional<int> session_level_in(MPI_Info info) noexcept
{
    std::array<char, 64> text{};
    int flag = 0;
    if (info == MPI_INFO_NULL ||
        table().Info_get(info, level_key, static_cast<int>(text.size()) - 1, text.data(), &flag) !=
            MPI_SUCCESS ||
        flag == 0) {
        return std::nullopt;
    }
    for (const LevelName& name : level_names) {
        if (std::string_view(text.data()) == name.text) {
            return name.level;
        }
    }
    return std::nullopt;
}

std::optional<int> session_level_of(MPI_Session session) noexcept
{
    MPI_Info info = MPI_INFO_NULL;
    if (table().Session_get_info == nullptr ||
        table().Session_get_info(session, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) {
        return std::nullopt;
    }
    const std::optional<int> level = session_level_in(info);
    table().Info_free(&info);
    return level;
}

void set_session_level(MPI_Info info, int level) noexcept
{
    const auto* name = std::find_if(level_names.begin(), level_names.end(),
                                    [=](const LevelName& one) { return one.level == level; });
    if (name != level_names.end()) {
        table().Info_set(info, level_key, name->text);
    }
}

} // namespace sidelight::host::mpi
