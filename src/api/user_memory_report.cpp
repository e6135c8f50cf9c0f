// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "host/memory/replacement.hpp"
#include "host/signals.hpp"

using namespace sidelight::host;

/// Whether other threads can be stopped while memory that a program brings is made shareable, for
/// `sidelight info`. If not, that memory stays private where there are any.
SIDELIGHT_ENTRY bool sidelight_can_stop_threads()
{
    const SignalsBlocked blocked;
    return memory::can_replace(memory::Others::stop);
}
