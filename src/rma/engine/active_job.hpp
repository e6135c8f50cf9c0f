// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/active/call.hpp"

namespace sidelight::rma {

class Window;
struct ActiveIncoming;
struct Channel;
struct ActiveMessage;

/// One active message, or a piece of one, that a thread has taken to run it.
struct ActiveJob {
    Window* window = nullptr;
    ActiveMessage* here = nullptr;      ///< of this process, on memory that is mapped here
    ActiveIncoming* incoming = nullptr; ///< of another, on this one's memory
    const Channel* from = nullptr;      ///< that other
    ActiveInvocation invocation{};      ///< of that
    bool more = false;                  ///< there was more to run when it was taken
};

} // namespace sidelight::rma
