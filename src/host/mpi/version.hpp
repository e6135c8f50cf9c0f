// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

/// Which MPI a text is about. Handles, predefined ones above all, are those of a family and of one
/// version line of it, which its first two numbers name; those of the MPI ABI, whose versions are
/// its own, are the same for all that have it. Knows no <mpi.h>.
namespace sidelight::host::mpi {

enum class Family : std::uint8_t { unknown, mpich, open_mpi, intel, abi };

struct Version {
    Family family = Family::unknown;
    int major = 0;
    int minor = 0;

    friend bool operator==(const Version&, const Version&) = default;
};

/// Out of what MPI_Get_library_version answers. Unknown if it is none of those families.
[[nodiscard]] Version version_in(const char* text) noexcept;

/// Out of numbers, as "4.1.3".
[[nodiscard]] Version version_of(Family family, const char* numbers) noexcept;

/// As in a sentence: "MPICH 4.1".
[[nodiscard]] std::string name_of(const Version& version);

} // namespace sidelight::host::mpi
