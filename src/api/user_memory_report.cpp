// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "host/memory/shareable.hpp"

using namespace sidelight::host::memory;

namespace {

const char* name_of(OtherThreads others) noexcept
{
    switch (others) {
    case OtherThreads::held:
        return "held";
    case OtherThreads::stopped:
        return "stopped";
    case OtherThreads::neither:
        break;
    }
    return "neither";
}

} // namespace

/// What becomes of other threads while memory that a program brings is made shareable, for
/// `sidelight info`: held, stopped, or neither, and then it stays private where there are any.
SIDELIGHT_ENTRY const char* sidelight_other_threads() { return name_of(other_threads()); }
