// SPDX-License-Identifier: BSD-3-Clause
#include "network/team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shared_memory.hpp"

namespace sidelight::network_tests {
namespace {

constexpr unsigned longest_seconds = 800;

/// The library under test may be chosen: SIDELIGHT_UCX=<path of libucp.so.0>.
fabric::NetworkOptions options(const std::string& transports, Opening opening,
                               fabric::FastInbox& inbox)
{
    const char* library = std::getenv("SIDELIGHT_UCX");
    return {.transports = transports == boxes ? "posix,self" : transports,
            .always_access = opening == Opening::always,
            .inbox = &inbox,
            .library = library != nullptr ? library : "auto"};
}

std::uint64_t identity_of(int rank) { return 0x1000U + static_cast<std::uint64_t>(rank); }

pid_t start_member(Board& board, int rank, int members, const std::string& transports,
                   const std::function<void(Member&)>& body, Opening opening)
{
    const pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(longest_seconds);
        setenv("UCX_KEEPALIVE_INTERVAL", "1s", 0); // its 20 s are long for those who lose a member
        {
            Member member(board, rank, members, transports, opening);
            body(member);
        }
        std::fflush(nullptr);
        // Not _exit: what UCX does at the end of a process is under test, too.
        std::exit(testing::Test::HasFailure() ? 1 : 0);
    }
    return process;
}

} // namespace

Member::Member(Board& board, int rank, int members, const std::string& transports, Opening opening)
    : board_(board),
      rank_(rank),
      members_(members),
      boxed_(transports == boxes),
      inbox_(board.entries[rank].boxes),
      numbers_(std::make_unique<fabric::PeerNumbers>(identity_of(rank))),
      fabric_(fabric::open_network(*numbers_, options(transports, opening, inbox_))),
      peers_(static_cast<std::size_t>(members), -1)
{
    if (!fabric_) {
        std::fprintf(stderr, "no network over %s\n", transports.c_str());
        _exit(2);
    }
    Board::Entry& entry = board_.entries[rank];
    const auto address = fabric_->address();
    if (address.size() > max_address) {
        _exit(3);
    }
    std::memcpy(entry.address, address.data(), address.size());
    entry.address_bytes = address.size();
    entry.identity.store(identity_of(rank), std::memory_order_release);
}

int Member::meet(int rank)
{
    Board::Entry& entry = board_.entries[rank];
    while (entry.identity.load(std::memory_order_acquire) == 0) {
        usleep(100);
    }
    const int number = fabric_->meet(entry.identity.load(), {entry.address, entry.address_bytes});
    peers_[static_cast<std::size_t>(rank)] = number;
    if (boxed_ && rank != rank_) {
        fabric_->use_box(number, fabric::FastOutbox(entry.boxes.claim(), identity_of(rank_)));
    }
    return number;
}

void Member::meet_all()
{
    for (int rank = 0; rank < members_; ++rank) {
        meet(rank);
    }
}

int Member::rank_of(int peer) const
{
    const auto found = std::find(peers_.begin(), peers_.end(), peer);
    return found == peers_.end() ? -1 : static_cast<int>(found - peers_.begin());
}

bool Member::poll_until(fabric::Receiver& receiver, const std::function<bool()>& condition,
                        std::chrono::seconds limit)
{
    const auto end = Clock::now() + limit;
    while (!condition()) {
        if (!fabric_->poll(receiver)) {
            if (Clock::now() > end) {
                return false;
            }
            usleep(0); // there may be fewer cores than members
        }
    }
    return true;
}

bool Member::barrier(fabric::Receiver& receiver)
{
    const int all = ++barriers_ * members_;
    board_.arrived.fetch_add(1);
    return poll_until(receiver, [&] { return board_.arrived.load() >= all; });
}

std::vector<int> run_team_to_any_end(int members, const std::string& transports,
                                     const std::function<void(Member&)>& body, Opening opening)
{
    const File file = create_memory_file();
    const Mapping memory = Mapping::shared(file, sizeof(Board));
    if (!memory) {
        return {};
    }
    Board& board = *new (memory.data()) Board;
    std::fflush(nullptr);
    std::vector<pid_t> processes;
    for (int rank = 0; rank < members; ++rank) {
        processes.push_back(start_member(board, rank, members, transports, body, opening));
    }
    std::vector<int> ends(processes.size(), -1);
    for (std::size_t i = 0; i < processes.size(); ++i) {
        int status = -1;
        const pid_t ended = wait(&status); // in any order: a dead process is there until it is seen
        const auto found = std::find(processes.begin(), processes.end(), ended);
        if (found != processes.end()) {
            ends[static_cast<std::size_t>(found - processes.begin())] = status;
        }
    }
    return ends;
}

bool run_team(int members, const std::string& transports, const std::function<void(Member&)>& body,
              Opening opening)
{
    const std::vector<int> ends = run_team_to_any_end(members, transports, body, opening);
    bool good = !ends.empty();
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        if (!WIFEXITED(ends[rank]) || WEXITSTATUS(ends[rank]) != 0) {
            std::fprintf(stderr, "member %zu ended with status 0x%x\n", rank,
                         static_cast<unsigned>(ends[rank]));
            good = false;
        }
    }
    return good;
}

} // namespace sidelight::network_tests
