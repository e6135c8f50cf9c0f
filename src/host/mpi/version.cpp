// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/version.hpp"

#include <array>
#include <cstdio>
#include <cstring>

namespace sidelight::host::mpi {
namespace {

struct Wording {
    Family family;
    const char* name;
    const char* before; ///< what its MPI_Get_library_version has before the numbers; null: nothing
};

constexpr std::array wordings{
    Wording{Family::open_mpi, "Open MPI", "Open MPI v"},
    Wording{Family::mpich, "MPICH", "MPICH Version:"},
    Wording{Family::intel, "Intel MPI", "Intel(R) MPI Library"},
    Wording{Family::abi, "the MPI ABI", nullptr},
};

} // namespace

Version version_of(Family family, const char* numbers) noexcept
{
    Version version{.family = family};
    return std::sscanf(numbers, "%d.%d", &version.major, &version.minor) == 2 ? version : Version{};
}

Version version_in(const char* text) noexcept
{
    for (const Wording& wording : wordings) {
        const char* found = wording.before != nullptr ? std::strstr(text, wording.before) : nullptr;
        if (found != nullptr) {
            return version_of(wording.family, found + std::strlen(wording.before));
        }
    }
    return {};
}

std::string name_of(const Version& version)
{
    for (const Wording& wording : wordings) {
        if (wording.family == version.family) {
            return std::string(wording.name) + ' ' + std::to_string(version.major) + '.' +
                   std::to_string(version.minor);
        }
    }
    return "an MPI that is not known";
}

} // namespace sidelight::host::mpi
