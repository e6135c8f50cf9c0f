// SPDX-License-Identifier: BSD-3-Clause
#include "messages/host_threads.hpp"

#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

#include "base/kept_signals.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "messages/calls.hpp"

namespace sidelight::messages {

namespace {

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5

/// As Open MPI's launcher says it.
bool has_several_nodes() noexcept
{
    const char* all = std::getenv("OMPI_COMM_WORLD_SIZE");
    const char* here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    return all != nullptr && here != nullptr && std::strcmp(all, here) != 0;
}

bool has_ucx() noexcept
{
    const char* name = settings().ucx == "auto" ? "libucp.so.0" : settings().ucx.c_str();
    const KeptSignals kept;
    void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        return false;
    }
    dlclose(library);
    return true;
}

bool windows_need_one_thread() noexcept { return has_several_nodes() && !has_ucx(); }

#else

bool windows_need_one_thread() noexcept { return false; }

#endif

} // namespace

bool threads_would_harm() noexcept
{
    static const bool harm = windows_need_one_thread();
    if (harm) {
        log(LogLevel::warn, "no progress of messages: with MPI_THREAD_MULTIPLE this MPI has no "
                            "windows between nodes, and there is no UCX for ours");
    }
    return harm;
}

void tell_program_level(int level) noexcept
{
    auto* tell = reinterpret_cast<void (*)(int)>(find_sidelight("sidelight_set_program_threads"));
    if (tell != nullptr) {
        tell(level);
    }
}

} // namespace sidelight::messages
