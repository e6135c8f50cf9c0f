// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "rma/channel/channels.hpp"
#include "rma/channel/life.hpp"

namespace sidelight::rma {

/// The origin's side of active messages that travel: cut between segments, sent as far as there is
/// room for them at the target, and complete when all pieces have been run. Guarded by the engine.
class ActiveOrigin {
public:
    ActiveOrigin(Channels& channels, OperationLife& life) noexcept
        : channels_(channels), life_(life)
    {}
    void set_unit(std::uint64_t segments) noexcept { unit_ = segments; }

    /// Its turn has come. It may be gone on return.
    void launch(Flight& flight) noexcept;

    void take_room(Channel& from, const ActiveRoomBody& body) noexcept;
    void take_reservation(Channel& from, const ActiveReservationBody& body) noexcept;
    void take_output(Channel& from, const ActiveDataBody& body,
                     std::span<const std::byte> payload) noexcept;
    void take_done(Channel& from, const ActiveDoneBody& body,
                   std::span<const std::byte> payload) noexcept;

    /// The member is lost: what has not left does not. Before its flights are abandoned.
    static void abandon(Channel& channel) noexcept;

private:
    struct Place {
        std::uint64_t offset = 0;
        std::uint64_t segments = 0;
        ActiveRoom room{}; ///< of these
        bool reserved = false;
    };
    void send_more(Channel& target) noexcept;
    [[nodiscard]] static bool may_leave(const ActiveChannel& state,
                                        const ActiveMessage& message) noexcept;
    [[nodiscard]] bool send(Channel& target, ActiveMessage& message) noexcept;
    void withdraw(Channel& target, ActiveMessage& message) noexcept;
    [[nodiscard]] bool find_place(Channel& target, ActiveMessage& message, Place& place) noexcept;
    [[nodiscard]] static ActiveBody body_of(const ActiveMessage& message,
                                            const Place& place) noexcept;
    void send_piece(Channel& target, ActiveMessage& message, const Place& place) noexcept;
    static void give_back_room(Channel& target, ActiveMessage& message, bool reserved,
                               std::uint64_t place) noexcept;
    [[nodiscard]] bool gather(ActiveMessage& message, const ActiveImage& image,
                              std::uint64_t segments, const std::byte*& data) noexcept;
    void reserve(Channel& target, ActiveMessage& message) noexcept;
    static void fail(ActiveMessage& message, Status status) noexcept;
    void sent_whole(Channel& target, ActiveMessage& message) noexcept;
    void finish_if_over(ActiveMessage& message) noexcept;
    [[nodiscard]] ActiveMessage* find(std::uint64_t operation, const Channel& from) noexcept;
    [[nodiscard]] static bool take_bytes(ActiveMessage& message, const ActivePieceSent& piece,
                                         std::uint64_t position,
                                         std::span<const std::byte> payload) noexcept;

    Channels& channels_;
    OperationLife& life_;
    std::uint64_t unit_ = 40;
};

} // namespace sidelight::rma
