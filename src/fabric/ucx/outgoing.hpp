// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
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

/// Messages that travel together. Short, it is one fragment on TCP and on shared memory; behind one
/// with much comes a long one, since on TCP each is a system call here and another there.
struct Batch : Outgoing {
    static constexpr std::size_t short_capacity = 8064;
    static constexpr std::size_t much = short_capacity / 2;
    static constexpr std::size_t long_capacity = 131072 - 512; ///< with UCX's headers in 128 KB

    Batch(Sending& its_owner, std::unique_ptr<std::byte[]> its_bytes,
          std::size_t its_capacity) noexcept
        : Outgoing(its_owner, Kind::batch),
          capacity(its_capacity),
          bytes(std::move(its_bytes)),
          frames({bytes.get(), its_capacity})
    {}

    [[nodiscard]] bool is_long() const noexcept { return capacity == long_capacity; }

    std::uint64_t sequence = 0; ///< from departure on
    std::size_t capacity;
    std::unique_ptr<std::byte[]> bytes; ///< aligned as new does it, to more than `frame_alignment`
    FrameWriter frames;
};
static_assert(Batch::short_capacity >= sizeof(BatchHeader) + frame_bytes(max_message));

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
