// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/worker_hook.hpp"

#include <atomic>
#include <cstdint>

#include "host/mpi/table.hpp"

#if SIDELIGHT_HOST_LACKS_HOOK

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>

namespace sidelight::host::mpi {

namespace {

using Progress = unsigned(void* worker);

/// Where a library lies in memory.
struct Extent {
    std::uintptr_t base = 0;
    std::uintptr_t end = 0;

    [[nodiscard]] bool holds(const void* address) const noexcept
    {
        const auto number = reinterpret_cast<std::uintptr_t>(address);
        return base <= number && number < end;
    }
};

/// A library, and the function that it is linked to: the host, or another caller.
struct Linked {
    Extent library;
    Progress* progress = nullptr;
};

std::atomic<bool> seen{false}; ///< relaxed: the asker has been in the loop itself
std::atomic<bool (*)(bool) noexcept> worker_sweep{nullptr};

/// `wanted` holds one address, and afterwards the library in which that lies, if it is this one.
int measure(dl_phdr_info* library, std::size_t /*size*/, void* wanted) noexcept
{
    auto& extent = *static_cast<Extent*>(wanted);
    Extent all{.base = UINTPTR_MAX};
    bool is_this = false;
    for (std::size_t i = 0; i < library->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = library->dlpi_phdr[i];
        if (part.p_type == PT_LOAD) {
            const std::uintptr_t begin = library->dlpi_addr + part.p_vaddr;
            const std::uintptr_t end = begin + part.p_memsz;
            all = {.base = std::min(all.base, begin), .end = std::max(all.end, end)};
            is_this = is_this || (begin <= extent.base && extent.base < end);
        }
    }
    extent = is_this ? all : extent;
    return is_this ? 1 : 0;
}

/// The library in which that lies, named if the loader knows it; else that address alone.
Extent library_of(const void* address, const char*& name) noexcept
{
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    Dl_info info{};
    Extent extent{.base = number, .end = number + 1};
    if (address != nullptr && dladdr(address, &info) != 0) {
        name = info.dli_fname;
        dl_iterate_phdr(measure, &extent);
    }
    return extent;
}

Linked find_host() noexcept
{
    const char* name = nullptr;
    return {.library = library_of(find_symbol("PMPI_Init"), name),
            .progress = reinterpret_cast<Progress*>(find_symbol("ucp_worker_progress"))};
}

/// UCX calls itself by this name too, and there may be several in one process: each caller gets the
/// one that it is linked to.
Linked look_up_for(const void* caller) noexcept
{
    const char* name = nullptr;
    const Extent extent = library_of(caller, name);
    void* library = name != nullptr ? dlopen(name, RTLD_NOLOAD | RTLD_LAZY) : nullptr;
    void* linked = library != nullptr ? dlsym(library, "ucp_worker_progress") : nullptr;
    if (library != nullptr) {
        dlclose(library); // its caller holds it
    }
    if (linked == nullptr) { // its caller finds it in the search order of the program
        linked = dlsym(RTLD_NEXT, "ucp_worker_progress");
    }
    return {.library = extent, .progress = reinterpret_cast<Progress*>(linked)};
}

/// The same, asking the loader once for each library: beside an MPI that this library does not fit,
/// the caller may be a loop of that MPI, and a program may have UCX of its own.
Progress* progress_for(const void* caller) noexcept
{
    thread_local std::array<Linked, 4> known; // the latest ones
    thread_local std::size_t next = 0;
    for (const Linked& one : known) {
        if (one.library.holds(caller)) {
            return one.progress;
        }
    }
    Linked& latest = known[next++ % known.size()];
    latest = look_up_for(caller);
    return latest.progress;
}

/// Null as long as there is no MPI.
const Linked* host() noexcept
{
    static std::atomic<bool> loaded{false};
    if (!loaded.load(std::memory_order_relaxed)) {
        if (!has_profiled_names()) {
            return nullptr;
        }
        loaded.store(true, std::memory_order_relaxed);
    }
    static const Linked found = find_host();
    return &found;
}

/// Its callers are UCX and, each time round its loop, the host.
unsigned progress(void* worker, const void* caller) noexcept
{
    const Linked* from = host();
    if (from == nullptr || from->progress == nullptr || !from->library.holds(caller)) [[unlikely]] {
        Progress* linked = progress_for(caller);
        return linked != nullptr ? linked(worker) : 0;
    }
    const unsigned events = from->progress(worker);
    if (bool (*const sweep)(bool) noexcept = worker_sweep.load(std::memory_order_acquire)) {
        sweep(events != 0);
    } else if (!seen.load(std::memory_order_relaxed)) {
        seen.store(true, std::memory_order_relaxed);
    }
    return events;
}

} // namespace

bool has_worker_hook() noexcept { return seen.load(std::memory_order_relaxed); }

void set_worker_hook(bool (*sweep)(bool host_moved) noexcept) noexcept
{
    worker_sweep.store(sweep, std::memory_order_release);
}

} // namespace sidelight::host::mpi

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker)
{
    return sidelight::host::mpi::progress(worker, __builtin_return_address(0));
}

#else

namespace sidelight::host::mpi {

bool has_worker_hook() noexcept { return false; }
void set_worker_hook(bool (* /*sweep*/)(bool) noexcept) noexcept {}

} // namespace sidelight::host::mpi

#endif
