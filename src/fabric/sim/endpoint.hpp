// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/sim/trace.hpp"

namespace sidelight::fabric::sim {

class Actor;
class CardMemory;
class Network;
struct Transfer;

/// The network as one rank sees it.
class Endpoint final : public Fabric {
public:
    Endpoint(Network& network, int rank) : network_(network), rank_(rank) {}

    Status send(int peer, std::span<const std::byte> header,
                std::span<const std::byte> payload) noexcept override;
    void push() noexcept override;
    [[nodiscard]] std::size_t zero_copy_from(int peer) const noexcept override;
    Status send_zero_copy(int peer, std::span<const std::byte> header,
                          std::span<const std::byte> payload, Completion& sent) noexcept override;
    bool poll(Receiver& receiver) noexcept override;
    void wake(int peer, const Event& event) noexcept override;
    [[nodiscard]] bool accesses(int peer) noexcept override;
    bool expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept override;
    void conceal(ExposedMemory& exposed) noexcept override;
    std::unique_ptr<RemoteMemory> open(int peer, std::span<const std::byte> key) noexcept override;

    /// What the rank has asked to be called for.
    [[nodiscard]] Interest& interest() noexcept { return interest_; }
    /// How often it has done what others may have waited for: messages and rings.
    [[nodiscard]] std::uint64_t deeds() const noexcept { return sends_ + rings_; }
    /// Whether messages, or news of such, are to be polled.
    [[nodiscard]] bool has_arrivals() const noexcept
    {
        return !(arrivals_.empty() && sent_.empty() && lost_.empty() && put_.empty() &&
                 accessed_.empty());
    }

    /// Messages that the rank has sent; some may be held back.
    [[nodiscard]] std::uint64_t sends() const noexcept { return sends_; }
    /// How often messages have left, alone or together.
    [[nodiscard]] std::uint64_t batches() const noexcept { return batches_; }

private:
    friend class Network;
    friend class CardMemory;
    friend struct Transfer;

    struct Arrival {
        int from = 0;
        bool is_zero_copy = false;
        std::vector<std::byte> bytes;   ///< the message; of a zero-copy one the header
        std::vector<std::byte> payload; ///< of a zero-copy one: what of it is carried
        std::size_t payload_bytes = 0;  ///< all of it
        std::byte* place = nullptr;     ///< of a zero-copy one whose payload has been placed
    };
    struct Held {
        int peer = 0;
        std::vector<std::byte> bytes;
    };
    /// A zero-copy message whose payload is leaving: it is read when it has left.
    struct Departure {
        int peer = 0;
        Time after = 0; ///< when what was sent to it before has arrived
        std::vector<std::byte> header;
        std::span<const std::byte> payload;
        Completion* sent = nullptr;
    };

    /// With another rank that messages have gone to or come from.
    struct Contact {
        Time arrived_by = 0;   ///< when the last message sent to it arrives
        Time last_landing = 0; ///< of the accesses to its memory so far
        Time fenced = 0;       ///< those that are started now land later
        bool told = false;     ///< that it is lost, now or in time
        bool lost = false;     ///< the receiver has been told
    };

    void transmit(Held held) noexcept;
    void die() noexcept;
    void will_lose(int peer) noexcept;
    void leave(Departure departure) noexcept;
    /// When so many bytes that are sent now have left the card.
    Time card_time(std::size_t bytes) noexcept;
    void tell_lost(Receiver& receiver) noexcept;
    void hand_over(Receiver& receiver, Arrival arrival);

    Network& network_;
    int rank_;
    Actor* actor_ = nullptr;
    std::uint64_t sends_ = 0;
    std::uint64_t batches_ = 0;
    std::uint64_t rings_ = 0;
    Interest interest_;
    Time free_ = 0;                 ///< when the processor has done what it was last run for
    Time run_at_ = never;           ///< the earliest run that is scheduled
    std::deque<Arrival> arrivals_;  ///< arrived and not yet handed over
    std::vector<Held> held_;        ///< sent and not yet pushed
    std::vector<Completion*> sent_; ///< zero-copy messages that have left
    std::vector<Completion*> put_;  ///< puts to a peer's memory that have left
    std::vector<std::pair<Completion*, Status>> accessed_; ///< and not told yet
    std::vector<int> lost_; ///< peers of whose loss the receiver is to be told
    std::unordered_map<int, Contact> contacts_;
    bool dead_ = false;

    static constexpr Time never = ~Time{0};
};

} // namespace sidelight::fabric::sim
