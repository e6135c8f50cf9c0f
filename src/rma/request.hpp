// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/status.hpp"

namespace sidelight::rma {

/// Something that completes later: an operation with a request, the closing of an epoch, a flush.
/// Owned by the caller (on its stack for blocking calls, behind an MPI_Request for the others) and
/// kept by the engine from the call until `complete` is set; then the engine has forgotten it.
struct Request {
    bool complete = false;
    /// Set before it is complete: why what it stands for, or an operation that it waited for, was
    /// not performed.
    Status status = Status::ok;
    /// Called once, when `complete` has just been set, if not null. May start nothing.
    void (*on_complete)(Request&) noexcept = nullptr;
};

/// Marks it complete; null is allowed.
inline void finish(Request* request) noexcept
{
    if (request != nullptr) {
        request->complete = true;
        if (request->on_complete != nullptr) {
            request->on_complete(*request);
        }
    }
}

} // namespace sidelight::rma
