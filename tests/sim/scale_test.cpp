// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "fabric/sim/network.hpp"
#include "rma/engine/process.hpp"

/// A window over 10,000 ranks: what each of them pays for it in messages and in memory.
namespace sidelight::sim {

namespace {

using fabric::sim::Network;

constexpr int ranks = 10'000;
constexpr int distances[] = {1, ranks - 1, 77, 1234}; ///< of the ranks that each puts to
constexpr std::size_t words = std::size(distances) + 1;

/// Zeroed memory of which only touched pages exist.
class Sparse {
public:
    explicit Sparse(std::size_t bytes)
        : bytes_(bytes),
          first_(static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)))
    {
        if (first_ == MAP_FAILED) {
            throw std::bad_alloc();
        }
    }
    ~Sparse() { munmap(first_, bytes_); }
    Sparse(const Sparse&) = delete;
    Sparse& operator=(const Sparse&) = delete;
    [[nodiscard]] std::byte* at(std::size_t offset) const noexcept { return first_ + offset; }

private:
    std::size_t bytes_;
    std::byte* first_;
};

std::size_t resident_bytes()
{
    long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
        if (std::fscanf(file, "%*s %ld", &pages) != 1) {
            pages = 0;
        }
        std::fclose(file);
    }
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class Machine;

/// fence, puts, fence, a lock with a put at each of the same targets, close.
class Worker final : public fabric::sim::Actor {
public:
    Worker(Machine& machine, int rank);
    void run() override;
    [[nodiscard]] bool done() const noexcept { return closed_; }
    [[nodiscard]] rma::Window& window() noexcept { return *window_; }

private:
    void next();
    void put(std::size_t index, std::uint64_t value);
    [[nodiscard]] int target(std::size_t index) const noexcept
    {
        return (rank_ + distances[index]) % ranks;
    }

    Machine& machine_;
    int rank_;
    rma::Process process_;
    rma::Window* window_ = nullptr;
    rma::Request request_;
    std::uint64_t values_[2 * words] = {};
    std::size_t step_ = 0;
    bool waits_ = false;
    bool closed_ = false;
};

class Machine {
public:
    explicit Machine(int node_size)
        : network(ranks, {}, 1),
          node(node_size),
          block(rma::Control::bytes(ranks)),
          controls(ranks * block),
          memory(ranks * words * 8),
          barriers(static_cast<std::size_t>((ranks + node_size - 1) / node_size)),
          everybody(ranks)
    {
        std::iota(everybody.begin(), everybody.end(), 0);
        for (int first = 0; first < ranks; first += node) {
            leaders.push_back(first);
        }
        for (int rank = 0; rank < ranks; ++rank) {
            rma::Control::create(controls.at(static_cast<std::size_t>(rank) * block));
            members.push_back(std::make_unique<Members>(*this, rank));
        }
        for (int rank = 0; rank < ranks; ++rank) {
            workers.push_back(std::make_unique<Worker>(*this, rank));
            network.attach(rank, *workers.back());
            network.schedule(rank, 0);
        }
    }

    struct Members final : rma::Members {
        Members(Machine& all, int rank) : machine(all), own(rank) {}
        Status find(int rank, rma::Member& found) noexcept override
        {
            const auto number = static_cast<std::size_t>(rank);
            found.mapped = rank / machine.node == own / machine.node;
            found.size = words * 8;
            found.disp_unit = 8;
            found.peer = rank;
            if (found.mapped) {
                found.base = machine.memory.at(number * words * 8);
                found.control =
                    reinterpret_cast<rma::Control*>(machine.controls.at(number * machine.block));
                found.number = static_cast<std::uint32_t>(rank % machine.node);
            }
            return Status::ok;
        }
        Machine& machine;
        int own;
    };

    Network network;
    int node;
    std::size_t block;
    Sparse controls;
    Sparse memory;
    std::vector<rma::BarrierWord> barriers;
    std::vector<std::int32_t> everybody;
    std::vector<std::int32_t> leaders;
    std::vector<std::unique_ptr<Members>> members;
    std::vector<std::unique_ptr<Worker>> workers;
};

Worker::Worker(Machine& machine, int rank)
    : machine_(machine), rank_(rank), process_(machine.network.endpoint(rank))
{
    process_.set_messages(true);
    const int first = rank / machine.node * machine.node;
    rma::WindowShape shape;
    shape.id = 1;
    shape.rank = rank;
    shape.size = ranks;
    shape.members = machine.members[static_cast<std::size_t>(rank)].get();
    shape.neighbours =
        std::span(machine.everybody)
            .subspan(static_cast<std::size_t>(first),
                     static_cast<std::size_t>(std::min(machine.node, ranks - first)));
    const auto node = static_cast<std::uint32_t>(rank / machine.node);
    shape.barrier = {.word = &machine.barriers[node], .node = node, .leaders = machine.leaders};
    window_ = &process_.create_window(shape);
}

void Worker::run()
{
    while (process_.progress()) {
    }
    while (!closed_ && (!waits_ || request_.complete)) {
        EXPECT_EQ(request_.status, Status::ok);
        waits_ = false;
        next();
        process_.push();
    }
}

void Worker::put(std::size_t index, std::uint64_t value)
{
    const datatype::Layout* word = &datatype::basic_layout(datatype::Basic::u64);
    values_[step_ % std::size(values_)] = value;
    rma::Operation operation;
    operation.kind = rma::OperationKind::put;
    operation.target = target(index);
    operation.displacement = static_cast<std::int64_t>(index);
    operation.origin = {&values_[step_ % std::size(values_)], word, 1};
    operation.layout = word;
    operation.count = 1;
    EXPECT_EQ(window_->issue(operation, nullptr), Status::ok);
}

void Worker::next()
{
    constexpr std::size_t puts = std::size(distances);
    const std::size_t step = step_++;
    request_ = {};
    if (step == 0 || step == puts + 1) {
        waits_ = window_->fence({.no_succeed = step != 0}, &request_) == Status::ok;
    } else if (step <= puts) {
        put(step - 1, 1);
    } else if (step < puts + 2 + puts) {
        const std::size_t index = step - puts - 2;
        EXPECT_EQ(window_->lock(rma::LockType::exclusive, target(index), {}, nullptr), Status::ok);
        put(index, static_cast<std::uint64_t>(rank_) + 2);
        waits_ = window_->unlock(target(index), &request_) == Status::ok;
    } else if (step == puts + 2 + puts) {
        waits_ = window_->close(&request_) == Status::ok;
    } else {
        closed_ = true;
    }
}

class Scale : public testing::TestWithParam<int> {};

} // namespace

/// The parameter: ranks of a node.
TEST_P(Scale, TenThousandRanks)
{
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer needs several times the memory";
#endif
    const std::size_t before = resident_bytes();
    Machine machine(GetParam());
    const std::size_t made = resident_bytes();
    while (machine.network.step()) {
    }
    const std::size_t after = resident_bytes();
    std::size_t met = 0;
    std::size_t bytes = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        Worker& worker = *machine.workers[static_cast<std::size_t>(rank)];
        ASSERT_TRUE(worker.done()) << "rank " << rank;
        met = std::max(met, worker.window().members_met());
        bytes = std::max(bytes, worker.window().memory_bytes());
        for (std::size_t index = 0; index < std::size(distances); ++index) {
            const auto origin =
                static_cast<std::uint64_t>((rank + ranks - distances[index]) % ranks);
            const auto* memory = reinterpret_cast<const std::uint64_t*>(
                machine.memory.at(static_cast<std::size_t>(rank) * words * 8));
            ASSERT_EQ(memory[index], origin + 2);
        }
    }
    std::printf("%d to a node: %.1f messages a rank, %zu members met, %zu bytes of a process for "
                "the window, resident %zu KiB a rank when made and %zu at the end\n",
                GetParam(), static_cast<double>(machine.network.messages()) / ranks, met, bytes,
                (made - before) / ranks / 1024, (after - before) / ranks / 1024);
    EXPECT_LT(after - before, std::size_t{4} << 30);
    // Neighbours, those it has to do with, and leaders at distances of powers of two.
    EXPECT_LE(met, static_cast<std::size_t>(GetParam()) + 2 * std::size(distances) + 2 * 14);
}

INSTANTIATE_TEST_SUITE_P(Nodes, Scale, testing::Values(1, 64),
                         [](const auto& node) { return "of" + std::to_string(node.param); });

} // namespace sidelight::sim
