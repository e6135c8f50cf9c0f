// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/list.hpp"
#include "fabric/fabric.hpp"

namespace sidelight::fabric::ucx {

class Transfers;
struct Peer;

/// An access that UCX has. It is over when UCX has finished all its requests and, if it is a put, a
/// flush that was started later. Owned by `Transfers`.
struct Transfer {
    explicit Transfer(Transfers& its_owner) noexcept : owner(its_owner) {}

    Transfers& owner;
    Peer* peer = nullptr;
    Completion* done = nullptr; ///< null: has been told before UCX was done
    std::size_t requests = 0;   ///< that UCX has not finished
    bool flushed = false;
    bool begun = false; ///< UCX has taken a piece of it
    Status status = Status::ok;
    Transfer* next = nullptr;      ///< in the Fifo that it is in
    Transfer* next_left = nullptr; ///< of those whose memory here is free, which is not told yet
    Links<Transfer> links;         ///< in the list of those of its peer
};

} // namespace sidelight::fabric::ucx
