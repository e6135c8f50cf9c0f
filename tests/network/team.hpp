// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "fabric/network_fabric.hpp"

/// Tests with several processes that reach each other by network only. The test's own process never
/// loads UCX: it forks the members, which do, and looks how they end.
namespace sidelight::network_tests {

using Clock = std::chrono::steady_clock;

inline constexpr int max_members = 4;
inline constexpr std::size_t max_address = 32768;

/// What the members share without a network: who they are, and where they have got to.
struct Board {
    struct Entry {
        std::atomic<std::uint64_t> identity{0}; ///< written last
        std::size_t address_bytes = 0;
        std::byte address[max_address];
        fabric::FastBoxes boxes;
    };
    Entry entries[max_members];
    std::atomic<int> arrived{0};
    std::atomic<int> words[8]{}; ///< for the test
};

/// Whether memory of peers may be opened only where UCX has hardware for it.
enum class Opening { with_hardware, always };

/// One process of a team.
class Member {
public:
    Member(Board& board, int rank, int members, const std::string& transports, Opening opening);

    [[nodiscard]] fabric::NetworkFabric& fabric() { return *fabric_; }
    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int members() const noexcept { return members_; }
    [[nodiscard]] Board& board() noexcept { return board_; }

    /// Waits until that member has published its address, and meets it.
    int meet(int rank);
    /// The number that the fabric has for a member that was met.
    [[nodiscard]] int peer(int rank) const { return peers_.at(static_cast<std::size_t>(rank)); }
    [[nodiscard]] int rank_of(int peer) const;
    /// The number of one that has not been met.
    void expect_peer(int rank, int number) { peers_.at(static_cast<std::size_t>(rank)) = number; }
    void meet_all();

    /// Polls until the condition holds; whether it did before `limit`.
    bool poll_until(fabric::Receiver& receiver, const std::function<bool()>& condition,
                    std::chrono::seconds limit = std::chrono::seconds(200));
    /// Polls until all members have come here.
    bool barrier(fabric::Receiver& receiver);

    /// Ends the fabric.
    void forget() { fabric_.reset(); }

private:
    Board& board_;
    int rank_;
    int members_;
    int barriers_ = 0;
    bool boxed_;
    fabric::FastInbox inbox_;
    std::unique_ptr<fabric::PeerNumbers> numbers_;
    std::unique_ptr<fabric::NetworkFabric> fabric_;
    std::vector<int> peers_;
};

/// Runs `body` in so many processes; whether it was well in all. Expectations of the framework
/// work in there.
bool run_team(int members, const std::string& transports, const std::function<void(Member&)>& body,
              Opening opening = Opening::with_hardware);

/// The same with processes that may end otherwise: their statuses as waitpid has them.
std::vector<int> run_team_to_any_end(int members, const std::string& transports,
                                     const std::function<void(Member&)>& body,
                                     Opening opening = Opening::with_hardware);

/// UCX's shared memory, and a box for small messages to each peer.
inline constexpr const char* boxes = "boxes";

/// The tests run over each of these: UCX_TLS.
inline constexpr const char* all_transports[] = {"tcp", "posix,self", "shm,self", "all"};
/// Tests where nobody sleeps run over boxes, too: UCX hears nothing of what comes by these.
inline constexpr const char* all_ways[] = {"tcp", "posix,self", "shm,self", "all", boxes};

inline std::string transports_name(const testing::TestParamInfo<const char*>& parameter)
{
    std::string name = parameter.param;
    std::replace(name.begin(), name.end(), ',', '_');
    return name;
}

} // namespace sidelight::network_tests
