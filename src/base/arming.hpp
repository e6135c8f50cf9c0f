// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight {

/// What a sleeper is answered who wants to be told by a network's descriptor.
enum class Arming : std::uint8_t {
    armed,   ///< what comes from now on is told
    news,    ///< something has come already: look, and do not sleep
    unarmed, ///< what comes may not be told: sleep for a while only
    refused, ///< it tells nothing any more, now or later
};

} // namespace sidelight
