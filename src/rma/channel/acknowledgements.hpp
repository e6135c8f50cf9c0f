// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/origin.hpp"

namespace sidelight::rma {

/// What targets answer. An answer is believed as far as it fits: one that names no operation
/// towards its sender changes nothing, and one that brings other data than were asked for ends its
/// operation with an error. Guarded by the engine.
class Acknowledgements {
public:
    Acknowledgements(Channels& channels, Origin& origin, OperationLife& life) noexcept
        : channels_(channels), origin_(origin), life_(life)
    {}

    void take_reply(Channel& from, const ReplyBody& body,
                    std::span<const std::byte> payload) noexcept;
    void take_placed(Channel& from, const PlacedBody& body) noexcept;
    void take_refused(Channel& from, const RefusedBody& body) noexcept;
    void take_acknowledgement(Channel& from, const AcknowledgementBody& body) noexcept;

    /// Where the data of a zero-copy reply go; null: nowhere. The operation is not complete,
    /// whatever else is answered, until `reply_placed`.
    [[nodiscard]] std::byte* place_reply(Channel& from, const ReplyBody& body,
                                         std::size_t bytes) noexcept;
    void reply_placed(Channel& from, const ReplyBody& body, std::size_t bytes) noexcept;

    /// The member is lost: its operations that have been sent, wholly or in part, end with the
    /// error. What the fabric still reads, or writes, ends when it has finished.
    void abandon(Channel& channel) noexcept;
    /// The fabric has lost the member: nothing of it is written here any more.
    void end_placing(Channel& channel) noexcept;

private:
    void answered(Flight& flight, Status status) noexcept;
    [[nodiscard]] Flight* find(std::uint64_t name, const Channel& from) noexcept;

    Channels& channels_;
    Origin& origin_;
    OperationLife& life_;
};

} // namespace sidelight::rma
