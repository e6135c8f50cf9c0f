// SPDX-License-Identifier: BSD-3-Clause
#include "scale.hpp"

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "ranks.hpp"

namespace sidelight::simulate {

namespace {

class Job;

std::size_t heap_bytes() noexcept
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// A member that has something to do.
class Worker final : public fabric::sim::Actor {
public:
    Worker(Job& job, int number);
    void run() override;
    [[nodiscard]] bool through() const noexcept { return issued_ && all_complete(); }
    [[nodiscard]] rma::Window& window() noexcept { return *window_; }
    [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
    [[nodiscard]] std::size_t window_bytes() const noexcept { return window_bytes_; }
    /// Of the heap, that its epochs took while all of them were pending.
    [[nodiscard]] std::size_t pending_bytes() const noexcept { return pending_bytes_; }

private:
    void issue();
    void put(int target);
    [[nodiscard]] int peer(int index) const noexcept;
    [[nodiscard]] bool all_complete() const noexcept;

    Job& job_;
    int number_;
    rma::Process process_;
    rma::Window *window_ = nullptr;
    std::vector<rma::Request> requests_;
    bool issued_ = false;
    std::uint64_t value_ = 1;
    std::size_t pending_ = 0;
    std::size_t window_bytes_ = 0;
    std::size_t pending_bytes_ = 0;
};

/// Counts what is on the wire.
class Bytes final : public fabric::sim::Observer {
public:
    void sent(int, int, std::span<const std::byte> message) override { all += message.size(); }
    void handed_over(int, int, std::span<const std::byte>) override {}
    void placed(int) override {}
    void written() override {}
    std::uint64_t all = 0;
};

class Job {
public:
    explicit Job(const ScaleOptions& wanted)
        : options(wanted),
          running(wanted.peers + 1),
          ranks(wanted.machine, wanted.members, sizeof(std::uint64_t), 1)
    {
        ranks.network.observe(&bytes);
        for (int number = 0; number < running; ++number) {
            workers.push_back(std::make_unique<Worker>(*this, number));
            ranks.network.attach(rank_of(number), *workers.back());
            ranks.network.schedule(rank_of(number), 0);
        }
    }
    [[nodiscard]] int rank_of(int number) const noexcept
    {
        return static_cast<int>(static_cast<std::int64_t>(number) * options.members / running);
    }

    ScaleOptions options;
    int running;
    Bytes bytes;
    Ranks ranks;
    std::vector<std::unique_ptr<Worker>> workers;
};

Worker::Worker(Job& job, int number)
    : job_(job),
      number_(number),
      process_(job.ranks.network.endpoint(job.rank_of(number))),
      requests_(job.options.way == ScaleWay::lock ? static_cast<std::size_t>(job.options.epochs)
                                                  : 1)
{
    process_.set_messages(true);
    rma::WindowShape shape = job.ranks.shape(job.rank_of(number), sizeof(std::uint64_t));
    shape.reorder.access_after_access = true;
    shape.no_exclusive_locks = job.options.way == ScaleWay::lock_all;
    window_ = &process_.create_window(shape);
}

void Worker::run()
{
    while (process_.progress()) {
    }
    if (!issued_) {
        issued_ = true;
        const std::size_t before = heap_bytes();
        issue();
        pending_ = window_->pending_epochs();
        pending_bytes_ = heap_bytes() - before;
        window_bytes_ = window_->memory_bytes();
        if (job_.options.way == ScaleWay::lock_all) {
            demand(window_->unlock_all(&requests_.front()));
        }
        process_.push();
    }
}

void Worker::issue()
{
    const bool each = job_.options.way == ScaleWay::lock;
    if (!each) {
        demand(window_->lock_all({}, nullptr));
    }
    for (int index = 0; index < job_.options.epochs; ++index) {
        const int target = peer(index % job_.options.peers);
        if (each) {
            demand(window_->lock(rma::LockType::shared, target, {}, nullptr));
        }
        put(target);
        if (each) {
            demand(window_->unlock(target, &requests_[static_cast<std::size_t>(index)]));
        }
    }
}

void Worker::put(int target)
{
    const datatype::Layout *word = &datatype::basic_layout(datatype::Basic::u64);
    rma::Operation operation;
    operation.kind = rma::OperationKind::accumulate;
    operation.reduce = rma::ReduceOp::sum;
    operation.target = target;
    operation.origin = {&value_, word, 1};
    operation.layout = word;
    operation.count = 1;
    demand(window_->issue(operation, nullptr));
}

int Worker::peer(int index) const noexcept
{
    return job_.rank_of((number_ + 1 + index) % job_.running);
}

bool Worker::all_complete() const noexcept
{
    return std::all_of(requests_.begin(), requests_.end(),
                       [](const rma::Request& request) { return request.complete; });
}

} // namespace

ScaleOutcome run_scale(const ScaleOptions& options)
{
    Job job(options);
    while (job.ranks.network.step()) {
    }
    ScaleOutcome outcome;
    outcome.correct = true;
    std::uint64_t sum = 0;
    for (const auto& worker : job.workers) {
        outcome.correct = outcome.correct && worker->through();
        outcome.window_bytes = std::max(outcome.window_bytes, worker->window_bytes());
        outcome.pending = std::max(outcome.pending, worker->pending());
        outcome.met = std::max(outcome.met, worker->window().members_met());
        outcome.pending_bytes += worker->pending_bytes();
    }
    for (int number = 0; number < job.running; ++number) {
        sum += *reinterpret_cast<const std::uint64_t *>(job.ranks.memory(job.rank_of(number)));
    }
    const auto running = static_cast<std::size_t>(job.running);
    outcome.pending_bytes /= running;
    outcome.messages = static_cast<double>(job.ranks.network.messages()) / job.running;
    outcome.bytes = static_cast<double>(job.bytes.all) / job.running;
    outcome.correct =
        outcome.correct && sum == running * static_cast<std::uint64_t>(options.epochs);
    return outcome;
}

} // namespace sidelight::simulate
