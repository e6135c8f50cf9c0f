// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "fabric/sim/network.hpp"
#include "rma/engine/process.hpp"
#include "world.hpp"

/// What a lock_all epoch without places costs: the same with 1,000 members as with 100,000. All of
/// those that have anything to do are run; what is asked of any other one is seen in the messages.
namespace sidelight::sim {

namespace {

using fabric::sim::Network;

constexpr int running = 48; ///< ranks with an engine: each other's targets
constexpr int targets = 16; ///< of each

/// Who says that no places are needed.
enum class Word { of_the_call, of_the_window };

class Job;

/// lock_all and unlock_all; lock_all, a put to each target, a flush of all, the puts again,
/// unlock_all.
class Origin final : public fabric::sim::Actor {
public:
    Origin(Job& job, int rank);
    void run() override;
    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] bool done() const noexcept { return step_ == 5 && !waits_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t met() const noexcept { return window_->members_met(); }

private:
    void next();
    Status lock_all() noexcept;
    void open_and_close();
    void put_to_all(std::uint64_t value);

    Job& job_;
    int rank_;
    rma::Process process_;
    rma::Window* window_ = nullptr;
    rma::Request request_;
    std::uint64_t value_ = 0;
    std::size_t bytes_ = 0; ///< while the epoch is open
    int step_ = 0;
    bool waits_ = false;
};

class Job {
public:
    Job(int members, int node_size, Word given)
        : network(members, {}, 1),
          node(node_size),
          word(given),
          everybody(static_cast<std::size_t>(members)),
          barriers(static_cast<std::size_t>((members + node_size - 1) / node_size))
    {
        std::iota(everybody.begin(), everybody.end(), 0);
        const auto size = static_cast<std::size_t>(members);
        for (int rank = 0; rank < running; ++rank) {
            memory.push_back(allocate_block(targets * sizeof(std::uint64_t)));
            controls.push_back(allocate_block(rma::Control::bytes(size)));
            rma::Control::create(controls.back().get());
            finders.push_back(std::make_unique<Members>(*this, rank));
        }
        for (int first = 0; first < members; first += node) {
            leaders.push_back(first);
        }
        for (int rank = 0; rank < running; ++rank) {
            origins.push_back(std::make_unique<Origin>(*this, rank));
            network.attach(rank, *origins.back());
            network.schedule(rank, 0);
        }
    }

    struct Members final : rma::Members {
        Members(Job& all, int rank) : job(all), own(rank) {}
        Status find(int rank, rma::Member& found) noexcept override
        {
            const auto number = static_cast<std::size_t>(rank);
            found.mapped = rank / job.node == own / job.node;
            found.size = targets * sizeof(std::uint64_t);
            found.disp_unit = sizeof(std::uint64_t);
            found.peer = rank;
            if (found.mapped) {
                found.base = job.memory[number].get();
                found.control = reinterpret_cast<rma::Control*>(job.controls[number].get());
                found.number = static_cast<std::uint32_t>(rank % job.node);
            }
            return Status::ok;
        }
        Job& job;
        int own;
    };

    Network network;
    int node;
    Word word;
    std::vector<std::int32_t> everybody;
    std::vector<rma::BarrierWord> barriers;
    std::vector<Block> memory;
    std::vector<Block> controls;
    std::vector<std::int32_t> leaders;
    std::vector<std::unique_ptr<Members>> finders;
    std::vector<std::unique_ptr<Origin>> origins;
};

Origin::Origin(Job& job, int rank) : job_(job), rank_(rank), process_(job.network.endpoint(rank))
{
    process_.set_messages(true);
    const int first = rank / job.node * job.node;
    const auto node = static_cast<std::uint32_t>(rank / job.node);
    rma::WindowShape shape;
    shape.id = 1;
    shape.rank = rank;
    shape.size = static_cast<int>(job.everybody.size());
    shape.members = job.finders[static_cast<std::size_t>(rank)].get();
    shape.neighbours =
        std::span(job.everybody)
            .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(job.node));
    shape.barrier = {.word = &job.barriers[node], .node = node, .leaders = job.leaders};
    shape.no_exclusive_locks = job.word == Word::of_the_window;
    window_ = &process_.create_window(shape);
}

void Origin::run()
{
    while (process_.progress()) {
    }
    while (step_ < 5 && (!waits_ || request_.complete)) {
        EXPECT_EQ(request_.status, Status::ok);
        waits_ = false;
        next();
        process_.push();
    }
    waits_ = waits_ && !request_.complete;
}

void Origin::next()
{
    request_ = {};
    switch (step_++) {
    case 0:
        return open_and_close();
    case 1:
        EXPECT_EQ(lock_all(), Status::ok);
        return put_to_all(1);
    case 2:
        waits_ = window_->flush(rma::all_targets, rma::FlushScope::remote, &request_) == Status::ok;
        return;
    case 3:
        put_to_all(2);
        bytes_ = window_->memory_bytes();
        return;
    default:
        waits_ = window_->unlock_all(&request_) == Status::ok;
    }
}

Status Origin::lock_all() noexcept
{
    return window_->lock_all({.no_check = job_.word == Word::of_the_call}, nullptr);
}

/// Nobody is asked, and nothing is waited for.
void Origin::open_and_close()
{
    const std::size_t before = window_->members_met();
    EXPECT_EQ(lock_all(), Status::ok);
    EXPECT_EQ(window_->unlock_all(&request_), Status::ok);
    EXPECT_TRUE(request_.complete);
    EXPECT_EQ(job_.network.endpoint(rank_).sends(), 0U);
    EXPECT_EQ(window_->members_met(), before);
}

void Origin::put_to_all(std::uint64_t value)
{
    const datatype::Layout* word = &datatype::basic_layout(datatype::Basic::u64);
    value_ = value;
    for (int distance = 1; distance <= targets; ++distance) {
        rma::Operation operation;
        operation.kind = rma::OperationKind::put;
        operation.target = (rank_ + distance) % running;
        operation.displacement = distance - 1;
        operation.origin = {&value_, word, 1};
        operation.layout = word;
        operation.count = 1;
        EXPECT_EQ(window_->issue(operation, nullptr), Status::ok);
    }
}

struct Cost {
    std::uint64_t messages = 0;
    std::size_t bytes = 0;
    std::size_t met = 0;
};

Cost cost_of(int members, int node_size, Word word)
{
    Job job(members, node_size, word);
    while (job.network.step()) {
    }
    Cost cost{.messages = job.network.messages()};
    for (const auto& origin : job.origins) {
        EXPECT_TRUE(origin->done()) << "rank " << origin->rank();
        cost.bytes = std::max(cost.bytes, origin->bytes());
        cost.met = std::max(cost.met, origin->met());
    }
    for (const Block& block : job.memory) {
        const auto* words = reinterpret_cast<const std::uint64_t*>(block.get());
        for (int cell = 0; cell < targets; ++cell) {
            EXPECT_EQ(words[cell], 2U);
        }
    }
    std::printf("%d members, %d to a node: %.1f messages a rank, %zu bytes, %zu members met\n",
                members, node_size, static_cast<double>(cost.messages) / running, cost.bytes,
                cost.met);
    return cost;
}

class LockAllScale : public testing::TestWithParam<int> {};

void expect_what_is_used(int node_size, Word word)
{
    const Cost few = cost_of(1'000, node_size, word);
    const Cost many = cost_of(100'000, node_size, word);
    EXPECT_EQ(many.messages, few.messages);
    EXPECT_EQ(many.bytes, few.bytes);
    EXPECT_EQ(many.met, few.met);
    EXPECT_LE(many.met, static_cast<std::size_t>(node_size + 2 * targets)); // it is a target, too
}

} // namespace

/// The parameter: ranks of a node.
TEST_P(LockAllScale, CostsWhatIsUsedWithoutChecks)
{
    expect_what_is_used(GetParam(), Word::of_the_call);
}

TEST_P(LockAllScale, CostsWhatIsUsedWithoutExclusiveLocks)
{
    expect_what_is_used(GetParam(), Word::of_the_window);
}

INSTANTIATE_TEST_SUITE_P(Nodes, LockAllScale, testing::Values(1, 8),
                         [](const auto& node) { return "of" + std::to_string(node.param); });

} // namespace sidelight::sim
