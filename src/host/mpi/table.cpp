// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/table.hpp"

#include <dlfcn.h>
#include <link.h>

#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "host/mpi/large_counts.hpp"

namespace sidelight::host::mpi {
namespace {

using Files = std::vector<std::string>;

/// Names alone: the loader's lock is held, under which no library may be asked for.
int note_file(dl_phdr_info* library, std::size_t /*size*/, void* files) noexcept
{
    try {
        static_cast<Files*>(files)->emplace_back(library->dlpi_name);
    } catch (const std::bad_alloc&) {
        return 1;
    }
    return 0;
}

Files loaded_files() noexcept
{
    Files files;
    dl_iterate_phdr(note_file, &files);
    return files;
}

/// Null where it is loaded no more. `flags`: further ones for dlopen.
void* find_library(const std::string& file, int flags = 0) noexcept
{
    void* library = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOLOAD | RTLD_LAZY | flags);
    if (library != nullptr) {
        dlclose(library); // whoever loaded it has it still
    }
    return library;
}

bool is_named_like_mpi(std::string_view file) noexcept
{
    return file.substr(file.rfind('/') + 1).starts_with("libmpi");
}

/// The host's own library: the first that is named like an MPI and has its functions. Null where
/// none is. It stays loaded, as what is found in it is kept.
void* own_library() noexcept
{
    for (const std::string& file : loaded_files()) {
        void* library = is_named_like_mpi(file) ? find_library(file, RTLD_NODELETE) : nullptr;
        if (library != nullptr && dlsym(library, "PMPI_Init") != nullptr) {
            return library;
        }
    }
    return nullptr;
}

/// Where the host's symbols are: after this library in the order of search, or, where the host came
/// by a dlopen that kept its symbols to itself (a Python module), in its own library.
void* host_library() noexcept
{
    if (dlsym(RTLD_NEXT, "PMPI_Init") != nullptr) {
        return RTLD_NEXT;
    }
    void* found = own_library();
    return found != nullptr ? found : RTLD_NEXT;
}

/// What comes next may be another library of ours, which has not all of the host's.
void* find_profiled(void* library, const char* name) noexcept
{
    void* found = dlsym(library, name);
    return found == nullptr && library == RTLD_NEXT ? find_in_host(name) : found;
}

/// Beside a host that has PMPI names, an MPI_X would be a tool's, which calls PMPI_X.
void* find_in(void* library, const char* name) noexcept
{
    void* found = find_profiled(library, name);
    const bool is_unprofiled =
        found == nullptr && std::string_view(name).starts_with("PMPI_") && !has_profiled_names();
    return is_unprofiled ? dlsym(RTLD_NEXT, name + 1) : found;
}

const void* start_of_library(const void* address) noexcept
{
    Dl_info info{};
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// This library, or one of ours for another host.
bool is_ours(void* library, const void* symbol) noexcept
{
    const void* of_sidelight = dlsym(library, "sidelight_version");
    return of_sidelight != nullptr && start_of_library(of_sidelight) == start_of_library(symbol);
}

/// What that file, or one that it is linked to, has of that name; it is open already.
void* find_in_file(const std::string& file, const char* name) noexcept
{
    void* library = find_library(file);
    void* found = library != nullptr ? dlsym(library, name) : nullptr;
    return found != nullptr && is_ours(library, found) ? nullptr : found;
}

void* find_in_files(const char* name) noexcept
{
    for (const std::string& file : loaded_files()) {
        if (void* found = find_in_file(file, name); found != nullptr) {
            return found;
        }
    }
    return nullptr;
}

template <typename Function>
void fill(void* library, const char* symbol, Function*& function) noexcept
{
    void* found = find_in(library, symbol);
    function = reinterpret_cast<Function*>(found != nullptr ? found : in_place_of(symbol));
}

Table load() noexcept
{
    Table table;
    void* library = host_library();
#define SIDELIGHT_HOST_FUNCTION(name) fill(library, "PMPI_" #name, table.name);
#include "host/mpi/functions.def"
#undef SIDELIGHT_HOST_FUNCTION
    return table;
}

} // namespace

/// By a function that none of our libraries exports: one of them may lie behind this one.
bool has_profiled_names() noexcept
{
    return find_profiled(host_library(), "PMPI_Initialized") != nullptr;
}

const Table& table() noexcept
{
    static const Table loaded = load();
    return loaded;
}

void* find_symbol(const char* name) noexcept { return find_in(host_library(), name); }

void* find_in_host(const char* name) noexcept
{
    void* library = own_library();
    return library != nullptr ? dlsym(library, name) : nullptr;
}

bool is_of_host(const void* address) noexcept
{
    const void* start = start_of_library(address);
    return start != nullptr && start == start_of_library(find_in_host("PMPI_Initialized"));
}

void* find_anywhere(const char* name) noexcept
{
    void* found = find_symbol(name);
    return found != nullptr ? found : find_in_files(name);
}

void* find_in_program(const char* name) noexcept
{
    void* found = dlsym(RTLD_DEFAULT, name);
    return found != nullptr ? found : find_in_files(name);
}

} // namespace sidelight::host::mpi
