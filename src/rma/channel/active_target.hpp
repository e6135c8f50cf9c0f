// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "rma/active/call.hpp"
#include "rma/active/exclusion.hpp"
#include "rma/attention.hpp"
#include "rma/channel/active_buffer.hpp"
#include "rma/region/own_memory.hpp"

namespace sidelight::rma {

/// The handlers that the program has registered with a window, by their numbers.
using ActiveHandlers = std::vector<const void*>;

/// The target's side of active messages that travel: takes the pieces in, and says which is to be
/// run next. A whole message is the unit: of those that exclude one another the one that began
/// first runs to its end. Guarded by the engine; handlers run without it.
class ActiveTarget {
public:
    struct Parts {
        Channels& channels;
        OwnMemory& memory;
        Exclusion& exclusion;
        ActiveHandlers& handlers;
        Attention& attention;
        ActiveBlock& own;
        int rank;
    };
    explicit ActiveTarget(const Parts& parts) noexcept : with_(parts), buffer_(parts.channels) {}

    /// Before the first message. So many bytes for each origin.
    void set_room(std::size_t bytes) noexcept;
    Status attach(std::byte* memory, std::size_t bytes) noexcept;
    /// Nothing more is given out; over when `end_detach` says so.
    Status begin_detach() noexcept;
    [[nodiscard]] bool end_detach() noexcept;

    /// What still comes from a member that is lost is dropped: nobody would end it.
    void serve_ask(Channel& from) noexcept;
    void serve_reserve(Channel& from, const ActiveReservationBody& body) noexcept
    {
        if (!from.lost) {
            buffer_.reserve(from, body);
        }
    }
    void serve_piece(Channel& from, const ActiveBody& body,
                     std::span<const std::byte> payload) noexcept;
    void serve_input(Channel& from, const ActiveDataBody& body,
                     std::span<const std::byte> payload) noexcept;

    /// The next one to be run, and how; null: none now. Until `finish` its memory stays.
    [[nodiscard]] ActiveIncoming* take(ActiveInvocation& invocation) noexcept;
    void finish(ActiveIncoming& message) noexcept;
    /// Whether there is more to run than the piece of it that is taken.
    [[nodiscard]] bool has_more_than(const ActiveIncoming& message) const noexcept;
    /// Whether the end of a message may have others told that they have room.
    [[nodiscard]] bool room_is_waited_for() const noexcept { return buffer_.is_waited_for(); }

    /// The region is released: what is about it is over, but for a handler that is inside.
    void refuse_region(RegionName name) noexcept;
    /// The origin is lost: its messages are over, but for a handler that is inside.
    void abandon(Channel& channel) noexcept;

private:
    using Turn = List<ActiveIncoming, &ActiveIncoming::in_turn>;
    [[nodiscard]] ActiveIncoming* find(const Channel& from, std::uint64_t operation) noexcept;
    [[nodiscard]] ActiveIncoming* begin(Channel& from, const ActiveBody& body) noexcept;
    [[nodiscard]] Status check(Channel& from, const ActiveBody& body, std::byte*& memory) noexcept;
    [[nodiscard]] std::byte* find_persistent(const ActiveBody& body) const noexcept;
    void refuse(Channel& from, const ActiveBody& body, Status status) noexcept;
    [[nodiscard]] bool may_run(const ActiveIncoming& message) noexcept;
    void describe(const ActiveIncoming& message, ActiveInvocation& invocation) const noexcept;
    void answer(Channel& from, const ActivePiece& piece) noexcept;
    [[nodiscard]] bool admit(ActiveIncoming& message) noexcept;
    void drop(ActivePiece* piece) noexcept;
    void end_if_over(ActiveIncoming& message) noexcept;
    template <class Wanted>
    void fail_if(Wanted wanted, Status failure) noexcept;
    void note_largest_room() noexcept;

    Parts with_;
    ActiveBuffer buffer_;
    std::size_t room_ = 0;
    Turn turn_;
    Pool<ActiveIncoming> messages_;
    Pool<ActivePiece> pieces_;
    Exclusion::Hold hold_{};     ///< of all that are admitted
    std::uint32_t admitted_ = 0; ///< messages that share it
    bool sharing_ = false;       ///< concurrent ones
};

} // namespace sidelight::rma
