// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/list.hpp"
#include "fabric/fabric.hpp"
#include "fabric/ucx/frames.hpp"

namespace sidelight::fabric::ucx {

class Sending;
struct Peer;

/// What goes out as one active message. Owned by `Sending`; from departure to the end of UCX's
/// request it belongs to that.
struct Outgoing {
    enum class Kind : std::uint8_t { batch, zero_copy };

    Outgoing(Sending& its_owner, Kind what) noexcept : owner(its_owner), kind(what) {}

    Sending& owner;
    Kind kind;
    Peer* peer = nullptr;
    Outgoing* next = nullptr; ///< in the Fifo that it is in
};

/// Messages that travel together. Its size is that of one fragment on TCP and on shared memory: a
/// larger one is cut by UCX, and put together from a copy.
struct Batch : Outgoing {
    static constexpr std::size_t capacity = 8064;

    explicit Batch(Sending& its_owner) noexcept
        : Outgoing(its_owner, Kind::batch), frames({static_cast<std::byte*>(bytes), capacity})
    {}

    void clear() noexcept { frames = FrameWriter({static_cast<std::byte*>(bytes), capacity}); }

    std::uint64_t sequence = 0; ///< from departure on
    alignas(frame_alignment) std::byte bytes[capacity];
    FrameWriter frames;
};
static_assert(Batch::capacity >= sizeof(BatchHeader) + frame_bytes(max_message));

/// A zero-copy message; its payload is the caller's.
struct ZeroCopyMessage : Outgoing {
    explicit ZeroCopyMessage(Sending& its_owner) noexcept : Outgoing(its_owner, Kind::zero_copy) {}

    std::vector<std::byte> header; ///< ZeroCopyHeader and the caller's
    std::span<const std::byte> payload;
    Completion* sent = nullptr;   ///< null: has been told before UCX was done
    Links<ZeroCopyMessage> links; ///< in the list of those that UCX has
    Status status = Status::ok;   ///< once it is over
};

} // namespace sidelight::fabric::ucx
