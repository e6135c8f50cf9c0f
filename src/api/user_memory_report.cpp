// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "host/memory/replacement.hpp"
#include "host/signals.hpp"

using namespace sidelight::host;

/// What becomes of other threads while memory that a program brings is made shareable, for
/// `sidelight info`: held, stopped, or neither, and then it stays private where there are any.
SIDELIGHT_ENTRY const char* sidelight_other_threads()
{
    const SignalsBlocked blocked;
    switch (memory::best_others()) {
    case memory::Others::hold:
        return "held";
    case memory::Others::stop:
        return "stopped";
    case memory::Others::none:
        break;
    }
    return "neither";
}
