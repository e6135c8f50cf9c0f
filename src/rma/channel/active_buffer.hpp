// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/list.hpp"
#include "base/pool.hpp"
#include "rma/channel/active_channel.hpp"
#include "rma/channel/channels.hpp"

namespace sidelight::rma {

/// The buffer that the program has attached for the active messages of all origins, handed out in
/// reservations: first come, first served. Guarded by the engine.
class ActiveBuffer {
public:
    explicit ActiveBuffer(Channels& channels) noexcept : channels_(channels) {}

    /// One at a time. It stays the program's.
    void attach(std::byte* memory, std::size_t bytes) noexcept
    {
        memory_ = memory;
        bytes_ = bytes;
    }
    [[nodiscard]] bool attached() const noexcept { return memory_ != nullptr; }
    [[nodiscard]] std::size_t bytes() const noexcept { return leaving_ ? 0 : bytes_; }
    /// Nobody gets anything from now on, and those who wait hear so.
    void begin_detach() noexcept;
    /// Whether nobody has anything of it any more; then it is detached.
    [[nodiscard]] bool end_detach() noexcept;

    /// Whether some wait for a part.
    [[nodiscard]] bool is_waited_for() const noexcept { return !waiting_.empty(); }
    /// An origin wants room for a message.
    void reserve(Channel& from, const ActiveReservationBody& body) noexcept;
    /// Where a piece goes; null: that is not the message's room.
    [[nodiscard]] std::byte* find(const Channel& from, std::uint64_t operation, std::uint64_t place,
                                  std::uint64_t bytes) noexcept;
    /// The message is over, and no handler of it is inside.
    void release(const Channel& from, std::uint64_t operation) noexcept;
    /// The origin is lost: what it waits for is forgotten, and what it has, but for the room of
    /// messages of which `in_use` says that they have a handler inside.
    template <class InUse>
    void abandon(const Channel& from, InUse in_use) noexcept
    {
        remove_if(waiting_, [&](const ActiveReservation& held) { return held.from == &from; });
        remove_if(given_, [&](const ActiveReservation& held) {
            return held.from == &from && !in_use(held.operation);
        });
        serve();
    }

private:
    using Reservations = List<ActiveReservation, &ActiveReservation::in_list>;
    template <class Gone>
    void remove_if(Reservations& list, Gone gone) noexcept
    {
        list.for_each([&](ActiveReservation& held) {
            if (gone(held)) {
                list.remove(&held);
                pool_.give_back(&held);
            }
        });
    }
    void serve() noexcept;
    [[nodiscard]] bool place(ActiveReservation& wanted) noexcept;
    void answer(const ActiveReservation& reservation) noexcept;

    Channels& channels_;
    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
    bool leaving_ = false;
    Reservations waiting_; ///< in the order in which they came
    Reservations given_;   ///< in the order of their places
    Pool<ActiveReservation> pool_;
};

} // namespace sidelight::rma
