// SPDX-License-Identifier: BSD-3-Clause
#include "transactions.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "rma/engine/process.hpp"

namespace sidelight::simulate {

namespace {

using fabric::sim::Network;
using fabric::sim::Time;

constexpr std::size_t words = 1024; ///< of a rank's window
constexpr std::uint64_t one = 1;

/// Zeroed memory on a cache line of its own.
class Block {
public:
    explicit Block(std::size_t bytes)
        : first_(static_cast<std::byte *>(::operator new(bytes, alignment)))
    {
        std::memset(first_, 0, bytes);
    }
    ~Block() { ::operator delete(first_, alignment); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    [[nodiscard]] std::byte *at(std::size_t offset) const noexcept { return first_ + offset; }

private:
    static constexpr std::align_val_t alignment{64};
    std::byte *first_;
};

class Job;

/// One rank: a transaction each time that it is run, as far ahead as it may be.
class Worker final : public fabric::sim::Actor {
public:
    Worker(Job& job, int rank);
    void run() override;
    [[nodiscard]] bool closed() const noexcept { return closes_ && close_.complete; }
    [[nodiscard]] Time ended() const noexcept { return ended_; }
    [[nodiscard]] std::size_t most_pending() const noexcept { return most_pending_; }

private:
    void transact();
    [[nodiscard]] bool all_complete() const noexcept;
    static void demand(Status status);

    Job& job_;
    int rank_;
    rma::Process process_;
    rma::Window *window_ = nullptr;
    std::vector<rma::Request> requests_; ///< a ring of the epochs ahead
    std::size_t issued_ = 0;
    bool closes_ = false;
    rma::Request close_;
    Time ended_ = 0;
    std::size_t most_pending_ = 0;
};

class Job {
public:
    explicit Job(const Options& wanted)
        : options(wanted),
          network(wanted.ranks, wanted.machine.costs, wanted.seed),
          random(wanted.seed),
          block(rma::Control::bytes(wanted.ranks)),
          controls(static_cast<std::size_t>(wanted.ranks) * block),
          memory(static_cast<std::size_t>(wanted.ranks) * words * sizeof one),
          barriers(static_cast<std::size_t>((wanted.ranks + node() - 1) / node())),
          everybody(static_cast<std::size_t>(wanted.ranks))
    {
        std::iota(everybody.begin(), everybody.end(), 0);
        for (int first = 0; first < ranks(); first += node()) {
            leaders.push_back(first);
        }
        for (int rank = 0; rank < ranks(); ++rank) {
            rma::Control::create(controls.at(static_cast<std::size_t>(rank) * block));
            members.push_back(std::make_unique<Members>(*this, rank));
        }
        for (int rank = 0; rank < ranks(); ++rank) {
            workers.push_back(std::make_unique<Worker>(*this, rank));
            network.attach(rank, *workers.back());
            network.schedule(rank, 0);
        }
    }

    struct Members final : rma::Members {
        Members(Job& all, int rank) : job(all), own(rank) {}
        Status find(int rank, rma::Member& found) noexcept override
        {
            const auto number = static_cast<std::size_t>(rank);
            found.mapped = rank / job.node() == own / job.node();
            found.size = words * sizeof one;
            found.disp_unit = sizeof one;
            found.peer = rank;
            if (found.mapped) {
                found.base = job.memory.at(number * words * sizeof one);
                found.control =
                    reinterpret_cast<rma::Control *>(job.controls.at(number * job.block));
            }
            return Status::ok;
        }
        Job& job;
        int own;
    };

    [[nodiscard]] int ranks() const noexcept { return options.ranks; }
    [[nodiscard]] int node() const noexcept { return options.machine.node; }
    [[nodiscard]] std::uint64_t sum() const noexcept
    {
        const auto *first = reinterpret_cast<const std::uint64_t *>(memory.at(0));
        return std::accumulate(first, first + static_cast<std::size_t>(ranks()) * words,
                               std::uint64_t{0});
    }

    Options options;
    Network network;
    fabric::sim::Random random;
    std::size_t block;
    Block controls;
    Block memory;
    std::vector<rma::BarrierWord> barriers;
    std::vector<std::int32_t> everybody;
    std::vector<std::int32_t> leaders;
    std::vector<std::unique_ptr<Members>> members;
    std::vector<std::unique_ptr<Worker>> workers;
};

Worker::Worker(Job& job, int rank)
    : job_(job),
      rank_(rank),
      process_(job.network.endpoint(rank)),
      requests_(static_cast<std::size_t>(job.options.pending))
{
    for (rma::Request& request : requests_) {
        request.complete = true;
    }
    process_.set_messages(job.ranks() > job.node());
    const int first = rank / job.node() * job.node();
    const int neighbours = std::min(job.node(), job.ranks() - first);
    const auto node = static_cast<std::uint32_t>(rank / job.node());
    rma::WindowShape shape;
    shape.id = 1;
    shape.rank = rank;
    shape.size = job.ranks();
    shape.members = job.members[static_cast<std::size_t>(rank)].get();
    shape.neighbours =
        std::span(job.everybody)
            .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(neighbours));
    shape.barrier = {.word = &job.barriers[node], .node = node, .leaders = job.leaders};
    shape.reorder.access_after_access = job.options.key;
    window_ = &process_.create_window(shape);
}

void Worker::demand(Status status)
{
    if (status != Status::ok) {
        throw std::runtime_error("a call was refused");
    }
}

void Worker::run()
{
    while (process_.progress()) {
    }
    const auto wanted = static_cast<std::size_t>(job_.options.transactions);
    if (issued_ < wanted && requests_[issued_ % requests_.size()].complete) {
        transact();
        process_.push();
        job_.network.schedule(rank_, job_.network.now()); // after what has arrived meanwhile
    } else if (issued_ == wanted && !closes_ && all_complete()) {
        ended_ = job_.network.now();
        closes_ = true;
        demand(window_->close(&close_));
        process_.push();
        job_.network.schedule(rank_, job_.network.now());
    }
}

void Worker::transact()
{
    const datatype::Layout *word = &datatype::basic_layout(datatype::Basic::u64);
    const auto others = static_cast<std::uint64_t>(job_.ranks() - 1);
    const auto other = static_cast<int>(job_.random.below(others));
    const int target = other + (other >= rank_ ? 1 : 0);
    rma::Request& request = requests_[issued_ % requests_.size()];
    rma::Operation operation;
    operation.kind = rma::OperationKind::accumulate;
    operation.reduce = rma::ReduceOp::sum;
    operation.target = target;
    operation.displacement = static_cast<std::int64_t>(job_.random.below(words));
    operation.origin = {const_cast<std::uint64_t *>(&one), word, 1}; // only read
    operation.layout = word;
    operation.count = 1;
    request = {};
    demand(window_->lock(rma::LockType::exclusive, target, {}, nullptr));
    demand(window_->issue(operation, nullptr));
    demand(window_->unlock(target, &request));
    job_.network.spend(3 * job_.options.machine.call);
    ++issued_;
    most_pending_ = std::max(most_pending_, window_->pending_epochs());
}

bool Worker::all_complete() const noexcept
{
    return std::all_of(requests_.begin(), requests_.end(),
                       [](const rma::Request& request) { return request.complete; });
}

} // namespace

Outcome run_transactions(const Options& options)
{
    Job job(options);
    while (job.network.step()) {
    }
    Outcome outcome;
    outcome.messages = job.network.messages();
    bool closed = true;
    for (const auto& worker : job.workers) {
        closed = closed && worker->closed();
        outcome.ended = std::max(outcome.ended, worker->ended());
        outcome.pending = std::max(outcome.pending, worker->most_pending());
    }
    const auto wanted = static_cast<std::uint64_t>(options.ranks) *
                        static_cast<std::uint64_t>(options.transactions);
    outcome.correct = closed && job.sum() == wanted;
    return outcome;
}

} // namespace sidelight::simulate
