// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/fit.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>

#include "base/log.hpp"
#include "host/mpi/declarations.hpp"
#include "host/mpi/table.hpp"
#include "host/mpi/version.hpp"

namespace sidelight::host::mpi {
namespace {

#if defined(OPEN_MPI)
const Version built_for{Family::open_mpi, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION};
#elif defined(I_MPI_VERSION)
const Version built_for = version_of(Family::intel, I_MPI_VERSION);
#else
const Version built_for = version_of(Family::mpich, MPICH_VERSION);
#endif

/// The longest that any host answers: MPICH's MPI_MAX_LIBRARY_VERSION_STRING.
constexpr std::size_t version_bytes = 8192;

Version loaded_version() noexcept
{
    const auto ask =
        reinterpret_cast<int (*)(char*, int*)>(find_symbol("PMPI_Get_library_version"));
    static char text[version_bytes];
    int length = 0;
    return ask != nullptr && ask(text, &length) == 0 ? version_in(text) : Version{};
}

/// The predefined handles of Open MPI are addresses, which the loader puts into this library when
/// it loads it: to null where MPI comes later.
bool has_predefined_handles() noexcept
{
#ifdef OPEN_MPI
    return MPI_COMM_WORLD != MPI_Comm{};
#else
    return true;
#endif
}

/// An MPI that does not say what it is, is known by the symbols of its handles.
bool is_same_family() noexcept
{
    const bool open_mpi = find_symbol("ompi_mpi_comm_world") != nullptr;
    return open_mpi == (built_for.family == Family::open_mpi);
}

/// One rank speaks for all, where the launcher tells ranks.
bool is_first_rank() noexcept
{
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
        if (const char* rank = std::getenv(variable); rank != nullptr) {
            return std::strcmp(rank, "0") == 0;
        }
    }
    return true;
}

std::string file_of_host()
{
    Dl_info info{};
    const void* some_function = find_symbol("PMPI_Init");
    const bool known = some_function != nullptr && dladdr(some_function, &info) != 0;
    return known && info.dli_fname != nullptr ? info.dli_fname : "a file without a name";
}

void say_misfit(const Version& loaded)
{
    if (!is_first_rank()) {
        return;
    }
    const std::string other = loaded.family == Family::unknown ? "another MPI" : name_of(loaded);
    const std::string own = name_of(built_for);
    const std::string file = file_of_host();
    log(LogLevel::error,
        "this library is built for %s, and the program has loaded %s (%s): it steps aside and "
        "leaves all calls to that MPI; `sidelight run` takes the library that fits, and `make "
        "MPICC=...` builds one",
        own.c_str(), other.c_str(), file.c_str());
}

/// The MPI ABI has other handles than the <mpi.h> that this library is built with, and its library
/// answers with the same version.
bool is_abi(const std::string& file)
{
    return file.compare(file.find_last_of('/') + 1, 10, "libmpi_abi") == 0;
}

bool decide() noexcept
{
    if (const std::string file = file_of_host(); is_abi(file)) {
        if (is_first_rank()) {
            log(LogLevel::error,
                "the program has loaded the library of the MPI ABI (%s), for which there is no "
                "Sidelight: it steps aside and leaves all calls to that MPI; link the program to "
                "the MPI's own library",
                file.c_str());
        }
        return false;
    }
    const Version loaded = loaded_version();
    const bool fits = loaded.family == Family::unknown ? is_same_family() : loaded == built_for;
    if (!fits) {
        say_misfit(loaded);
    } else if (!has_predefined_handles()) {
        if (is_first_rank()) {
            log(LogLevel::error,
                "Open MPI was loaded after this library: it steps aside and leaves all calls to "
                "that MPI; preload its libmpi.so.40 behind this library, as `sidelight run --host` "
                "does");
        }
        return false;
    }
    return fits;
}

} // namespace

bool fits_host() noexcept
{
    static const bool fits = find_symbol("PMPI_Init") == nullptr || decide();
    return fits;
}

} // namespace sidelight::host::mpi
