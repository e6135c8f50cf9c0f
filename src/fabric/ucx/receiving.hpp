// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/fast_box.hpp"
#include "fabric/ucx/connections.hpp"
#include "fabric/ucx/delivery.hpp"
#include "fabric/ucx/outgoing.hpp"
#include "fabric/ucx/peer.hpp"
#include "fabric/ucx/zero_copy_receives.hpp"

namespace sidelight::fabric::ucx {

/// The way in, by UCX and by boxes, and the order: UCX promises none between active messages, so
/// batches are counted and those that come too early are kept; so is what comes while the receiver
/// is busy with another.
class Receiving {
public:
    /// `inbox`: null where none has a box. Throws std::runtime_error with UCX's reason.
    Receiving(Worker& worker, Connections& connections, Delivery& delivery, FastInbox* inbox);

    /// Looks at the boxes and, if it is the worker's turn, lets that work. Answers whether there
    /// was anything.
    bool look() noexcept;
    /// The next look is at the worker, too.
    void look_everywhere() noexcept { boxes_only_ = 0; }
    /// Whether boxes have brought messages lately.
    [[nodiscard]] bool is_close() const noexcept { return boxes_only_ != 0; }

    /// Hands over what is in the boxes. Answers whether there was anything.
    bool take_boxes() noexcept;
    [[nodiscard]] bool has_empty_boxes() const noexcept
    {
        return inbox_ == nullptr || inbox_->empty();
    }

    [[nodiscard]] bool has_news() const noexcept { return !ready_.empty() || payloads_.has_news(); }
    /// Hands over what has come early and is in order now. Answers whether there was anything.
    bool hand_over_ready() noexcept;
    /// As ZeroCopyReceives.
    bool tell_placed() noexcept { return payloads_.tell_placed(); }
    /// Forgets what has come too early.
    void abandon(Peer& peer) noexcept;

private:
    static ucs_status_t on_batch(void* receiving, const void* header, size_t header_bytes,
                                 void* data, size_t bytes,
                                 const ucp_am_recv_param_t* param) noexcept;
    static ucs_status_t on_zero_copy(void* receiving, const void* header, size_t header_bytes,
                                     void* data, size_t bytes,
                                     const ucp_am_recv_param_t* param) noexcept;
    Peer* sender(std::uint64_t identity) noexcept;
    template <typename Insert>
    bool keep(Peer& peer, Insert insert) noexcept;
    void take_batch(std::uint64_t identity, std::uint64_t sequence,
                    std::span<const std::byte> frames) noexcept;
    ucs_status_t take_zero_copy(std::span<const std::byte> message, void* data, std::size_t bytes,
                                bool is_descriptor) noexcept;
    void hand_over(Peer& peer, std::span<const std::byte> frames) noexcept;
    void hand_over_early(Peer& peer) noexcept;
    void hand_over_early(Peer& peer, const EarlyZeroCopy& message) noexcept;

    Worker& worker_;
    Connections& connections_;
    Delivery& delivery_;
    ZeroCopyReceives payloads_;
    FastInbox* inbox_;
    unsigned boxes_only_ = 0; ///< looks that are at boxes, but for one in some
    PeerQueue<&QueuePlaces::ready> ready_;
    std::unique_ptr<std::byte[]> aligned_; ///< for a batch that comes at an odd address
};

} // namespace sidelight::fabric::ucx
