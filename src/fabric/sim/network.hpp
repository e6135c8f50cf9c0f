// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fabric/sim/endpoint.hpp"
#include "fabric/sim/random.hpp"
#include "fabric/sim/trace.hpp"

/// A simulated machine: any number of ranks in one process, on one virtual clock. Nothing in it
/// depends on the machine that runs it, so a seed is a run. See docs/design/simulation.md.
namespace sidelight::fabric::sim {

/// What messages cost, after LogGP (Alexandrov et al. 1995). Times in ns unless they say otherwise.
struct Costs {
    Time latency = 1000;         ///< L: from the sender's network card to the receiver's
    Time overhead = 100;         ///< o: of the processor, to send one and to receive one
    Time gap = 150;              ///< g: between two messages that leave one card
    std::uint64_t byte_ps = 330; ///< G: picoseconds from one byte to the next
    Time wake = 50;              ///< until a process notices a word written in shared memory
    Time notice = 3000;          ///< until a process learns of the loss of another
    Time jitter = 0;             ///< up to so much more, drawn for each message and each wake
    std::size_t express = 0;     ///< up to so many bytes a message passes longer ones in the card
    std::size_t zero_copy_from = 0;        ///< bytes: less is better copied
    std::size_t carried = ~std::size_t{0}; ///< bytes of a zero-copy message that are really moved
    unsigned full_percent = 25;  ///< how often a message that may be held back leaves at once
    unsigned native_percent = 0; ///< of the pairs whose cards read and write memory by themselves
    bool puts_end_early = false; ///< cards tell of a put that has not landed: a wrong fabric
    bool fences_hold = true;     ///< else cards forget what they were told to put first: likewise
};

/// A rank, as the clock sees it.
class Actor {
public:
    /// Something may have changed for this rank, or its time has come. Spends time through
    /// `Network`.
    virtual void run() = 0;

protected:
    ~Actor() = default;
};

/// Sees every message twice. For checks; may not send.
class Observer {
public:
    virtual void sent(int from, int to, std::span<const std::byte> message) = 0;
    virtual void handed_over(int from, int to, std::span<const std::byte> message) = 0;
    /// The payload of a zero-copy message is in memory, and the receiver is about to be told.
    virtual void placed(int to) = 0;
    /// A card has just written into memory of some rank.
    virtual void written() = 0;

protected:
    ~Observer() = default;
};

struct Transfer;

/// The clock, the event queue and the wires.
class Network {
public:
    Network(int ranks, const Costs& costs, std::uint64_t seed);

    [[nodiscard]] Endpoint& endpoint(int rank) noexcept
    {
        return *endpoints_[static_cast<std::size_t>(rank)];
    }
    void attach(int rank, Actor& actor) noexcept { endpoint(rank).actor_ = &actor; }
    void observe(Observer* observer) noexcept { observer_ = observer; }

    /// The time of the rank that runs, or of the event that was handled last.
    [[nodiscard]] Time now() const noexcept { return now_; }
    /// The rank that runs has been busy for so long.
    void spend(Time time) noexcept { now_ += time; }

    /// Runs the rank at that time, or later if it is busy then.
    void schedule(int rank, Time at);

    /// The rank stops at that time, for ever. What it has sent and what has left its card arrives;
    /// what is sent to it vanishes; all that have to do with it are told.
    void kill(int rank, Time at);
    [[nodiscard]] bool dead(int rank) noexcept { return endpoint(rank).dead_; }

    /// Handles the next event. Answers whether there was one.
    bool step();

    [[nodiscard]] Random& random() noexcept { return random_; }
    [[nodiscard]] Trace& trace() noexcept { return trace_; }
    [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    /// Accesses to a rank's memory that its card has performed, and those of them to memory that
    /// was not exposed.
    [[nodiscard]] std::uint64_t accesses() const noexcept { return accesses_; }
    [[nodiscard]] std::uint64_t violations() const noexcept { return violations_; }
    /// Whether cards may access the byte. Not for fast paths.
    [[nodiscard]] bool is_exposed(const std::byte* byte) const noexcept;

private:
    friend class Endpoint;
    friend class CardMemory;
    friend struct Transfer;

    /// A card takes turns between peers, so that short messages do not wait for long ones.
    struct Card {
        Time free = 0;       ///< when all that was given to it has left
        Time short_free = 0; ///< when the next short message can leave
    };
    struct Event {
        Time at = 0;
        std::uint64_t order = 0; ///< among events of one time: drawn, so that every order occurs
        int rank = 0;
        std::unique_ptr<Endpoint::Arrival> arrival;     ///< a message is there
        std::unique_ptr<Endpoint::Departure> departure; ///< one has left; neither: run the rank
        std::shared_ptr<Transfer> transfer{};           ///< an access goes on, at this rank's card
        std::size_t piece = 0;                          ///< of it
        bool death = false;                             ///< of the rank
        int loss = -1;                                  ///< the rank learns that this one is lost
    };
    static bool later(const Event& a, const Event& b) noexcept
    {
        return a.at != b.at ? a.at > b.at : a.order > b.order;
    }

    void push(Event event);
    void run(Endpoint& endpoint, Time at);
    /// When so many bytes that a rank sends now have left its card.
    [[nodiscard]] Time leaves(int rank, std::size_t bytes) noexcept;
    [[nodiscard]] Time jitter() noexcept { return random_.below(costs_.jitter + 1); }

    Costs costs_;
    Random random_;
    Trace trace_;
    Observer* observer_ = nullptr;
    Time now_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t accesses_ = 0;
    std::uint64_t violations_ = 0;
    std::uint64_t seed_;
    std::uint64_t exposures_ = 0;
    std::unordered_map<std::uint64_t, std::span<std::byte>> exposed_; ///< by key
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::vector<Card> cards_;
    std::vector<Event> queue_; ///< a heap, the next event first
};

} // namespace sidelight::fabric::sim
