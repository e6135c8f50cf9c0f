// SPDX-License-Identifier: BSD-3-Clause
#include <sidelight.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include "api/entry.hpp"
#include "base/settings.hpp"
#include "host/mpi/fit.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_table.hpp"

/// About the library; and for whoever looks for the reason of a wait: by call, or from a debugger.
/// Not from a signal handler: the table of windows has a lock.
using namespace sidelight;
using namespace sidelight::runtime;

namespace {

void write_line(void* context, const char* text) noexcept
{
    char line[256];
    const int length =
        std::snprintf(line, sizeof line, "sidelight[%d]   %s\n", static_cast<int>(getpid()), text);
    const std::size_t bytes = std::min(sizeof line - 1, static_cast<std::size_t>(length));
    [[maybe_unused]] const ssize_t written = write(*static_cast<const int*>(context), line, bytes);
}

void describe(WindowObject& object, void* context)
{
    if (object.duplicate) {
        return;
    }
    char text[128];
    std::snprintf(text, sizeof text, "window %" PRIx64 ", rank %d of %d: %zu epochs pending",
                  object.window->id(), object.window->rank(), object.window->size(),
                  object.window->pending_epochs());
    write_line(context, text);
    object.window->describe(write_line, context);
}

} // namespace

SIDELIGHT_ENTRY const char* sidelight_version(void) { return SIDELIGHT_VERSION; }

SIDELIGHT_ENTRY int sidelight_active(void)
{
    return settings().enable && host::mpi::fits_host() ? 1 : 0;
}
SIDELIGHT_ENTRY int sidelight_active_() { return sidelight_active(); }

SIDELIGHT_ENTRY void sidelight_dump(int fd)
{
    window_table::for_each(describe, &fd);
    Runtime* runtime = Runtime::existing();
    if (runtime != nullptr && runtime->helpers().has_interrupted()) {
        std::array<char, 256> line{};
        runtime->helpers().print_counts(line);
        write_line(&fd, line.data());
    }
}

SIDELIGHT_ENTRY void sidelight_dump_(const MPI_Fint* fd) { sidelight_dump(*fd); }
