// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/fit.hpp"

#include <atomic>
#include <cstdint>
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

/// Also in the first call of a program that makes it before this library is initialised: in the
/// constructor of a library that it is linked to.
const Version& built_for() noexcept
{
#if SIDELIGHT_MPI_ABI
    static const Version version{Family::abi, MPI_ABI_VERSION, 0};
#elif defined(OPEN_MPI)
    static const Version version{Family::open_mpi, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION};
#elif defined(I_MPI_VERSION)
    static const Version version = version_of(Family::intel, I_MPI_VERSION);
#else
    static const Version version = version_of(Family::mpich, MPICH_VERSION);
#endif
    return version;
}

/// The longest that any host answers: MPICH's MPI_MAX_LIBRARY_VERSION_STRING.
constexpr std::size_t version_bytes = 8192;

Version ask_version() noexcept
{
    const auto ask =
        reinterpret_cast<int (*)(char*, int*)>(find_symbol("PMPI_Get_library_version"));
    static char text[version_bytes];
    int length = 0;
    return ask != nullptr && ask(text, &length) == 0 ? version_in(text) : Version{};
}

const Version& said_version() noexcept
{
    static const Version said = ask_version();
    return said;
}

/// By a function that none of our libraries exports: one of them may lie above the other.
std::string file_of_host()
{
    Dl_info info{};
    const void* some_function = find_symbol("PMPI_Get_library_version");
    const bool known = some_function != nullptr && dladdr(some_function, &info) != 0;
    return known && info.dli_fname != nullptr ? info.dli_fname : "a file without a name";
}

/// The version whose handles it has. The library of the MPI ABI has those of that, and says the
/// version of its MPI. Its subversions add to the ABI and change nothing (MPI-5.0, 20.2).
Version loaded_version(const std::string& file) noexcept
{
    if (file.compare(file.find_last_of('/') + 1, std::strlen("libmpi_abi"), "libmpi_abi") != 0) {
        return said_version();
    }
    const auto ask = reinterpret_cast<int (*)(int*, int*)>(find_symbol("PMPI_Abi_get_version"));
    Version version{.family = Family::abi};
    int subversion = 0;
    return ask != nullptr && ask(&version.major, &subversion) == 0 ? version : Version{};
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
    return open_mpi == (built_for().family == Family::open_mpi);
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

void say_misfit(const Version& loaded, const std::string& file)
{
    if (!is_first_rank()) {
        return;
    }
    const std::string other = loaded.family == Family::unknown ? "another MPI" : name_of(loaded);
    const std::string own = name_of(built_for());
    log(LogLevel::error,
        "this library is built for %s, and the program has loaded %s (%s): it steps aside and "
        "leaves all calls to that MPI; `sidelight run` takes the library that fits, and `make "
        "MPICC=...` builds one",
        own.c_str(), other.c_str(), file.c_str());
}

bool decide() noexcept
{
    const std::string file = file_of_host();
    const Version loaded = loaded_version(file);
    const bool fits = loaded.family == Family::unknown ? is_same_family() : loaded == built_for();
    if (!fits) {
        say_misfit(loaded, file);
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
    enum class Answer : std::uint8_t { none, no, yes };
    static std::atomic<Answer> known{Answer::none};
    Answer answer = known.load(std::memory_order_relaxed);
    if (answer == Answer::none && has_profiled_names()) {
        static const bool fits = decide();
        answer = fits ? Answer::yes : Answer::no;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == Answer::yes;
}

Family host_family() noexcept { return said_version().family; }

} // namespace sidelight::host::mpi
