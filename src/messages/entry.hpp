// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "messages/messages.hpp"

/// How functions are exported: as those of libsidelight.so (api/entry.hpp), by words. A call with a
/// function of its own has an `own_X`, which entry.cpp exports as MPI_X and PMPI_X.
#define SIDELIGHT_ENTRY extern "C" __attribute__((visibility("default")))
#define SIDELIGHT_OWN extern "C"

namespace sidelight::messages {

/// Of a call's words the one that it returns has more bits than the code in it.
[[nodiscard]] inline bool is_success(Word code) noexcept
{
    return static_cast<int>(code) == MPI_SUCCESS;
}

/// Runs `call(messages)` as a call of the program's. Only while something is looked after.
template <class Body>
Word attended(Body body) noexcept
{
    Messages& messages = *Messages::active();
    const Inside inside(messages);
    return body(messages);
}

/// Runs `call(messages, poll)` likewise, as one that polls.
template <class Body>
Word polled(Body body) noexcept
{
    Messages& messages = *Messages::active();
    InPoll poll(messages);
    return body(messages, poll);
}

} // namespace sidelight::messages
