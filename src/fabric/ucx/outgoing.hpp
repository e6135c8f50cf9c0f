// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/fast_box.hpp"
#include "fabric/ucx/frames.hpp"
#include "fabric/ucx/library.hpp"

namespace sidelight::fabric::ucx {

class UcxFabric;
struct Peer;
struct Transfer;

/// What goes out as one active message. Owned by the fabric; from departure to the end of UCX's
/// request it belongs to that.
struct Outgoing {
    enum class Kind : std::uint8_t { batch, zero_copy, transfer };

    Outgoing(UcxFabric& owner, Kind what) noexcept : fabric(owner), kind(what) {}

    UcxFabric& fabric;
    Kind kind;
    Peer* peer = nullptr;
    Outgoing* next = nullptr; ///< in the list that it is in
};

/// Messages that travel together. Its size is that of one fragment on TCP and on shared memory: a
/// larger one is cut by UCX, and put together from a copy.
struct Batch : Outgoing {
    static constexpr std::size_t capacity = 8064;

    explicit Batch(UcxFabric& owner) noexcept
        : Outgoing(owner, Kind::batch), frames({static_cast<std::byte*>(bytes), capacity})
    {}

    void clear() noexcept { frames = FrameWriter({static_cast<std::byte*>(bytes), capacity}); }

    std::uint64_t sequence = 0; ///< from departure on
    alignas(frame_alignment) std::byte bytes[capacity];
    FrameWriter frames;
};
static_assert(Batch::capacity >= sizeof(BatchHeader) + frame_bytes(max_message));

/// A zero-copy message; its payload is the caller's.
struct ZeroCopyMessage : Outgoing {
    explicit ZeroCopyMessage(UcxFabric& owner) noexcept : Outgoing(owner, Kind::zero_copy) {}

    std::vector<std::byte> header; ///< ZeroCopyHeader and the caller's
    std::span<const std::byte> payload;
    Completion* sent = nullptr;        ///< null: has been told before UCX was done
    ZeroCopyMessage* before = nullptr; ///< in the list of those that UCX has
    ZeroCopyMessage* after = nullptr;
    Status status = Status::ok; ///< once it is over
};

/// A list of what is to go out, oldest first.
class OutgoingList {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

    void append(Outgoing& item) noexcept
    {
        item.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &item;
        last_ = &item;
    }

    /// Null: it is empty.
    Outgoing* take() noexcept
    {
        Outgoing* item = first_;
        if (item != nullptr) {
            first_ = item->next;
            last_ = first_ != nullptr ? last_ : nullptr;
        }
        return item;
    }

private:
    Outgoing* first_ = nullptr;
    Outgoing* last_ = nullptr;
};

/// A zero-copy message that came before the batches that were sent before it.
struct EarlyZeroCopy {
    std::uint64_t after = 0;
    std::vector<std::byte> header; ///< the sender's, without ZeroCopyHeader
    std::size_t bytes = 0;
    std::vector<std::byte> payload; ///< if UCX has no descriptor for it
    void* descriptor = nullptr;     ///< UCX's, of a payload that is to be fetched
};

/// Another process, or this one.
struct Peer {
    Peer(UcxFabric& owner, int its_number) noexcept : fabric(owner), number(its_number) {}

    UcxFabric& fabric;
    int number;
    bool held = false;       ///< in the list of those that something is held back for
    bool failed = false;     ///< UCX cannot reach it any more
    bool lost = false;       ///< and the receiver has been told
    bool to_connect = false; ///< in the list of those that are to be connected
    std::vector<std::byte> address;
    ucp_ep_h endpoint = nullptr;

    Batch* open = nullptr;  ///< being filled
    std::uint64_t sent = 0; ///< batches
    FastOutbox box;         ///< for small ones
    bool watched = false;   ///< UCX has been given something for it, and tells when it is lost
    OutgoingList waiting;   ///< for the connection

    std::size_t outstanding = 0;        ///< requests that UCX has not finished
    ZeroCopyMessage* leaving = nullptr; ///< zero-copy messages among them

    std::uint64_t received = 0;                            ///< batches handed over
    std::map<std::uint64_t, std::vector<std::byte>> early; ///< frames of later ones, by sequence
    std::vector<EarlyZeroCopy> early_zero_copy;
    enum class Access : std::uint8_t { unknown, none, native };
    Access access = Access::unknown; ///< whether its memory may be opened
    Transfer* transfers = nullptr;   ///< accesses to its memory that are not over
    OutgoingList unflushed;          ///< puts that no flush covers yet
    OutgoingList flushing;           ///< puts that the flush under way covers
    bool flush_under_way = false;
    bool to_flush = false; ///< in the list of those with puts that no flush covers

    bool ready = false; ///< in the list of those with something early that may be handed over
};

} // namespace sidelight::fabric::ucx
