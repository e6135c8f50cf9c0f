// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fabric/sim/network.hpp"
#include "rma/channel/active_wire.hpp"

namespace sidelight::sim {

/// Sees who asks for room in attached buffers and who gets it: first come, first served, and not a
/// sliver. For runs in which nobody dies.
class ReservationLine final : public fabric::sim::Observer {
public:
    /// `attached`: the bytes of each member's buffer.
    explicit ReservationLine(const std::vector<std::size_t>& attached) : attached_(attached) {}

    void sent(int from, int to, std::span<const std::byte> message) override;
    void handed_over(int from, int to, std::span<const std::byte> message) override;
    void placed(int /*to*/) override {}
    void written() override {}

    /// Empty: all held.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

private:
    struct Name {
        int target;
        int origin;
        std::uint64_t operation;
        auto operator<=>(const Name&) const = default;
    };
    struct Wish {
        Name name;
        std::uint64_t least;
        std::uint64_t most;
    };
    struct Progress {
        std::uint64_t segments = 0; ///< of the message
        std::uint64_t answered = 0;
        std::map<std::uint64_t, std::uint64_t> pieces{}; ///< how many segments, by the first
    };
    void answered(const Name& name, const rma::ActiveReservationBody& body);
    void done(const Name& name, const rma::ActiveDoneBody& body);
    void over(const Name& name);

    const std::vector<std::size_t>& attached_;
    std::map<int, std::deque<Wish>> waiting_; ///< by target, in the order of their coming
    std::map<Name, Progress> messages_;
    std::string failure_;
};

} // namespace sidelight::sim
