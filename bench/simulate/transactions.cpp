// SPDX-License-Identifier: BSD-3-Clause
#include "transactions.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "rank_recorder.hpp"
#include "ranks.hpp"
#include "traced_calls.hpp"

namespace sidelight::simulate {

namespace {

using fabric::sim::Time;
using trace::CallKind;

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
    [[nodiscard]] bool has_to_wait();
    [[nodiscard]] const rma::Request *awaited() const noexcept;
    void close();

    Job& job_;
    int rank_;
    rma::Process process_;
    rma::Window *window_ = nullptr;
    TracedCalls calls_;
    std::vector<rma::Request> requests_; ///< a ring of the epochs ahead
    std::size_t issued_ = 0;
    bool closes_ = false;
    rma::Request close_;
    const rma::Request *waits_ = nullptr; ///< of the call that it is in
    Time ended_ = 0;
    std::size_t most_pending_ = 0;
};

class Job {
public:
    explicit Job(const Options& wanted)
        : options(wanted),
          ranks(wanted.machine, wanted.ranks, words * sizeof one, wanted.seed),
          recording(wanted.trace, ranks)
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
    Recording recording;
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
    process_.set_recorder(job.recording.of(rank));
    rma::WindowShape shape = job.ranks.shape(rank, sizeof one);
    shape.reorder.access_after_access = job.options.key;
    window_ = &process_.create_window(shape);
    calls_.begin(*window_);
}

void Worker::run()
{
    while (process_.progress()) {
    }
    if (has_to_wait()) {
        return;
    }
    if (issued_ < static_cast<std::size_t>(job_.options.transactions)) {
        transact();
    } else if (!closes_) {
        ended_ = job_.ranks.network.now();
        close();
    } else {
        return;
    }
    process_.push();
    job_.ranks.network.schedule(rank_,
                                job_.ranks.network.now()); // after what has arrived meanwhile
}

/// In the call that blocks, or, for what nonblocking ones have begun, by MPI_Wait.
bool Worker::has_to_wait()
{
    const rma::Request *request = awaited();
    if (request != waits_) {
        calls_.leave();
        if (request != nullptr) {
            calls_.await(*request);
        }
    }
    waits_ = request;
    return request != nullptr;
}

/// What must be complete before the rank goes on: the epoch whose place in the ring comes next, and
/// at last all of them, one by one. Null: it is.
const rma::Request *Worker::awaited() const noexcept
{
    if (closes_) {
        return close_.complete ? nullptr : &close_;
    }
    std::span<const rma::Request> needed = requests_;
    if (issued_ < static_cast<std::size_t>(job_.options.transactions)) {
        needed = needed.subspan(issued_ % needed.size(), 1);
    }
    const auto found = std::find_if(needed.begin(), needed.end(),
                                    [](const rma::Request& request) { return !request.complete; });
    return found != needed.end() ? &*found : nullptr;
}

void Worker::close()
{
    closes_ = true;
    calls_.enter(CallKind::free);
    demand(window_->close(&close_));
    waits_ = &close_;
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
    calls_.await(request);
    calls_.leave();
    request = {};
    calls_.enter(CallKind::lock, false, target);
    demand(window_->lock(rma::LockType::exclusive, target, {}, nullptr));
    calls_.leave();
    demand(window_->issue(operation, nullptr));
    const bool blocks = requests_.size() == 1;
    calls_.enter(CallKind::unlock, !blocks, target);
    demand(window_->unlock(target, &request));
    job_.ranks.network.spend(3 * job_.options.machine.call);
    if (blocks) {
        waits_ = &request;
    } else {
        calls_.leave_with(request);
    }
    ++issued_;
    most_pending_ = std::max(most_pending_, window_->pending_epochs());
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
    job.workers.clear(); // and their windows
    job.recording.finish();
    return outcome;
}

} // namespace sidelight::simulate
