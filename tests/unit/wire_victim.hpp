// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fabric/remote_memory.hpp"
#include "fabric/sim/random.hpp"
#include "guarded_memory.hpp"
#include "rma/engine/process.hpp"

namespace sidelight::rma {

inline constexpr int victim_members = 4; ///< the victim is rank 0; 3 is on its node, 1, 2 are not
inline constexpr std::size_t victim_window_bytes = 20'007;

/// What the runs must have shown.
struct VictimStatistics {
    std::uint64_t messages = 0;
    std::uint64_t placed = 0;
    std::uint64_t issued = 0;
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
    std::uint64_t accessed = 0; ///< operations that went without messages
    std::uint64_t written = 0;  ///< times that the memory of a window was found changed

    void add(const VictimStatistics& other) noexcept;
};

/// While there is one, a crash says on stderr which seed it was.
class SeedTeller {
public:
    explicit SeedTeller(std::uint64_t seed);
    ~SeedTeller();
    SeedTeller(const SeedTeller&) = delete;
    SeedTeller& operator=(const SeedTeller&) = delete;
};

/// A message as a test draws it: header, and the body of its kind or of another.
struct Drawn {
    MessageHeader header;
    std::array<std::byte, 176> body{};
    std::size_t body_size = 0;

    template <class Body>
    void set(MessageKind kind, const Body& value)
    {
        static_assert(sizeof(Body) <= sizeof body);
        header.kind = kind;
        std::memcpy(body.data(), &value, sizeof value);
        body_size = body_bytes<Body>;
    }
    template <class Body>
    [[nodiscard]] Body as() const
    {
        Body value;
        std::memcpy(&value, body.data(), sizeof value);
        return value;
    }
    /// Header and body side by side, as they travel.
    [[nodiscard]] std::vector<std::byte> bytes() const
    {
        std::vector<std::byte> all(sizeof header + body_size);
        std::memcpy(all.data(), &header, sizeof header);
        std::memcpy(all.data() + sizeof header, body.data(), body_size);
        return all;
    }
};

/// What the victim has sent that wants an answer.
struct Asked {
    MessageHeader header;
    int peer = 0; ///< who would answer
    std::uint64_t operation = 0;
    std::uint64_t position = 0;
    std::uint64_t bytes = 0; ///< that a reply would bring
    bool fetches = false;
    bool zero_copy = false;
};

/// Takes what the victim sends and keeps it; zero-copy ones finish when the test says so.
class SilentFabric final : public fabric::Fabric {
public:
    Status send(int peer, std::span<const std::byte> header,
                std::span<const std::byte> payload) noexcept override;
    void push() noexcept override {}
    Status send_zero_copy(int peer, std::span<const std::byte> header,
                          std::span<const std::byte> payload,
                          fabric::Completion& sent) noexcept override;
    bool poll(fabric::Receiver&) noexcept override { return false; }
    [[nodiscard]] bool accesses(int) noexcept override { return true; }
    bool expose(std::span<std::byte> memory, fabric::ExposedMemory& exposed) noexcept override;
    std::unique_ptr<fabric::RemoteMemory> open(int peer,
                                               std::span<const std::byte> key) noexcept override;

    struct Leaving {
        std::span<const std::byte> payload;
        fabric::Completion* sent = nullptr;
    };
    std::vector<Asked> asked; ///< the latest messages that want an answer
    std::deque<Leaving> leaving;
    /// Pieces without answers of their own, by window and peer.
    std::map<std::pair<std::uint64_t, int>, std::uint32_t> counted;
    std::uint64_t accessed = 0; ///< times that memory of another was
    bool outside = false;       ///< and not in its window
    bool too_long = false;      ///< a message was, for a carrier
    std::uint64_t read = 0;     ///< sum of the payloads, so that they are read as a network does

private:
    void keep(int peer, std::span<const std::byte> framed);
};

/// One engine with a window of each flavour, all memory guarded, and operations in flight towards
/// the members on other nodes.
class Victim {
public:
    Victim();
    ~Victim();

    void receive(int from, std::span<const std::byte> message);
    /// Its payload is written at once, or left until `settle_one_long`.
    void receive_long(int from, const Drawn& message, std::size_t bytes, bool late);
    /// The rest of a zero-copy message arrives, or one of the victim's has left.
    void settle_one_long(fabric::sim::Random& random);
    /// Issues operations as long as few are in flight.
    void keep_busy(fabric::sim::Random& random);
    /// Runs what has come as active messages, too.
    void sweep();

    [[nodiscard]] std::uint64_t any_window(fabric::sim::Random& random) const;
    /// Inside of that window's memory, or near it.
    [[nodiscard]] std::uint64_t any_address(std::uint64_t window, fabric::sim::Random& random);
    /// As the target of one of the latest operations would answer, who may have answered already.
    /// The kind is `count_` where there is none.
    [[nodiscard]] Drawn answer_to_any(fabric::sim::Random& random);

    /// How many bytes the answer that was drawn last should bring.
    [[nodiscard]] std::uint64_t wanted_bytes() const noexcept { return wanted_bytes_; }

    /// What was written that nobody may write; null: nothing.
    [[nodiscard]] const char* wrong();
    [[nodiscard]] const VictimStatistics& statistics() const noexcept { return statistics_; }

private:
    class Others;
    struct Operating;
    struct Arriving {
        int from;
        std::vector<std::byte> header;
        std::byte* place;
        std::size_t bytes;
    };

    void create_window(std::uint64_t id, Flavor flavor, std::size_t bytes);
    void issue(fabric::sim::Random& random, Operating& slot);
    void write_and_tell(const Arriving& arriving);
    const char* wrong_in_buffers();

    SilentFabric fabric_;
    std::vector<std::unique_ptr<Others>> others_;
    std::vector<std::unique_ptr<Operating>> operating_;
    Process process_{fabric_}; ///< the members' blocks outlive its windows
    std::vector<Arriving> arriving_;
    VictimStatistics statistics_;
    std::uint64_t wanted_bytes_ = 0;
    std::array<std::byte, 256> attached_{}; ///< for active messages
};

} // namespace sidelight::rma
