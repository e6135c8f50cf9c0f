// SPDX-License-Identifier: BSD-3-Clause
#include "active_job.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "active_line.hpp"
#include "datatype/basic_layout.hpp"
#include "rma/active/message.hpp"
#include "rma/engine/window_parts.hpp"
#include "rma/operation/active_directly.hpp"

namespace sidelight::sim {

namespace {

using datatype::Layout;
using fabric::sim::Actor;
using fabric::sim::Network;
using fabric::sim::Random;

constexpr std::size_t cells = 32;
constexpr std::uint64_t unfilled = 0xdeaddeaddeaddeadU;

std::uint64_t word_of(std::size_t message, std::uint64_t segment, std::size_t word)
{
    return std::uint64_t{message} << 32 | segment << 8 | word;
}

std::uint64_t answer_to(std::uint64_t input, std::size_t word) { return input * 31 + word + 1; }

enum class Do : std::uint8_t {
    fence,
    open,
    issue,
    await, ///< the request of a message
    put,
    flush,
    flush_all,
    close,
    lock,    ///< exclusive
    granted, ///< waits for an operation of that epoch
    unlock
};

struct Act {
    Do what = Do::open;
    bool concurrent = false;
    bool last = false; ///< of fences
    std::size_t message = 0;
    int target = 0;
    std::uint64_t value = 0;
};

class Team;

/// A rank, with as many threads that run handlers as the program says.
class Member final : public Actor {
public:
    Member(Team& team, int rank);
    void run() override;
    [[nodiscard]] bool finished() const noexcept { return next_ == acts.size() && !waits_; }
    [[nodiscard]] std::string describe();
    [[nodiscard]] rma::Window& window() noexcept { return *window_; }
    /// Whether its program's thread is in a handler that it runs on the direct path.
    [[nodiscard]] bool in_direct() const noexcept { return direct_.end != 0; }

    std::vector<Act> acts;
    std::vector<std::uint64_t> put_values;

private:
    struct Running {
        rma::ActiveJob job;
        Time end = 0;
    };
    /// The program's own thread in a handler, on the direct path.
    struct Direct {
        std::size_t number = 0;
        rma::DirectStay stay{};
        Time end = 0; ///< 0: there is none
    };
    [[nodiscard]] bool may_go_on() const;
    [[nodiscard]] bool is_busy() const;
    [[nodiscard]] bool try_directly(std::size_t number, const rma::Operation& operation,
                                    const rma::ActiveCall& call);
    void end_direct();
    [[nodiscard]] Time handler_time();
    void sweep();
    void end_handlers();
    void begin_handlers();
    void act();
    void issue(std::size_t number);
    void put(const Act& act);
    void heard();

    Team& team_;
    int rank_;
    rma::Request request_;                         ///< of a call that waits
    std::map<std::size_t, rma::Request> requests_; ///< of messages, by number
    rma::Process process_;
    rma::Window* window_ = nullptr;
    std::vector<Running> running_;
    Direct direct_;
    Block buffer_;
    rma::Request* waited_for_ = nullptr;
    std::size_t next_ = 0;
    bool waits_ = false;
};

class Team {
public:
    Team(std::uint64_t seed, ActiveDeaths deaths);
    std::string run();

    void fail(const std::string& what)
    {
        if (failure.empty()) {
            failure = what;
        }
    }
    void begins(std::size_t number);
    void ends(std::size_t number) { issued[number].inside = false; }
    void check_run(std::size_t number);
    void check_done(int origin, int target);
    void check_request(std::size_t number, Status status);
    void check_locked(int holder, int target);
    void draw_program();
    void draw_fences(rma::ActiveOrder order);
    void draw_locked(int rank, rma::ActiveOrder order);
    void draw_issue(int rank, bool concurrent, rma::ActiveOrder order,
                    std::vector<std::size_t>& requested);
    void draw_request(ActiveIssued& message, std::vector<std::size_t>& requested);
    void draw_waits(std::vector<Act>& acts, std::vector<std::size_t>& requested);
    [[nodiscard]] ActiveIssued draw_message(int origin, bool ordered, rma::ActiveOrder order);
    void check_cells();
    void check_buffers();
    [[nodiscard]] bool is_refused(const ActiveIssued& message) const;
    [[nodiscard]] std::size_t segment_bytes(const ActiveIssued& message) const;
    [[nodiscard]] bool may_fail(const ActiveIssued& message) const
    {
        return dies >= 0 && (message.target == dies || message.origin == dies);
    }

    struct Members final : rma::Members {
        Members(Team& all, int rank) : team(all), own(rank) {}
        Status find(int rank, rma::Member& found) noexcept override;
        bool has_ended(int rank) noexcept override { return team.network.dead(rank); }
        Team& team;
        int own;
    };

    int ranks;
    Network network;
    Random& random = network.random();
    Random requests; ///< for all about requests
    Random leaving;
    int node_size = 1;
    bool carried = false;
    bool ordered = false; ///< the window
    bool direct = false;  ///< programs try the direct path first
    int threads = 1;
    rma::ActiveLimits limits;
    std::vector<std::size_t> attached;
    std::vector<int> handlers; ///< that each member has registered
    int dies = -1;
    datatype::LayoutPointer spread;
    const Layout* word = &datatype::basic_layout(datatype::Basic::u64);
    std::vector<std::int32_t> everybody;
    std::vector<std::int32_t> leaders;
    std::vector<rma::BarrierWord> barriers;
    std::vector<Block> memory;
    std::vector<Block> controls;
    std::vector<std::unique_ptr<Members>> finders;
    std::vector<std::unique_ptr<Member>> members;
    std::vector<ActiveIssued> issued;
    std::vector<std::vector<std::uint64_t>> model; ///< ordered: a cell for each origin and target
    std::string failure;
    ActiveTally tally;
    ReservationLine line{attached};
};

/// The body of all handlers.
class Handler final : public rma::ActiveCaller {
public:
    Handler(Team& team, std::size_t number) : team_(team), number_(number) {}
    void call(const rma::ActiveInvocation& with) noexcept override
    {
        ActiveIssued& message = team_.issued[number_];
        ++team_.tally.pieces;
        if (with.offset != message.run || with.segments > message.segments - message.run) {
            team_.fail("a segment is lost, or run twice");
            return;
        }
        auto* own = reinterpret_cast<std::uint64_t*>(
            team_.memory[static_cast<std::size_t>(message.target)].get());
        if (reinterpret_cast<std::uint64_t*>(with.persistent) != own + message.cell ||
            with.persistent_count != message.cells) {
            team_.fail("a handler has got other memory of the target");
        }
        for (std::uint64_t segment = 0; segment < with.segments; ++segment) {
            run_segment(message, with, segment);
        }
        message.run += with.segments;
        if (message.ordered && message.run == message.segments) {
            own[message.cell] = own[message.cell] * 3 + number_;
        }
    }

private:
    void run_segment(const ActiveIssued& message, const rma::ActiveInvocation& with,
                     std::uint64_t segment)
    {
        const std::size_t in_stride = message.spread_input ? 2 : 1;
        const std::size_t out_stride = message.spread_output ? 2 : 1;
        const auto* input = reinterpret_cast<const std::uint64_t*>(with.input);
        auto* output = reinterpret_cast<std::uint64_t*>(with.output);
        for (std::size_t word = 0; word < message.input_words; ++word) {
            if (input[(segment * message.input_words + word) * in_stride] !=
                word_of(number_, with.offset + segment, word)) {
                team_.fail("a handler has got other input");
            }
        }
        for (std::size_t word = 0; word < message.output_words; ++word) {
            std::uint64_t& answer = output[(segment * message.output_words + word) * out_stride];
            if (answer != 0) {
                team_.fail("a handler has got output that is not zero");
            }
            answer = answer_to(word_of(number_, with.offset + segment, 0), word);
        }
    }

    Team& team_;
    std::size_t number_;
};

Member::Member(Team& team, int rank)
    : team_(team), rank_(rank), process_(team.network.endpoint(rank))
{
    process_.set_messages(team.node_size < team.ranks || team.carried);
    process_.set_active(team.limits);
    const int first = rank / team.node_size * team.node_size;
    const auto node = static_cast<std::uint32_t>(rank / team.node_size);
    rma::WindowShape shape;
    shape.id = 1;
    shape.rank = rank;
    shape.size = team.ranks;
    shape.members = team.finders[static_cast<std::size_t>(rank)].get();
    shape.neighbours =
        std::span(team.everybody)
            .subspan(static_cast<std::size_t>(first),
                     static_cast<std::size_t>(std::min(team.node_size, team.ranks - first)));
    shape.barrier = {.word = &team.barriers[node], .node = node, .leaders = team.leaders};
    window_ = &process_.create_window(shape);
    for (int handler = 0; handler < team.handlers[static_cast<std::size_t>(rank)]; ++handler) {
        window_->parts().active.handlers.push_back(this);
    }
    const std::size_t bytes = team.attached[static_cast<std::size_t>(rank)];
    if (bytes != 0) {
        buffer_ = allocate_block(bytes);
        if (window_->parts().active.target.attach(buffer_.get(), bytes) != Status::ok) {
            team.fail("a buffer cannot be attached");
        }
    }
}

void Member::run()
{
    Network& network = team_.network;
    end_handlers();
    end_direct();
    if (!is_busy()) {
        sweep();
        begin_handlers();
        while (may_go_on()) {
            if (waits_) {
                heard();
            } else {
                act();
                process_.push();
                network.spend(1 + team_.random.below(300));
            }
        }
        sweep();
        begin_handlers();
    }
    Time next = ~Time{0}; // one run for all that is to come
    for (const Running& running : running_) {
        next = std::min(next, running.end);
    }
    if (in_direct()) {
        next = std::min(next, direct_.end);
    }
    if (may_go_on()) {
        next = std::min(next, network.now() + 1);
    }
    if (process_.has_active()) {
        next = std::min(next, network.now() + 2'000); // who holds the exclusion rings no bell
    }
    if (next != ~Time{0}) {
        network.schedule(rank_, next);
    }
}

/// For people: what it waits for.
std::string Member::describe()
{
    std::string text = "rank " + std::to_string(rank_) + " of " + std::to_string(team_.ranks) +
                       ", " + std::to_string(team_.node_size) + " to a node, at step " +
                       std::to_string(next_) + (waits_ ? ", which waits" : "") + ", with " +
                       std::to_string(running_.size()) + " handlers" +
                       (in_direct() ? " and one on the direct path" : "") +
                       (process_.has_active() ? " and messages that wait" : "");
    window_->describe(
        [](void* context, const char* line) {
            *static_cast<std::string*>(context) += std::string("; ") + line;
        },
        &text);
    for (int other = 0; other < team_.ranks; ++other) {
        const rma::Channel* channel = window_->parts().channels.find(other);
        if (channel == nullptr || channel->active == nullptr) {
            continue;
        }
        const rma::ActiveChannel& active = *channel->active;
        text += "; to rank " + std::to_string(other) + ": " + std::to_string(active.unanswered) +
                " pieces unanswered, from there " + std::to_string(active.here) + " in " +
                std::to_string(active.messages) + " messages";
        if (const rma::ActiveMessage* first = active.leaving.front(); first != nullptr) {
            text += ", " + std::to_string(first->sent) + " of " +
                    std::to_string(first->call.segments) + " segments have left" +
                    (first->reserved ? ", reserved"
                     : first->asked  ? ", asked"
                                     : "");
        }
    }
    return text;
}

/// Whether the program's thread has something to do.
bool Member::may_go_on() const
{
    return (!waits_ || waited_for_->complete) && !is_busy() && !in_direct() &&
           (waits_ || next_ < acts.size());
}

/// Whether its only thread is in a handler.
bool Member::is_busy() const { return team_.threads == 1 && (!running_.empty() || in_direct()); }

void Member::sweep()
{
    do {
        team_.network.spend(50);
    } while (process_.progress());
    process_.push();
}

std::size_t number_of(const rma::ActiveJob& job)
{
    const auto* first = reinterpret_cast<const std::uint64_t*>(
        job.here != nullptr ? static_cast<const std::byte*>(job.here->op->operation.origin.address)
                            : job.invocation.input);
    return static_cast<std::size_t>(*first >> 32);
}

void Member::begin_handlers()
{
    rma::ActiveJob job;
    while (running_.size() < static_cast<std::size_t>(team_.threads) && process_.take_active(job)) {
        team_.begins(number_of(job));
        running_.push_back({job, team_.network.now() + handler_time()});
    }
}

Time Member::handler_time()
{
    return 1 + team_.random.below(team_.random.chance(5) ? 100'000 : 3'000);
}

/// As `run_directly` of the API. What it does sends nothing: nobody pushes behind it.
bool Member::try_directly(std::size_t number, const rma::Operation& operation,
                          const rma::ActiveCall& call)
{
    if (!team_.direct || !rma::is_for_direct_path(operation, call, team_.limits)) {
        return false;
    }
    direct_.stay = rma::enter_directly(window_->mapped(), window_->parts().active.exclusion,
                                       {.target = operation.target,
                                        .displacement = operation.displacement,
                                        .bytes = operation.layout->size * operation.count,
                                        .room = rma::room_of(call, 1).bytes},
                                       [this] { return process_.has_active(); });
    if (process_.must_push()) {
        team_.fail("a message on the direct path has sent what nobody pushes");
    }
    if (!direct_.stay.hold) {
        return false;
    }
    if (direct_.stay.hold.slot != nullptr && !team_.issued[number].concurrent) {
        team_.fail("a message that excludes others has entered as one that shares");
    }
    direct_.number = number;
    direct_.end = team_.network.now() + handler_time();
    ++team_.tally.direct;
    team_.begins(number);
    return true;
}

void Member::end_direct()
{
    if (!in_direct() || direct_.end > team_.network.now()) {
        return;
    }
    ActiveIssued& message = team_.issued[direct_.number];
    std::vector<std::uint64_t> input = message.input;
    std::fill_n(message.output.begin(), message.segments * message.output_words, 0);
    Handler handler(team_, direct_.number);
    handler.call({.input = reinterpret_cast<std::byte*>(input.data()),
                  .input_count = message.input_words,
                  .persistent = direct_.stay.memory,
                  .persistent_count = message.cells,
                  .output = reinterpret_cast<std::byte*>(message.output.data()),
                  .output_count = message.output_words,
                  .segments = message.segments});
    rma::leave_directly(window_->mapped(), direct_.stay);
    team_.ends(direct_.number);
    direct_ = {};
}

void Member::end_handlers()
{
    for (std::size_t index = 0; index < running_.size();) {
        if (running_[index].end > team_.network.now()) {
            ++index;
            continue;
        }
        const rma::ActiveJob job = running_[index].job;
        const std::size_t number = number_of(job);
        Handler handler(team_, number);
        rma::Process::run_active(job, handler);
        if (team_.leaving.chance(20)) { // its thread has not got the engine
            process_.leave_active(job);
            ++team_.tally.left;
        } else {
            rma::Process::finish_active(job);
        }
        team_.ends(number);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
        process_.push();
    }
}

void Member::act()
{
    const Act& act = acts[next_];
    request_ = {};
    waited_for_ = &request_;
    Status status = Status::ok;
    switch (act.what) {
    case Do::fence:
        status = window_->fence({.no_succeed = act.last, .concurrent = act.concurrent}, &request_);
        waits_ = true;
        break;
    case Do::open:
        status = window_->lock_all({.concurrent = act.concurrent}, nullptr);
        break;
    case Do::issue:
        issue(act.message);
        break;
    case Do::await:
        waited_for_ = &requests_[act.message];
        waits_ = true;
        break;
    case Do::put:
        put(act);
        break;
    case Do::flush:
        status = window_->flush(act.target, rma::FlushScope::remote, &request_);
        waits_ = true;
        break;
    case Do::flush_all:
        status = window_->flush(rma::all_targets, rma::FlushScope::remote, &request_);
        waits_ = true;
        break;
    case Do::close:
        status = window_->unlock_all(&request_);
        waits_ = true;
        break;
    case Do::lock:
        status = window_->lock(rma::LockType::exclusive, act.target, {.concurrent = act.concurrent},
                               nullptr);
        break;
    case Do::granted:
        status = window_->flush(act.target, rma::FlushScope::remote, &request_);
        waits_ = true;
        break;
    case Do::unlock:
        status = window_->unlock(act.target, &request_);
        waits_ = true;
        break;
    }
    if (status != Status::ok && team_.dies < 0) {
        team_.fail("a call was refused");
    }
    waits_ = waits_ && status == Status::ok;
    next_ += waits_ ? 0 : 1;
}

/// What the call that has waited says to be complete.
void Member::heard()
{
    const Act& act = acts[next_];
    waits_ = false;
    ++next_;
    if (act.what == Do::await) {
        team_.check_request(act.message, waited_for_->status);
    } else if (request_.status == Status::ok) {
        const bool one =
            act.what != Do::flush_all && act.what != Do::close && act.what != Do::fence;
        team_.check_done(rank_, one ? act.target : -1);
        if (act.what == Do::granted) {
            team_.check_locked(rank_, act.target);
        }
    }
}

void Member::issue(std::size_t number)
{
    ActiveIssued& message = team_.issued[number];
    const std::size_t stride = message.spread_origin ? 2 : 1;
    const Layout* here = message.spread_origin ? team_.spread.get() : team_.word;
    for (std::uint64_t segment = 0; segment < message.segments; ++segment) {
        for (std::size_t word = 0; word < message.input_words; ++word) {
            message.input[(segment * message.input_words + word) * stride] =
                word_of(number, segment, word);
        }
    }
    const auto side = [&](bool spread, std::size_t count) {
        return rma::ActiveSide{.layout = spread ? team_.spread.get() : team_.word, .count = count};
    };
    rma::ActiveCall call{.handler = message.handler,
                         .segments = message.segments,
                         .input = side(message.spread_input, message.input_words),
                         .order = message.order};
    rma::Operation operation;
    operation.kind = rma::OperationKind::active_message;
    operation.ordered = message.ordered;
    operation.target = message.target;
    operation.displacement = static_cast<std::int64_t>(message.cell);
    operation.layout = team_.word;
    operation.count = message.cells;
    operation.origin = {message.input.data(), here, message.input_words};
    if (message.output_words != 0) {
        call.output = side(message.spread_output, message.output_words);
        operation.result = {message.output.data(), here, message.output_words};
    }
    operation.active = &call;
    ++team_.tally.messages;
    if (!message.requested && try_directly(number, operation, call)) {
        return;
    }
    rma::Request* request = message.requested ? &requests_[number] : nullptr;
    operation.request_scope = message.request_scope;
    if (const Status status = window_->issue(operation, request); status != Status::ok) {
        if (request != nullptr) {
            *request = {.complete = true, .status = status};
        }
        message.failed = true;
        if (!team_.may_fail(message)) {
            team_.fail("a message was refused");
        }
    }
}

void Member::put(const Act& act)
{
    rma::Operation operation;
    operation.kind = rma::OperationKind::put;
    operation.ordered = team_.ordered;
    operation.target = act.target;
    operation.displacement = rank_;
    operation.origin = {const_cast<std::uint64_t*>(&act.value), team_.word, 1};
    operation.layout = team_.word;
    operation.count = 1;
    if (window_->issue(operation, nullptr) != Status::ok && team_.dies < 0) {
        team_.fail("a put was refused");
    }
}

Team::Team(std::uint64_t seed, ActiveDeaths deaths)
    : ranks(static_cast<int>(2 + seed % 4)),
      network(ranks, {.jitter = 2'000}, seed),
      requests(seed + 1'000'000'007),
      leaving(seed + 2'000'000'011)
{
    datatype::LayoutBuilder builder;
    builder.append_block(0, 8, datatype::Basic::u64);
    spread = builder.finish(0, 16);
    node_size = random.chance(50)
                    ? 1
                    : 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
    carried = random.chance(20);
    ordered = deaths == ActiveDeaths::none && random.chance(25);
    threads = random.chance(50) ? 1 : 3;
    constexpr std::size_t rooms[] = {0, 24, 64, 200, 8192};
    constexpr std::uint64_t units[] = {1, 2, 5, 40};
    limits = {.internal_bytes = rooms[random.below(5)], .unit = units[random.below(4)]};
    direct = random.chance(60);
    const auto size = static_cast<std::size_t>(ranks);
    everybody.resize(size);
    std::iota(everybody.begin(), everybody.end(), 0);
    const int nodes = (ranks + node_size - 1) / node_size;
    barriers = std::vector<rma::BarrierWord>(static_cast<std::size_t>(nodes));
    for (int first = 0; first < ranks; first += node_size) {
        leaders.push_back(first);
    }
    for (int rank = 0; rank < ranks; ++rank) {
        memory.push_back(allocate_block(cells * 8));
        controls.push_back(allocate_block(rma::Control::bytes(size)));
        rma::Control::create(controls.back().get());
        finders.push_back(std::make_unique<Members>(*this, rank));
        handlers.push_back(random.chance(20) ? 2 : 3);
        attached.push_back(random.chance(30) ? 0
                                             : 8 * (1 + random.below(random.chance(50) ? 40 : 9)));
    }
    if (deaths == ActiveDeaths::one) {
        dies = static_cast<int>(random.below(size));
    }
    for (int rank = 0; rank < ranks; ++rank) {
        members.push_back(std::make_unique<Member>(*this, rank));
        network.attach(rank, *members.back());
        network.schedule(rank, random.below(5'000));
    }
    draw_program();
    if (dies < 0) {
        network.observe(&line);
    }
    if (dies >= 0) {
        network.kill(dies, 2'000 + random.below(60'000));
    }
}

Status Team::Members::find(int rank, rma::Member& found) noexcept
{
    const auto number = static_cast<std::size_t>(rank);
    const bool near = rank / team.node_size == own / team.node_size;
    found.size = cells * 8;
    found.disp_unit = 8;
    found.peer = rank;
    if (near) {
        found.control = reinterpret_cast<rma::Control*>(team.controls[number].get());
        found.number = static_cast<std::uint32_t>(rank % team.node_size);
        found.mapped = !team.carried || rank == own;
        found.base = found.mapped ? team.memory[number].get() : nullptr;
    }
    return Status::ok;
}

/// Where the target's memory is mapped at the origin, that one runs its own handler.
bool Team::is_refused(const ActiveIssued& message) const
{
    const auto target = static_cast<std::size_t>(message.target);
    const bool mapped = message.target == message.origin ||
                        (!carried && message.target / node_size == message.origin / node_size);
    return segment_bytes(message) > std::max(limits.internal_bytes, attached[target]) ||
           (!mapped && static_cast<int>(message.handler) >= handlers[target]);
}

std::size_t Team::segment_bytes(const ActiveIssued& message) const
{
    const auto side = [&](bool spread_out, std::size_t count) {
        return count == 0 ? 0 : spread_out ? 16 * count - 8 : 8 * count;
    };
    return side(message.spread_input, message.input_words) +
           side(message.spread_output, message.output_words);
}

ActiveIssued Team::draw_message(int origin, bool in_order, rma::ActiveOrder order)
{
    ActiveIssued message;
    message.origin = origin;
    message.target = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
    message.handler = static_cast<std::uint32_t>(
        random.below(static_cast<std::uint64_t>(handlers[static_cast<std::size_t>(origin)])));
    message.segments = random.chance(10) ? 0 : 1 + random.below(random.chance(20) ? 60 : 6);
    message.input_words = 1 + random.below(random.chance(10) ? 30 : 4);
    message.output_words = random.chance(40) ? 0 : 1 + random.below(3);
    message.spread_input = random.chance(20);
    message.spread_output = random.chance(20);
    message.spread_origin = random.chance(20);
    message.ordered = in_order;
    message.order = order;
    if (in_order) {
        message.cell = static_cast<std::size_t>(origin);
        message.cells = 1;
    } else {
        message.cell = random.below(cells - 4);
        message.cells = random.below(4);
    }
    const std::size_t stride = message.spread_origin ? 2 : 1;
    message.input.assign(message.segments * message.input_words * stride + 1, unfilled);
    message.output.assign(message.segments * message.output_words * stride + 1, unfilled);
    message.refused = is_refused(message);
    return message;
}

/// An epoch with the exclusive lock of one target, which is there before the first message.
void Team::draw_locked(int rank, rma::ActiveOrder order)
{
    std::vector<Act>& acts = members[static_cast<std::size_t>(rank)]->acts;
    const int target = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
    const bool concurrent = random.chance(40);
    std::vector<std::size_t> requested; // and not waited for
    acts.push_back({.what = Do::lock, .concurrent = concurrent, .target = target});
    acts.push_back({.what = Do::put, .target = target, .value = 1});
    acts.push_back({.what = Do::granted, .target = target});
    for (std::uint64_t left = random.below(4); left > 0; --left) {
        ActiveIssued message = draw_message(rank, false, order);
        message.target = target;
        message.refused = is_refused(message);
        message.concurrent = concurrent;
        message.locked = true;
        draw_request(message, requested);
        acts.push_back({.what = Do::issue, .message = issued.size()});
        issued.push_back(std::move(message));
    }
    if (requests.chance(50)) {
        draw_waits(acts, requested);
    }
    acts.push_back({.what = Do::unlock, .target = target});
    draw_waits(acts, requested);
}

/// The message that is issued next.
void Team::draw_request(ActiveIssued& message, std::vector<std::size_t>& requested)
{
    message.requested = requests.chance(30);
    if (message.requested) {
        message.request_scope =
            requests.chance(50) ? rma::FlushScope::remote : rma::FlushScope::local;
        requested.push_back(issued.size());
    }
}

void Team::draw_waits(std::vector<Act>& acts, std::vector<std::size_t>& requested)
{
    for (const std::size_t number : requested) {
        acts.push_back({.what = Do::await, .message = number});
    }
    requested.clear();
}

void Team::draw_issue(int rank, bool concurrent, rma::ActiveOrder order,
                      std::vector<std::size_t>& requested)
{
    ActiveIssued message = draw_message(rank, ordered, order);
    message.concurrent = concurrent;
    draw_request(message, requested);
    members[static_cast<std::size_t>(rank)]->acts.push_back(
        {.what = Do::issue, .message = issued.size()});
    if (ordered && message.segments != 0 && !message.refused) {
        std::uint64_t& cell =
            model[static_cast<std::size_t>(message.target)][static_cast<std::size_t>(rank)];
        cell = cell * 3 + issued.size();
    }
    issued.push_back(std::move(message));
}

/// Epochs of all members, some of them concurrent, and some with nothing in them.
void Team::draw_fences(rma::ActiveOrder order)
{
    std::vector<std::size_t> requested;
    for (std::uint64_t left = 1 + random.below(8); left > 0; --left) {
        const bool concurrent = random.chance(50);
        const std::uint64_t most = left == 1 ? 0 : random.below(4);
        for (int rank = 0; rank < ranks; ++rank) {
            std::vector<Act>& acts = members[static_cast<std::size_t>(rank)]->acts;
            acts.push_back({.what = Do::fence, .concurrent = concurrent, .last = left == 1});
            for (std::uint64_t more = random.below(most + 1); more > 0; --more) {
                draw_issue(rank, concurrent, order, requested);
            }
            draw_waits(acts, requested);
        }
    }
}

void Team::draw_program()
{
    model.assign(static_cast<std::size_t>(ranks),
                 std::vector<std::uint64_t>(static_cast<std::size_t>(ranks)));
    const rma::ActiveOrder order{.same_op = !random.chance(30), .diff_op = !random.chance(30)};
    if (dies < 0 && random.chance(40)) {
        draw_fences(order);
    }
    for (int rank = 0; rank < ranks; ++rank) {
        std::vector<Act>& acts = members[static_cast<std::size_t>(rank)]->acts;
        const std::uint64_t epochs = 1 + random.below(3);
        for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
            // A lock that a dead process has in its node's memory stays taken: lost-peers.md.
            const bool returns = dies < 0 || node_size == 1;
            if (!ordered && returns && random.chance(30)) {
                draw_locked(rank, order);
                continue;
            }
            const bool concurrent = random.chance(40);
            std::vector<std::size_t> requested; // and not waited for
            acts.push_back({.what = Do::open, .concurrent = concurrent});
            for (std::uint64_t left = random.below(12); left > 0; --left) {
                if (random.chance(10)) {
                    acts.push_back({.what = Do::flush_all});
                } else if (random.chance(10)) {
                    acts.push_back({.what = Do::flush,
                                    .target = static_cast<int>(
                                        random.below(static_cast<std::uint64_t>(ranks)))});
                } else if (ordered && random.chance(40)) {
                    const int target =
                        static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
                    const std::uint64_t value = 1 + random.below(1'000'000);
                    acts.push_back({.what = Do::put, .target = target, .value = value});
                    model[static_cast<std::size_t>(target)][static_cast<std::size_t>(rank)] = value;
                } else {
                    draw_issue(rank, concurrent, order, requested);
                }
                if (requests.chance(50)) {
                    draw_waits(acts, requested);
                }
            }
            if (requests.chance(50)) {
                draw_waits(acts, requested);
            }
            acts.push_back({.what = Do::close});
            draw_waits(acts, requested);
        }
    }
}

/// A piece of it is about to run.
void Team::begins(std::size_t number)
{
    ActiveIssued& message = issued[number];
    const bool first = message.run == 0;
    if (message.inside) {
        fail("two pieces of a message run at once");
    }
    for (std::size_t other = 0; other < issued.size(); ++other) {
        const ActiveIssued& beside = issued[other];
        if (other == number || beside.target != message.target || may_fail(beside)) {
            continue;
        }
        const bool begun = beside.inside || (beside.run != 0 && beside.run < beside.segments);
        if (begun && !beside.failed && !(beside.concurrent && message.concurrent)) {
            fail("messages that exclude one another interleave");
        }
        tally.beside += beside.inside ? 1 : 0;
        const bool earlier = other < number && beside.origin == message.origin;
        if (!earlier || !first || beside.run == beside.segments || beside.refused ||
            beside.failed) {
            continue;
        }
        ++tally.overtaken;
        const bool overlap =
            beside.cell < message.cell + message.cells && message.cell < beside.cell + beside.cells;
        const bool keeps =
            beside.handler == message.handler ? message.order.same_op : message.order.diff_op;
        if (overlap && (keeps || message.ordered)) {
            fail("a message has overtaken one whose order it keeps");
        }
    }
    message.inside = true;
}

/// All of it was run, and what its handler has made is here.
void Team::check_run(std::size_t number)
{
    const ActiveIssued& message = issued[number];
    if (message.run != message.segments || message.inside) {
        fail("a message was said to be complete and has not been run");
        return;
    }
    const std::size_t stride = message.spread_origin ? 2 : 1;
    for (std::uint64_t segment = 0; segment < message.segments; ++segment) {
        for (std::size_t at = 0; at < message.output_words; ++at) {
            if (message.output[(segment * message.output_words + at) * stride] !=
                answer_to(word_of(number, segment, 0), at)) {
                fail("the output of a message is not at its origin");
            }
        }
    }
    if (message.output.back() != unfilled) {
        fail("output was written behind its end");
    }
}

/// What the request of a message has said. Without output it says at the origin no more than that
/// the input may be written again.
void Team::check_request(std::size_t number, Status status)
{
    ActiveIssued& message = issued[number];
    ++tally.requested;
    if (message.failed || may_fail(message)) {
        return;
    }
    std::fill(message.input.begin() + 1, message.input.end(), unfilled); // the first names it
    const bool remote = message.request_scope == rma::FlushScope::remote;
    const bool when_run = remote || message.output_words != 0;
    if (status == Status::ok && message.refused && message.segments != 0 && when_run) {
        fail("a request does not tell that its message could not be run");
    } else if (status != Status::ok && !message.refused) {
        fail("a request tells of a failure that was none");
    } else if (status == Status::ok && !message.refused && when_run) {
        check_run(number);
    }
}

/// Those that were issued before the call that has waited.
void Team::check_done(int origin, int target)
{
    for (std::size_t number = 0; number < issued.size(); ++number) {
        const ActiveIssued& message = issued[number];
        const bool counted = message.origin == origin && message.input[0] != unfilled &&
                             (target < 0 || message.target == target);
        if (!counted || message.failed || may_fail(message)) {
            continue;
        }
        if (message.refused) {
            if (message.run != 0) {
                fail("a message was run that no buffer holds, or of another handler");
            }
        } else {
            check_run(number);
        }
    }
}

/// Whoever had the lock before has done all that it issued under it.
void Team::check_locked(int holder, int target)
{
    for (const ActiveIssued& message : issued) {
        const bool before = message.locked && message.target == target &&
                            message.origin != holder && message.input[0] != unfilled;
        if (before && !message.failed && !message.refused && !may_fail(message) &&
            (message.inside || message.run != message.segments)) {
            fail("a lock was given away before what was issued under it has run");
        }
    }
}

void Team::check_cells()
{
    for (int target = 0; ordered && target < ranks; ++target) {
        const auto* own =
            reinterpret_cast<const std::uint64_t*>(memory[static_cast<std::size_t>(target)].get());
        for (int origin = 0; origin < ranks; ++origin) {
            if (own[origin] !=
                model[static_cast<std::size_t>(target)][static_cast<std::size_t>(origin)]) {
                fail("operations of an ordered window have overtaken one another");
            }
        }
    }
}

/// All that was handed out of the attached buffers has come back.
void Team::check_buffers()
{
    for (int rank = 0; rank < ranks; ++rank) {
        const auto number = static_cast<std::size_t>(rank);
        rma::ActiveTarget& target = members[number]->window().parts().active.target;
        if (attached[number] != 0 &&
            (target.begin_detach() != Status::ok || !target.end_detach())) {
            fail("a message that is over has a part of an attached buffer");
        }
    }
}

std::string Team::run()
{
    while (failure.empty() && network.step()) {
        fail(line.failure());
        if (network.events() > 300'000) {
            std::string text = "the run never ends";
            for (const auto& member : members) {
                text += "\n" + member->describe();
            }
            fail(text);
        }
    }
    for (int rank = 0; rank < ranks; ++rank) {
        if (!members[static_cast<std::size_t>(rank)]->finished() && !network.dead(rank)) {
            fail("deadlock: " + members[static_cast<std::size_t>(rank)]->describe());
        }
    }
    tally.died_inside += dies >= 0 && members[static_cast<std::size_t>(dies)]->in_direct() ? 1 : 0;
    for (std::size_t number = 0; failure.empty() && dies < 0 && number < issued.size(); ++number) {
        tally.failures += issued[number].refused ? 1 : 0;
        if (!issued[number].refused) {
            check_run(number);
        }
    }
    if (failure.empty() && dies < 0) {
        check_cells();
        check_buffers();
    }
    return failure;
}

} // namespace

std::string run_active(std::uint64_t seed, ActiveDeaths deaths, ActiveTally& tally)
{
    Team team(seed, deaths);
    std::string failure = team.run();
    ++tally.programs;
    tally.messages += team.tally.messages;
    tally.pieces += team.tally.pieces;
    tally.beside += team.tally.beside;
    tally.failures += team.tally.failures;
    tally.overtaken += team.tally.overtaken;
    tally.direct += team.tally.direct;
    tally.died_inside += team.tally.died_inside;
    tally.left += team.tally.left;
    tally.requested += team.tally.requested;
    return failure;
}

} // namespace sidelight::sim
