// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/table.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "host/mpi/large_counts.hpp"

namespace sidelight::host::mpi {
namespace {

/// Takes the first loaded library that is named like an MPI and has its functions.
int find_host(dl_phdr_info* library, std::size_t /*size*/, void* found) noexcept
{
    const char* slash = std::strrchr(library->dlpi_name, '/');
    const char* file = slash == nullptr ? library->dlpi_name : slash + 1;
    if (std::strncmp(file, "libmpi", 6) != 0) {
        return 0;
    }
    void* handle = dlopen(library->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr || dlsym(handle, "PMPI_Init") == nullptr) {
        return 0;
    }
    *static_cast<void**>(found) = handle;
    return 1;
}

/// The host's own library; null where none is named like one.
void* own_library() noexcept
{
    void* found = nullptr;
    dl_iterate_phdr(find_host, &found);
    return found;
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
void* find_in(void* library, const char* name) noexcept
{
    void* found = dlsym(library, name);
    return found == nullptr && library == RTLD_NEXT ? find_in_host(name) : found;
}

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
    void* library = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (library == nullptr) {
        return nullptr;
    }
    void* found = dlsym(library, name);
    if (found != nullptr && is_ours(library, found)) {
        found = nullptr;
    }
    dlclose(library); // whoever loaded it has it still
    return found;
}

void* find_in_files(const char* name) noexcept
{
    Files files;
    dl_iterate_phdr(note_file, &files);
    void* found = nullptr;
    for (auto file = files.begin(); found == nullptr && file != files.end(); ++file) {
        found = find_in_file(*file, name);
    }
    return found;
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
