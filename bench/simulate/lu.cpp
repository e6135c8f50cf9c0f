// SPDX-License-Identifier: BSD-3-Clause
#include "lu.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "rank_recorder.hpp"
#include "ranks.hpp"
#include "traced_calls.hpp"

namespace sidelight::simulate {

namespace {

using fabric::sim::Time;
using trace::CallKind;

class Job;

/// One rank. The order of its work is that of examples/lu: a row that has come is applied to the
/// rank's next row first, if the next row of all is there, so that it leaves before the rest is
/// computed.
class Worker final : public fabric::sim::Actor {
public:
    Worker(Job& job, int rank);
    void run() override;
    [[nodiscard]] bool through() const noexcept { return step_ == Step::end; }
    [[nodiscard]] Time ended() const noexcept { return ended_; }
    /// In calls of MPI: whatever was not spent on numbers.
    [[nodiscard]] Time in_mpi() const noexcept { return ended_ - computed_; }

private:
    enum class Step {
        begin,
        receive,  ///< row_ from another rank, if it is not ours
        received, ///< it is there
        finish,   ///< the rank's own next row is ready to be sent
        send,     ///< what had to be waited for before it is complete
        apply,    ///< the row to all other rows
        finalize, ///< wait for what is left
        close,
        closed,
        end
    };

    [[nodiscard]] bool owns(int row) const noexcept;
    [[nodiscard]] int readers(int row) const noexcept;
    [[nodiscard]] bool reads(int row) const noexcept;
    [[nodiscard]] int own_rows_from(int row) const noexcept;

    void advance();
    void receive();
    void received();
    void finish();
    void apply();
    void finalize();
    void close();

    void wait_for(rma::Request& request, Step then);
    void waited();
    void compute(int rows);
    void call(Time more = 0);
    [[nodiscard]] std::size_t awaited() const noexcept;
    void begin();
    void expose_ahead();
    void post(int row, rma::Request *closed);
    void send(int row);
    void put(int row);
    void complete(rma::Request *closed);
    void leave_unless_blocking(const rma::Request& closed);
    void close_access(Step then);
    [[nodiscard]] rma::Request& access_of(int row) noexcept;
    [[nodiscard]] std::byte *buffer(int row) const noexcept;

    Job& job_;
    int rank_;
    rma::Process process_;
    rma::Window *window_ = nullptr;
    TracedCalls calls_;
    Step step_ = Step::begin;
    int slots_;
    int row_ = 0;
    int exposed_ = 0;       ///< nonblocking: the first row that is not exposed yet
    int unsent_ = -1;       ///< lazy: the row whose epoch begins when it is closed
    bool open_ = false;     ///< an access epoch
    bool closing_ = false;  ///< it, in the call that blocks
    bool computes_ = false; ///< in this step time has been spent
    rma::Request *waits_ = nullptr;
    rma::Request blocking_;
    std::vector<rma::Request> arrivals_; ///< of rows: their exposures
    std::vector<rma::Request> accesses_; ///< of the rank's own rows
    std::vector<int> targets_;
    Time computed_ = 0;
    Time ended_ = 0;
};

Machine with_stamps_alone(Machine machine)
{
    machine.costs.carried = sizeof(std::uint64_t);
    return machine;
}

class Job {
public:
    explicit Job(const LuOptions& wanted)
        : options(wanted),
          row_bytes(static_cast<std::size_t>(wanted.rows) * sizeof(double)),
          ranks(with_stamps_alone(wanted.machine), wanted.ranks,
                static_cast<std::size_t>(wanted.slots) * row_bytes, wanted.seed),
          buffers(static_cast<std::size_t>(wanted.ranks) * static_cast<std::size_t>(wanted.slots) *
                  row_bytes),
          recording(wanted.trace, ranks)
    {
        for (int rank = 0; rank < ranks.count(); ++rank) {
            workers.push_back(std::make_unique<Worker>(*this, rank));
            ranks.network.attach(rank, *workers.back());
            ranks.network.schedule(rank, 0);
        }
    }

    LuOptions options;
    std::size_t row_bytes;
    Ranks ranks;
    Block buffers; ///< of each rank, its last rows
    Recording recording;
    std::vector<std::unique_ptr<Worker>> workers;
    bool correct = true;
};

Worker::Worker(Job& job, int rank)
    : job_(job),
      rank_(rank),
      process_(job.ranks.network.endpoint(rank)),
      slots_(job.options.slots),
      arrivals_(static_cast<std::size_t>(slots_)),
      accesses_(arrivals_.size())
{
    for (rma::Request& request : accesses_) {
        request.complete = true;
    }
    process_.set_messages(job.ranks.several_nodes());
    process_.set_recorder(job.recording.of(rank));
    rma::WindowShape shape = job.ranks.shape(rank, sizeof(double));
    const bool reorders = job.options.way == LuWay::nonblocking;
    shape.reorder = {reorders, reorders, reorders, reorders};
    window_ = &process_.create_window(shape);
    calls_.begin(*window_);
}

bool Worker::owns(int row) const noexcept
{
    return row < job_.options.rows && row % job_.options.ranks == rank_;
}

int Worker::readers(int row) const noexcept
{
    return std::min(job_.options.rows - 1 - row, job_.options.ranks - 1);
}

bool Worker::reads(int row) const noexcept
{
    const int ranks = job_.options.ranks;
    const int distance = (rank_ - row % ranks + ranks) % ranks;
    return distance != 0 && distance <= readers(row);
}

int Worker::own_rows_from(int row) const noexcept
{
    const int ranks = job_.options.ranks;
    const int first = row + (rank_ - row % ranks + ranks) % ranks;
    return first < job_.options.rows ? (job_.options.rows - 1 - first) / ranks + 1 : 0;
}

void Worker::run()
{
    fabric::sim::Network& network = job_.ranks.network;
    network.spend(awaited() * job_.options.machine.peer);
    const bool moved = process_.progress();
    if (waits_ != nullptr && !waits_->complete) {
        if (moved) {
            network.schedule(rank_, network.now());
        }
        return;
    }
    waited();
    computes_ = false;
    while (step_ != Step::end && waits_ == nullptr && !computes_) {
        advance();
    }
    process_.push();
    if (moved || computes_) { // what has come meanwhile is seen before the next call
        network.schedule(rank_, network.now());
    }
}

/// Peers that a sweep looks at: those of accesses that are not complete.
std::size_t Worker::awaited() const noexcept
{
    const auto pending = std::count_if(accesses_.begin(), accesses_.end(),
                                       [](const rma::Request& access) { return !access.complete; });
    const bool one = open_ || (closing_ && !blocking_.complete);
    return (static_cast<std::size_t>(pending) + (one ? 1 : 0)) * targets_.size();
}

void Worker::advance()
{
    switch (step_) {
    case Step::begin:
        return begin();
    case Step::receive:
        return receive();
    case Step::received:
        return received();
    case Step::finish:
        return finish();
    case Step::send:
        step_ = Step::apply;
        return send(row_ + 1);
    case Step::apply:
        return apply();
    case Step::finalize:
        return finalize();
    case Step::close:
        return close();
    case Step::closed:
        ended_ = job_.ranks.network.now();
        step_ = Step::end;
        return;
    case Step::end:
        return;
    }
}

/// Row 0 is as it is.
void Worker::begin()
{
    if (job_.options.way == LuWay::nonblocking) {
        expose_ahead();
    }
    step_ = Step::receive;
    if (owns(0)) {
        send(0);
    }
}

void Worker::receive()
{
    if (row_ == job_.options.rows) {
        step_ = Step::finalize;
    } else if (!reads(row_)) {
        step_ = Step::received;
    } else if (job_.options.way == LuWay::nonblocking) {
        expose_ahead();
        wait_for(arrivals_[static_cast<std::size_t>(row_ % slots_)], Step::received);
    } else if (open_ || unsent_ >= 0) {
        close_access(Step::receive);
    } else {
        closing_ = false;
        post(row_, &blocking_);
        wait_for(blocking_, Step::received);
    }
}

void Worker::received()
{
    if (reads(row_)) {
        std::uint64_t stamp = 0;
        const std::size_t slot = static_cast<std::size_t>(row_ % slots_) * job_.row_bytes;
        std::memcpy(&stamp, job_.ranks.memory(rank_) + slot, sizeof stamp);
        job_.correct = job_.correct && stamp == static_cast<std::uint64_t>(row_) + 1;
    }
    step_ = Step::finish;
}

/// If the row after row_ is the rank's, it is updated and sent before all else.
void Worker::finish()
{
    const int next = row_ + 1;
    step_ = Step::apply;
    if (!owns(next)) {
        return;
    }
    compute(1);
    if (readers(next) > 0) {
        step_ = Step::send;
        if (job_.options.way == LuWay::nonblocking) {
            wait_for(access_of(next), Step::send);
        } else if (open_ || unsent_ >= 0) {
            close_access(Step::send);
        }
    }
}

void Worker::apply()
{
    const int rest = own_rows_from(row_ + 2);
    if (rest > 0) {
        compute(rest);
    }
    ++row_;
    step_ = Step::receive;
}

void Worker::finalize()
{
    if (open_ || unsent_ >= 0) {
        return close_access(Step::finalize);
    }
    for (rma::Request& request : accesses_) {
        if (!request.complete) {
            return wait_for(request, Step::finalize);
        }
    }
    step_ = Step::close;
}

void Worker::close()
{
    blocking_ = {};
    calls_.enter(CallKind::free);
    call();
    demand(window_->close(&blocking_));
    wait_for(blocking_, Step::closed);
}

/// In the call that blocks, or, for what a nonblocking one has begun, by MPI_Wait.
void Worker::wait_for(rma::Request& request, Step then)
{
    step_ = then;
    waits_ = &request;
    if (&request != &blocking_) {
        calls_.await(request);
    }
    if (request.complete) {
        waited();
    }
}

void Worker::waited()
{
    waits_ = nullptr;
    calls_.leave();
}

/// What row_ changes in so many rows: a quotient, and a product and a difference for each column.
void Worker::compute(int rows)
{
    process_.push(); // the calls before are over
    const auto columns = static_cast<std::uint64_t>(job_.options.rows - 1 - row_);
    const std::uint64_t operations = static_cast<std::uint64_t>(rows) * (2 * columns + 1);
    const Time takes = 1000 * operations / job_.options.machine.mflops;
    job_.ranks.network.spend(takes);
    computed_ += takes;
    computes_ = true;
}

void Worker::call(Time more) { job_.ranks.network.spend(job_.options.machine.call + more); }

/// Exposures of all rows that a slot is free for, closed at once.
void Worker::expose_ahead()
{
    for (; exposed_ < job_.options.rows && exposed_ < row_ + slots_; ++exposed_) {
        if (reads(exposed_)) {
            post(exposed_, &arrivals_[static_cast<std::size_t>(exposed_ % slots_)]);
        }
    }
}

void Worker::post(int row, rma::Request *closed)
{
    const int origin = row % job_.options.ranks;
    calls_.enter(CallKind::post);
    call();
    demand(window_->post({&origin, 1}, nullptr));
    calls_.leave();
    *closed = {};
    calls_.enter(CallKind::wait, closed != &blocking_);
    call();
    demand(window_->wait(closed));
    leave_unless_blocking(*closed);
}

void Worker::send(int row)
{
    const std::uint64_t stamp = static_cast<std::uint64_t>(row) + 1;
    std::memcpy(buffer(row), &stamp, sizeof stamp);
    switch (job_.options.way) {
    case LuWay::lazy:
        unsent_ = row;
        return;
    case LuWay::standard:
        put(row);
        open_ = true;
        return;
    case LuWay::nonblocking:
        put(row);
        return complete(&access_of(row));
    }
}

/// Opens an epoch and puts the row to all that need it. Neighbours, whose memory is mapped, get the
/// first bytes and are charged for all.
void Worker::put(int row)
{
    const datatype::Layout *cell = &datatype::basic_layout(datatype::Basic::f64);
    const auto cells = static_cast<std::uint64_t>(job_.options.rows - row);
    targets_.resize(static_cast<std::size_t>(readers(row)));
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        targets_[i] = (rank_ + 1 + static_cast<int>(i)) % job_.options.ranks;
    }
    calls_.enter(CallKind::start);
    call();
    demand(window_->start(targets_, {}, nullptr));
    calls_.leave();
    for (const int target : targets_) {
        const bool mapped = job_.ranks.neighbours(rank_, target);
        rma::Operation operation;
        operation.kind = rma::OperationKind::put;
        operation.target = target;
        operation.displacement = static_cast<std::int64_t>(row % slots_) * job_.options.rows;
        operation.origin = {buffer(row), cell, mapped ? 1 : cells};
        operation.layout = cell;
        operation.count = mapped ? 1 : cells;
        call(mapped ? cells * sizeof(double) * job_.options.machine.copy_ps / 1000 : 0);
        demand(window_->issue(operation, nullptr));
    }
}

void Worker::complete(rma::Request *closed)
{
    *closed = {};
    calls_.enter(CallKind::complete, closed != &blocking_);
    call();
    demand(window_->complete(closed));
    leave_unless_blocking(*closed);
}

/// A nonblocking call is over; one that blocks is when it has `waited`.
void Worker::leave_unless_blocking(const rma::Request& closed)
{
    if (&closed != &blocking_) {
        calls_.leave_with(closed);
    }
}

void Worker::close_access(Step then)
{
    if (unsent_ >= 0) {
        put(unsent_);
        unsent_ = -1;
    }
    open_ = false;
    closing_ = true;
    complete(&blocking_);
    wait_for(blocking_, then);
}

rma::Request& Worker::access_of(int row) noexcept
{
    return accesses_[static_cast<std::size_t>(row / job_.options.ranks % slots_)];
}

std::byte *Worker::buffer(int row) const noexcept
{
    const int number = rank_ * slots_ + row / job_.options.ranks % slots_;
    return job_.buffers.at(static_cast<std::size_t>(number) * job_.row_bytes);
}

} // namespace

LuOutcome run_lu(const LuOptions& options)
{
    Job job(options);
    while (job.ranks.network.step()) {
    }
    LuOutcome outcome{.messages = job.ranks.network.messages(),
                      .events = job.ranks.network.events(),
                      .correct = job.correct};
    double in_mpi = 0;
    for (const auto& worker : job.workers) {
        outcome.correct = outcome.correct && worker->through();
        outcome.ended = std::max(outcome.ended, worker->ended());
        in_mpi += static_cast<double>(worker->in_mpi());
    }
    outcome.in_mpi = in_mpi / static_cast<double>(outcome.ended) / options.ranks;
    job.workers.clear(); // and their windows
    job.recording.finish();
    return outcome;
}

} // namespace sidelight::simulate
