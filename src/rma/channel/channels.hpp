// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/zeroed_table.hpp"
#include "rma/channel/carrier.hpp"
#include "rma/channel/channel.hpp"
#include "rma/channel/farewells.hpp"
#include "rma/channel/wire.hpp"

namespace sidelight::rma {

/// What the owner of a window must hear from its channels.
class ChannelObserver {
public:
    /// A message to the member could not be sent, and will not be: it is lost to this one.
    /// May send nothing.
    virtual void unreachable(int rank) noexcept = 0;
    /// A zero-copy put of the member is here, or will never be: notices that came behind it may
    /// count.
    virtual void zero_copy_taken(Channel& channel) noexcept = 0;

protected:
    ~ChannelObserver() = default;
};

/// The channels of one window, and all that leaves by them. Guarded by the engine.
class Channels {
public:
    ~Channels();
    Channels(const Channels&) = delete;
    Channels& operator=(const Channels&) = delete;
    /// Throws std::bad_alloc. `rank` is this member's in the window `window`.
    Channels(Carrier& carrier, Farewells& farewells, std::uint64_t window, int rank,
             std::size_t members)
        : carrier_(carrier), farewells_(farewells), window_(window), rank_(rank), channels_(members)
    {}

    void observe(ChannelObserver& observer) noexcept { observer_ = &observer; }

    /// The channel to a member that was met. Without memory for it, one that leads to nobody, for
    /// good: each is lost to the other.
    [[nodiscard]] Channel& open(int rank, int peer) noexcept
    {
        Channel* channel = channels_[rank];
        return channel != nullptr ? *channel : make(rank, peer);
    }
    /// The same where it was opened before; null: nothing was sent, and nothing has come.
    [[nodiscard]] Channel* find(int rank) noexcept { return channels_[rank]; }

    /// Sends a message; it leaves with the next push at the latest. What is sent to a member that
    /// is lost vanishes, and one that cannot be sent loses the member: nobody waits for it for
    /// ever.
    template <class Body = NoBody>
    void send(Channel& to, MessageKind kind, const Body& body = {},
              std::span<const std::byte> payload = {}) noexcept
    {
        Framed<Body> framed{.body = body};
        send(to, kind, framed, payload);
    }
    /// The same of one whose body was made in it: to copy what has just been written in parts takes
    /// a processor some ns.
    template <class Body>
    void send(Channel& to, MessageKind kind, Framed<Body>& framed,
              std::span<const std::byte> payload = {}) noexcept
    {
        write_header(framed.header, kind);
        send_framed(to, framed.bytes(), payload);
    }

    /// Tells a peer to which there is no channel, nor memory for one, that this member is lost to
    /// it.
    void turn_away(int peer) noexcept;
    /// The member that was met cannot be told what it must know: each is lost to the other.
    void give_up(int rank, int peer) noexcept;

    /// The payload is read until `sent` has finished; it never does where the answer is not ok.
    template <class Body>
    [[nodiscard]] Status send_zero_copy(Channel& to, MessageKind kind, const Body& body,
                                        std::span<const std::byte> payload,
                                        fabric::Completion& sent) noexcept
    {
        Framed<Body> framed{.body = body};
        write_header(framed.header, kind);
        carrier_.note_held(); // its receiver is still to be woken
        return carrier_.fabric().send_zero_copy(to.peer, framed.bytes(), payload, sent);
    }

    /// Something has come from the member.
    void note_heard(Channel& from) noexcept
    {
        if (!from.heard) {
            from.heard = true;
            farewells_.note_met(from.peer);
        }
    }

    void zero_copy_taken(Channel& from, std::uint32_t number) noexcept
    {
        from.zero_copies_taken.take(number);
        observer_->zero_copy_taken(from);
    }

    // Zero-copy messages whose data are being written here: fences wait for them.
    void begin_placing(Channel& from) noexcept
    {
        ++from.placing;
        ++placing_;
    }
    void end_placing(Channel& from) noexcept
    {
        --from.placing;
        --placing_;
    }
    [[nodiscard]] bool placing() const noexcept { return placing_ != 0; }

    // Answers whose data are being read here: the window's memory must stay until they have left.
    void begin_reading() noexcept { ++reading_; }
    void end_reading() noexcept { --reading_; }
    [[nodiscard]] std::size_t reading() const noexcept { return reading_; }

    [[nodiscard]] Carrier& carrier() noexcept { return carrier_; }

private:
    [[nodiscard]] Channel& make(int rank, int peer) noexcept;
    void write_header(MessageHeader& header, MessageKind kind) const noexcept
    {
        header.kind = kind;
        header.origin = static_cast<std::uint32_t>(rank_);
        header.window = window_;
    }
    void send_framed(Channel& to, std::span<const std::byte> framed,
                     std::span<const std::byte> payload) noexcept;

    Carrier& carrier_;
    Farewells& farewells_;
    ChannelObserver* observer_ = nullptr; ///< null while the window is being made
    std::uint64_t window_;
    int rank_;
    std::size_t placing_ = 0;
    std::size_t reading_ = 0;
    ZeroedTable<Channel*> channels_;
    std::vector<std::int32_t> opened_; ///< ranks
    Channel nobody_{.rank = -1, .lost = true};
};

} // namespace sidelight::rma
