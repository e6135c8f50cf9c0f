// SPDX-License-Identifier: BSD-3-Clause
#include "active.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "ranks.hpp"
#include "rma/engine/window_parts.hpp"

namespace sidelight::simulate {

namespace {

using fabric::sim::Time;

constexpr std::size_t window_bytes = 20'000; ///< that all messages are about
constexpr std::size_t half = 1U << 16U;      ///< of what an origin has for answers
constexpr Time look_again = 500;             ///< ns until who was refused the exclusion tries again

/// What one message has. Large ones, of every second message of a mixed epoch, have segments that
/// the internal buffer does not hold.
struct Shape {
    std::uint64_t segments;
    std::size_t bytes; ///< of one segment, each way
    std::size_t place; ///< of the answers, which all messages of its kind have in common
    Time segment;      ///< ns that a handler takes for it
};

class Crowd;

/// The body of all handlers: counts segments in the target's memory, and answers each.
class Handler final : public rma::ActiveCaller {
public:
    void call(const rma::ActiveInvocation& with) noexcept override
    {
        std::uint64_t run = 0;
        std::memcpy(&run, with.persistent, sizeof run);
        run += with.segments;
        std::memcpy(with.persistent, &run, sizeof run);
        for (std::uint64_t segment = 0; segment < with.segments; ++segment) {
            const std::byte *const asked = with.input + segment * with.input_count;
            with.output[segment * with.output_count] = *asked ^ std::byte{1};
        }
    }
};

/// One rank, with one thread: while it runs a handler it does nothing else.
class Sender final : public fabric::sim::Actor {
public:
    Sender(Crowd& crowd, int rank);
    void run() override;
    [[nodiscard]] bool closed() const noexcept { return closes_ && close_.complete; }
    [[nodiscard]] Time ended() const noexcept { return ended_; }
    [[nodiscard]] bool has_answers() const noexcept;

private:
    struct Running {
        rma::ActiveJob job;
        Time end = 0;
    };
    void begin_handler();
    void end_handler();
    void issue();
    void close();
    void schedule();
    [[nodiscard]] bool is_target() const noexcept;

    Crowd& crowd_;
    int rank_;
    Block buffer_; ///< attached, at the target
    rma::Process process_;
    rma::Window *window_ = nullptr;
    std::vector<std::byte> input_;
    std::vector<std::byte> output_;
    std::optional<Running> running_;
    bool opened_ = false;
    int issued_ = 0;
    rma::Request flush_; ///< behind the message that was issued last
    bool closes_ = false;
    rma::Request close_;
    Time ended_ = 0;
};

class Crowd {
public:
    explicit Crowd(const ActiveOptions& wanted)
        : options(wanted), ranks(wanted.machine, wanted.ranks, window_bytes, wanted.seed)
    {
        for (int rank = 0; rank < ranks.count(); ++rank) {
            senders.push_back(std::make_unique<Sender>(*this, rank));
            ranks.network.attach(rank, *senders.back());
            ranks.network.schedule(rank, ranks.random.below(1000));
        }
    }
    [[nodiscard]] int target() const noexcept { return ranks.count() - 1; }
    [[nodiscard]] Shape shape(int number) const noexcept
    {
        if (options.mixed && number % 2 == 0) {
            return {.segments = 10, .bytes = 4800, .place = half, .segment = options.segment * 10};
        }
        return {.segments = options.segments,
                .bytes = options.bytes,
                .place = 0,
                .segment = options.segment};
    }
    [[nodiscard]] std::uint64_t expected() const noexcept
    {
        std::uint64_t each = 0;
        for (int number = 0; number < options.messages; ++number) {
            each += shape(number).segments;
        }
        return each * static_cast<std::uint64_t>(ranks.count() - 1);
    }

    ActiveOptions options;
    Ranks ranks;
    ActiveOutcome outcome;
    std::vector<std::unique_ptr<Sender>> senders;
};

Sender::Sender(Crowd& crowd, int rank)
    : crowd_(crowd),
      rank_(rank),
      buffer_(std::max<std::size_t>(crowd.options.attached, 1)),
      process_(crowd.ranks.network.endpoint(rank)),
      input_(half),
      output_(2 * half)
{
    const ActiveOptions& options = crowd.options;
    process_.set_messages(crowd.ranks.several_nodes());
    process_.set_active({.internal_bytes = options.internal, .unit = options.unit});
    window_ = &process_.create_window(crowd.ranks.shape(rank, 1));
    rma::ActiveMessages& active = window_->parts().active;
    active.handlers.push_back(this);
    if (is_target() && options.attached != 0) {
        demand(active.target.attach(buffer_.at(0), options.attached));
    }
    for (std::size_t place = 0; place < input_.size(); ++place) {
        input_[place] = static_cast<std::byte>(place % 251);
    }
}

bool Sender::is_target() const noexcept { return rank_ == crowd_.target(); }

void Sender::run()
{
    fabric::sim::Network& network = crowd_.ranks.network;
    if (running_) {
        if (running_->end > network.now()) {
            return schedule();
        }
        end_handler();
    }
    while (process_.progress()) {
    }
    process_.push();
    begin_handler();
    if (!running_ && !is_target() && (issued_ == 0 || flush_.complete)) {
        if (issued_ < crowd_.options.messages) {
            issue();
        } else if (!closes_) {
            close();
        }
        if (closed() && ended_ == 0) {
            ended_ = network.now();
        }
        process_.push();
    }
    schedule();
}

/// When it runs again, if nothing comes before.
void Sender::schedule()
{
    fabric::sim::Network& network = crowd_.ranks.network;
    if (running_) {
        network.schedule(rank_, running_->end);
    } else if (!is_target() && !closes_ && (issued_ == 0 || flush_.complete)) {
        network.schedule(rank_, network.now());
    } else if (process_.has_active()) {
        network.schedule(rank_, network.now() + look_again); // a holder rings no bell
    }
}

void Sender::begin_handler()
{
    rma::ActiveJob job;
    if (running_ || !process_.take_active(job)) {
        return;
    }
    // Of a message that is run here the whole is one call for each unit, as its handler sees it.
    const ActiveOptions& options = crowd_.options;
    const bool here = job.here != nullptr;
    const std::uint64_t segments = here ? job.here->call.segments : job.invocation.segments;
    const std::size_t bytes = here ? job.here->call.input.count : job.invocation.input_count;
    const std::uint64_t calls = here ? (segments + options.unit - 1) / options.unit : 1;
    const bool large = bytes != options.bytes;
    const Time segment = large ? options.segment * 10 : options.segment;
    const Time time = calls * options.call + segments * segment;
    crowd_.outcome.calls += calls;
    crowd_.outcome.handler += time;
    crowd_.outcome.segments += segments;
    const std::byte *const input = job.invocation.input;
    if (!here && input >= buffer_.at(0) && input < buffer_.at(options.attached)) {
        crowd_.outcome.reserved += segments;
    }
    running_ = Running{job, crowd_.ranks.network.now() + time};
}

void Sender::end_handler()
{
    Handler handler;
    rma::Process::run_active(running_->job, handler);
    rma::Process::finish_active(running_->job);
    running_.reset();
    process_.push();
}

void Sender::issue()
{
    const ActiveOptions& options = crowd_.options;
    if (!opened_) {
        opened_ = true;
        const rma::Assertion assertion{.concurrent = options.concurrent};
        demand(window_->lock(rma::LockType::shared, crowd_.target(), assertion, nullptr));
    }
    const Shape shape = crowd_.shape(issued_);
    const datatype::Layout *const byte = &datatype::basic_layout(datatype::Basic::byte);
    rma::ActiveCall call;
    call.segments = shape.segments;
    call.input = {.layout = byte, .count = shape.bytes, .type = 0};
    call.output = call.input;
    if (options.unordered) {
        call.order = {.same_op = false, .diff_op = false, .same_message = false};
    }
    rma::Operation operation;
    operation.kind = rma::OperationKind::active_message;
    operation.target = crowd_.target();
    operation.origin = {input_.data(), byte, shape.bytes};
    operation.result = {output_.data() + shape.place, byte, shape.bytes};
    operation.layout = byte;
    operation.count = window_bytes;
    operation.active = &call;
    demand(window_->issue(operation, nullptr));
    process_.push();
    crowd_.ranks.network.spend(options.machine.call + options.between);
    ++issued_;
    flush_ = {};
    flush_.complete = !options.one_at_a_time;
    if (options.one_at_a_time) {
        demand(window_->flush(crowd_.target(), rma::FlushScope::remote, &flush_));
        crowd_.ranks.network.spend(options.machine.call);
    }
}

void Sender::close()
{
    closes_ = true;
    close_ = {};
    demand(window_->unlock(crowd_.target(), &close_));
    crowd_.ranks.network.spend(crowd_.options.machine.call);
}

/// Whether the answers to the last message are there.
bool Sender::has_answers() const noexcept
{
    const Shape shape = crowd_.shape(crowd_.options.messages - 1);
    for (std::uint64_t segment = 0; segment < shape.segments; ++segment) {
        const std::size_t place = segment * shape.bytes;
        if (output_[shape.place + place] != (input_[place] ^ std::byte{1})) {
            return false;
        }
    }
    return true;
}

} // namespace

ActiveOutcome run_active(const ActiveOptions& options)
{
    Crowd crowd(options);
    while (crowd.ranks.network.step()) {
    }
    ActiveOutcome outcome = crowd.outcome;
    outcome.messages = crowd.ranks.network.messages();
    std::uint64_t run = 0;
    std::memcpy(&run, crowd.ranks.memory(crowd.target()), sizeof run);
    outcome.correct = run == crowd.expected();
    for (int rank = 0; rank < crowd.target(); ++rank) {
        const Sender& sender = *crowd.senders[static_cast<std::size_t>(rank)];
        outcome.correct = outcome.correct && sender.closed() && sender.has_answers();
        outcome.ended = std::max(outcome.ended, sender.ended());
    }
    return outcome;
}

} // namespace sidelight::simulate
