// SPDX-License-Identifier: BSD-3-Clause
#include "transactions.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "ranks.hpp"

namespace sidelight::simulate {

namespace {

using fabric::sim::Time;

constexpr std::size_t words = 1024; ///< of a rank's window
constexpr std::uint64_t one = 1;

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
        : options(wanted), ranks(wanted.machine, wanted.ranks, words * sizeof one, wanted.seed)
    {
        for (int rank = 0; rank < ranks.count(); ++rank) {
            workers.push_back(std::make_unique<Worker>(*this, rank));
            ranks.network.attach(rank, *workers.back());
            ranks.network.schedule(rank, 0);
        }
    }

    [[nodiscard]] std::uint64_t sum() const noexcept
    {
        std::uint64_t all = 0;
        for (int rank = 0; rank < ranks.count(); ++rank) {
            const auto *first = reinterpret_cast<const std::uint64_t *>(ranks.memory(rank));
            all = std::accumulate(first, first + words, all);
        }
        return all;
    }

    Options options;
    Ranks ranks;
    std::vector<std::unique_ptr<Worker>> workers;
};

Worker::Worker(Job& job, int rank)
    : job_(job),
      rank_(rank),
      process_(job.ranks.network.endpoint(rank)),
      requests_(static_cast<std::size_t>(job.options.pending))
{
    for (rma::Request& request : requests_) {
        request.complete = true;
    }
    process_.set_messages(job.ranks.several_nodes());
    rma::WindowShape shape = job.ranks.shape(rank, sizeof one);
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
        job_.ranks.network.schedule(rank_,
                                    job_.ranks.network.now()); // after what has arrived meanwhile
    } else if (issued_ == wanted && !closes_ && all_complete()) {
        ended_ = job_.ranks.network.now();
        closes_ = true;
        demand(window_->close(&close_));
        process_.push();
        job_.ranks.network.schedule(rank_, job_.ranks.network.now());
    }
}

void Worker::transact()
{
    const datatype::Layout *word = &datatype::basic_layout(datatype::Basic::u64);
    const auto others = static_cast<std::uint64_t>(job_.ranks.count() - 1);
    const auto other = static_cast<int>(job_.ranks.random.below(others));
    const int target = other + (other >= rank_ ? 1 : 0);
    rma::Request& request = requests_[issued_ % requests_.size()];
    rma::Operation operation;
    operation.kind = rma::OperationKind::accumulate;
    operation.reduce = rma::ReduceOp::sum;
    operation.target = target;
    operation.displacement = static_cast<std::int64_t>(job_.ranks.random.below(words));
    operation.origin = {const_cast<std::uint64_t *>(&one), word, 1}; // only read
    operation.layout = word;
    operation.count = 1;
    request = {};
    demand(window_->lock(rma::LockType::exclusive, target, {}, nullptr));
    demand(window_->issue(operation, nullptr));
    demand(window_->unlock(target, &request));
    job_.ranks.network.spend(3 * job_.options.machine.call);
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
    while (job.ranks.network.step()) {
    }
    Outcome outcome;
    outcome.messages = job.ranks.network.messages();
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
