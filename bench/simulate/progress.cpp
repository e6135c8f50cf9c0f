// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "rank_processor.hpp"
#include "ranks.hpp"

namespace sidelight::simulate {

namespace {

using fabric::sim::Time;

class Job;

/// One rank: in each epoch an origin or a target.
class Worker final : public fabric::sim::Actor {
public:
    Worker(Job& job, int rank);
    void run() override;
    [[nodiscard]] bool through() const noexcept { return step_ == Step::end; }
    [[nodiscard]] Time in_epochs() const noexcept { return in_epochs_; }
    [[nodiscard]] std::uint64_t wakes() const noexcept { return processor_.wakes(); }

private:
    enum class Step {
        pause,   ///< in MPI, until the next epoch begins for all
        late,    ///< a target that computes first
        working, ///< an origin
        closing, ///< in the call that closes the epoch
        ending,  ///< the window is freed
        end
    };

    [[nodiscard]] bool is_origin() const noexcept;
    void sweep();
    void leave_engine();
    void compute(Time time, Step step);
    void computing();
    void advance();
    void open();
    void issue();
    void close();
    void closed();
    void call();

    Job& job_;
    int rank_;
    rma::Process process_;
    Processor processor_;
    rma::Window *window_ = nullptr;
    Step step_ = Step::pause;
    int epoch_ = 0;
    Time began_ = 0;
    Time in_epochs_ = 0;
    rma::Request opening_;
    rma::Request closing_;
    std::vector<int> others_; ///< that it has to do with
};

class Job {
public:
    explicit Job(const ProgressOptions& wanted);
    /// Far enough from one epoch to the next that all have done.
    [[nodiscard]] Time begin_of(int epoch) const noexcept
    {
        return static_cast<Time>(epoch) * period;
    }

    ProgressOptions options;
    int half;
    Ranks ranks;
    Block buffers; ///< of origins
    Time period;
    std::vector<std::unique_ptr<Worker>> workers;
    bool correct = true;
};

Machine two_nodes(Machine machine, int ranks)
{
    machine.node = ranks / 2;
    return machine;
}

Job::Job(const ProgressOptions& wanted)
    : options(wanted),
      half(wanted.ranks / 2),
      ranks(two_nodes(wanted.machine, wanted.ranks), wanted.ranks,
            wanted.bytes * static_cast<std::size_t>(wanted.many ? half : 1), wanted.seed),
      buffers(wanted.bytes * static_cast<std::size_t>(wanted.ranks)),
      period(20 * (wanted.work + wanted.late + wanted.machine.slice +
                   static_cast<Time>(half) * static_cast<Time>(half) * 1'000'000))
{
    for (int rank = 0; rank < ranks.count(); ++rank) {
        workers.push_back(std::make_unique<Worker>(*this, rank));
        ranks.network.attach(rank, *workers.back());
        ranks.network.schedule(rank, 0);
    }
}

Worker::Worker(Job& job, int rank)
    : job_(job),
      rank_(rank),
      process_(job.ranks.network.endpoint(rank)),
      processor_(job.options, rank, job.ranks.network)
{
    process_.set_messages(true);
    window_ = &process_.create_window(job.ranks.shape(rank, 1));
    const int half = job.half;
    if (job.options.many) {
        for (int other = 0; other < half; ++other) {
            others_.push_back(is_origin() ? other + half : other);
        }
    } else {
        others_.push_back((rank + half) % (2 * half));
    }
}

bool Worker::is_origin() const noexcept { return rank_ < job_.half; }

void Worker::sweep()
{
    while (process_.progress()) {
        process_.push();
    }
    process_.push();
}

/// From here on the rank is called for what it has recorded.
void Worker::leave_engine()
{
    Interest& interest = job_.ranks.network.endpoint(rank_).interest();
    interest.enter();
    while (!interest.leave(process_.wanted())) {
        sweep();
    }
}

void Worker::run()
{
    if (step_ == Step::working || step_ == Step::late) {
        computing();
    } else {
        sweep();
        advance();
    }
}

/// Something has come, or the work is done.
void Worker::computing()
{
    if (!processor_.is_done()) {
        if (processor_.begin_interrupt()) {
            sweep();
            leave_engine();
            processor_.end_interrupt();
        }
        job_.ranks.network.schedule(rank_, processor_.next_run());
        return;
    }
    sweep();
    if (step_ == Step::late) {
        began_ = job_.ranks.network.now();
        open();
    }
    close();
    sweep();
    advance();
}

void Worker::advance()
{
    fabric::sim::Network& network = job_.ranks.network;
    if (step_ == Step::closing && closing_.complete && opening_.complete) {
        closed();
    }
    if (step_ == Step::ending && closing_.complete) {
        step_ = Step::end;
    }
    if (step_ != Step::pause) {
        return;
    }
    if (network.now() < job_.begin_of(epoch_)) {
        network.schedule(rank_, job_.begin_of(epoch_));
        return;
    }
    if (epoch_ == job_.options.epochs) {
        step_ = Step::ending;
        closing_ = {};
        demand(window_->close(&closing_));
        sweep();
        return advance();
    }
    began_ = network.now();
    if (is_origin()) {
        open();
        issue();
        compute(job_.options.work, Step::working);
    } else {
        compute(job_.options.late, Step::late);
    }
}

void Worker::compute(Time time, Step step)
{
    sweep();
    leave_engine();
    step_ = step;
    processor_.begin(time);
    job_.ranks.network.schedule(rank_, processor_.next_run());
}

void Worker::open()
{
    call();
    opening_ = {};
    if (job_.options.fence) {
        demand(window_->fence({.no_precede = true}, &opening_));
        return;
    }
    opening_.complete = true;
    demand(is_origin() ? window_->start(others_, {}, nullptr) : window_->post(others_, nullptr));
}

void Worker::issue()
{
    const datatype::Layout *byte = &datatype::basic_layout(datatype::Basic::u8);
    const std::size_t bytes = job_.options.bytes;
    std::byte *const buffer = job_.buffers.at(static_cast<std::size_t>(rank_) * bytes);
    if (!job_.options.get) {
        std::fill_n(buffer, bytes, static_cast<std::byte>(epoch_ + 1));
    }
    for (const int target : others_) {
        rma::Operation operation;
        operation.kind = job_.options.get ? rma::OperationKind::get : rma::OperationKind::put;
        operation.target = target;
        operation.displacement =
            job_.options.many ? static_cast<std::int64_t>(rank_) * static_cast<std::int64_t>(bytes)
                              : 0;
        operation.origin = {buffer, byte, bytes};
        operation.layout = byte;
        operation.count = bytes;
        call();
        demand(window_->issue(operation, nullptr));
    }
}

void Worker::close()
{
    call();
    closing_ = {};
    step_ = Step::closing;
    if (job_.options.fence) {
        demand(window_->fence({.no_succeed = true}, &closing_));
    } else {
        demand(is_origin() ? window_->complete(&closing_) : window_->wait(&closing_));
    }
}

void Worker::closed()
{
    in_epochs_ += job_.ranks.network.now() - began_;
    if (!is_origin() && !job_.options.get) {
        const std::byte last = *(job_.ranks.memory(rank_) + job_.options.bytes - 1);
        job_.correct = job_.correct && last == static_cast<std::byte>(epoch_ + 1);
    }
    step_ = Step::pause;
    ++epoch_;
}

void Worker::call() { job_.ranks.network.spend(job_.options.machine.call); }

} // namespace

ProgressOutcome run_progress(const ProgressOptions& options)
{
    Job job(options);
    while (job.ranks.network.step()) {
    }
    ProgressOutcome outcome{.messages = job.ranks.network.messages(), .correct = job.correct};
    double origins = 0;
    double targets = 0;
    for (int rank = 0; rank < job.ranks.count(); ++rank) {
        const Worker& worker = *job.workers[static_cast<std::size_t>(rank)];
        (rank < job.half ? origins : targets) += static_cast<double>(worker.in_epochs());
        outcome.wakes += worker.wakes();
        outcome.correct = outcome.correct && worker.through();
    }
    const double all = static_cast<double>(job.half) * options.epochs;
    outcome.epoch = targets / all;
    outcome.origin = origins / all;
    job.workers.clear(); // and their windows
    return outcome;
}

} // namespace sidelight::simulate
