// SPDX-License-Identifier: BSD-3-Clause
#include "rank.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

#include "rma/engine/window_parts.hpp"
#include "rma/operation/mapped.hpp"
#include "world.hpp"

namespace sidelight::sim {

namespace {

/// More sweeps than this that each moved something, with no event between them, are an endless
/// loop.
constexpr int sweep_limit = 1'000'000;
constexpr Time sweep_time = 10;

/// Whether what it brings is in its origin buffer.
bool reads(Call call) { return is_read(call) || call == Call::read_tally || call == Call::reread; }

/// The other way to read: with no origin side.
void read_by_accumulate(rma::Operation& operation)
{
    operation.kind = rma::OperationKind::accumulate;
    operation.reduce = rma::ReduceOp::no_op;
    operation.result = std::exchange(operation.origin, {});
}

} // namespace

Rank::Rank(World& world, int rank, const Script& script)
    : world_(world),
      rank_(rank),
      script_(script),
      notebook_([this] { return world_.network().now(); }),
      process_(world.network().endpoint(rank), &world.peer_memory()),
      requests_(script.size()),
      times_(script.size())
{
    if (world.program().traced) {
        process_.set_recorder(&notebook_);
    }
    if (world.program().autonomous || world.program().smart) {
        process_.set_finisher(world.program().smart ? rma::Finisher::called : rma::Finisher::thread,
                              world.program().has_threads);
    }
    std::size_t words = 0;
    for (std::size_t step = 0; step < script.size(); ++step) {
        requests_[step].rank = this;
        requests_[step].step = step;
        requests_[step].on_complete = on_complete;
        buffer_at_.push_back(words);
        words += is_operation(script[step].call) ? script[step].words + 2 : 0;
    }
    buffer_.resize(words);
}

rma::Window& Rank::create_window(const rma::WindowShape& shape)
{
    windows_.push_back(&process_.create_window(shape));
    leave_engine();
    return *windows_.back();
}

void Rank::on_complete(rma::Request& request) noexcept
{
    auto& done = static_cast<StepRequest&>(request);
    Rank& rank = *done.rank;
    if (rank.is_over_) {
        return;
    }
    rank.times_[done.step].done = rank.world_.network().now();
    rank.times_[done.step].event = rank.world_.network().events();
    rank.world_.completed(rank, done.step);
}

void Rank::run()
{
    fabric::sim::Network& network = world_.network();
    if (network.now() < busy_until_) {
        network.schedule(rank_, busy_until_);
        stand_aside();
        return;
    }
    if (spins()) {
        stand_aside();
        return;
    }
    if (waits_ || finished()) {
        sweep();
        if (finished() || !released()) {
            return; // asleep until something arrives
        }
        leave(script_[position_]);
    }
    if (!finished()) {
        perform(script_[position_]);
        network.spend(1 + world_.random().below(world_.program().step_time));
    }
    network.schedule(rank_, std::max(network.now(), busy_until_));
}

void Rank::look()
{
    if (waits_ && !spins()) {
        process_.progress();
        process_.push();
        leave_engine();
        world_.network().schedule(rank_, world_.network().now() + sweep_time);
    }
}

/// The program calls nothing of the library: what its thread does, where there is one.
void Rank::stand_aside()
{
    if (world_.program().autonomous) {
        sweep();
    } else if (world_.program().smart) {
        answer_call();
    }
}

/// Whether it waits for others in memory that the library knows nothing of.
bool Rank::spins()
{
    return waits_ && script_[position_].call == Call::meet && script_[position_].bare &&
           !released();
}

/// What its thread does while the rank computes, if that is called or a message has come. If not, a
/// sweep must do nothing that others may wait for: that would be a call that is lost. Where
/// somebody dies, what is left for a sweep to tell of that waits for the thread's next look by
/// itself.
void Rank::answer_call()
{
    fabric::sim::Endpoint& card = world_.network().endpoint(rank_);
    const bool message =
        card.has_arrivals() && (card.interest().events() & message_event) != no_events;
    card.interest().enter();
    const bool called = card.interest().answer_call();
    const auto deeds_so_far = [&] { return card.deeds() - world_.ledger().questions(); };
    const std::uint64_t deeds = deeds_so_far();
    const std::uint64_t sweeps = sweeps_;
    sweep();
    static_cast<void>(card.interest().leave_as_it_is());
    if (!called && !message && deeds_so_far() != deeds && !world_.program().somebody_dies()) {
        world_.fail(rank_, "a process that computes was not called for what it had recorded");
    }
    if (called && !message) {
        world_.note_call(sweeps_ - sweeps == 1 && deeds_so_far() == deeds);
    }
}

/// Whoever leaves the engine says what the thread is to be called for.
void Rank::leave_engine()
{
    if (!world_.program().smart) {
        return;
    }
    Interest& interest = world_.network().endpoint(rank_).interest();
    interest.enter();
    while (!interest.leave(process_.wanted())) {
        process_.progress();
        process_.push();
    }
}

void Rank::sweep()
{
    int sweeps = 0;
    do {
        world_.network().spend(sweep_time);
        ++sweeps_;
        if (++sweeps > sweep_limit) {
            world_.fail(rank_, "progress never ends");
            return;
        }
    } while (process_.progress());
    leave_engine();
    world_.scan(rank_);
}

/// Whether the blocking call that the rank is in may return.
bool Rank::released()
{
    const Step& step = script_[position_];
    switch (step.call) {
    case Call::meet:
        return world_.met(meets_);
    case Call::wait_for:
        return std::all_of(step.list.begin(), step.list.end(), [this](int earlier) {
            return completed(static_cast<std::size_t>(earlier));
        });
    case Call::test: {
        bool flag = false;
        const Status status = window(step.window).test(flag);
        if (status != Status::ok && !may_fail(status)) {
            world_.fail(rank_, "test was refused");
        }
        requests_[position_].status = status;
        if (flag || status == Status::rma_sync) {
            flag = true;
            rma::finish(&requests_[position_]);
        }
        return flag;
    }
    default:
        return completed(position_);
    }
}

/// The blocking call returns.
void Rank::leave(const Step& step)
{
    world_.trace(rank_, done_name(step.call), static_cast<long>(position_));
    waits_ = false;
    ++position_;
    if (step.call == Call::detach && world_.network().is_exposed(reinterpret_cast<std::byte*>(
                                         world_.memory(step.window, rank_) + step.cell))) {
        world_.fail(rank_, "memory that was detached is still exposed");
    }
    if (step.call == Call::close) {
        if (!window(step.window).closed()) {
            world_.fail(rank_, "a window cannot be freed");
            return;
        }
        const bool first = position_ % 2 == 0; // else they are orphans
        if (first) {
            handles_.close_all(step.window);
        }
        process_.destroy_window(window(step.window));
        handles_.close_all(step.window);
        world_.take_back(step.window, rank_);
        windows_[static_cast<std::size_t>(step.window)] = nullptr;
        process_.push(); // as the guard does under which the API destroys it
        leave_engine();
    }
}

void Rank::perform(const Step& step)
{
    world_.trace(rank_, name(step.call), static_cast<long>(position_), step.target);
    times_[position_].called = world_.network().now();
    if (local_call(step)) {
        return;
    }
    world_.calling(*this, position_);
    rma::Request* request = &requests_[position_];
    if (is_operation(step.call)) {
        fill_origin(step);
    }
    Status status = Status::ok;
    const bool fast = world_.program().direct && take_fast_path(step);
    if (fast && !step.bare) {
        rma::finish(request);
    } else if (!fast) {
        status = is_operation(step.call) ? issue(step, step.bare ? nullptr : request)
                                         : synchronise(step, request);
    }
    if (status != Status::ok) {
        const bool strays = step.call == Call::stray && status == Status::rma_range;
        if (!may_fail(status) && !strays) {
            world_.fail(rank_, "a correct call was refused");
            return;
        }
        requests_[position_].status = status;
    }
    if (status != Status::ok || step.bare) {
        rma::finish(request);
    }
    if (!fast) { // nobody holds the engine on the direct path, who would push
        process_.push();
        leave_engine();
    }
    world_.called(*this, position_);
    if (world_.random().chance(world_.program().progress_percent)) {
        sweep();
    }
    waits_ = step.blocking;
    position_ += waits_ ? 0 : 1;
}

/// Once somebody is dead: what is about a dead rank, and what follows from a call that was refused,
/// or from a member of a dynamic window that has left and detached its memory.
bool Rank::may_fail(Status status)
{
    const bool lost = status == Status::lost;
    refused_ |= lost;
    // Who leaves a broken window waits for nobody, and detaches its memory.
    const bool gone = status == Status::rma_range && world_.program().dynamic;
    return world_.someone_is_dead() && (lost || gone || (status == Status::rma_sync && refused_));
}

/// The calls that the library does not see.
bool Rank::local_call(const Step& step)
{
    switch (step.call) {
    case Call::compute:
        busy_until_ = world_.network().now() + step.duration;
        ++position_;
        return true;
    case Call::meet:
        world_.meet(rank_, ++meets_);
        waits_ = true;
        return true;
    case Call::wait_for:
        waits_ = true;
        return true;
    case Call::set_keys:
        window(step.window).set_reorder(step.keys);
        world_.keys_set(*this, step);
        ++position_;
        return true;
    case Call::release:
        if (window(step.window)
                    .parts()
                    .regions.withdraw(world_.regions(step.window, rank_).present) != Status::ok ||
            window(step.window)
                .parts()
                .regions.is_used(world_.regions(step.window, rank_).present)) {
            world_.fail(rank_, "a region cannot be released");
        }
        ++position_;
        return true;
    case Call::expose:
        std::iota(world_.memory(step.window, rank_) + step.cell,
                  world_.memory(step.window, rank_) + step.cell + step.words, step.value);
        ++position_;
        return true;
    default:
        return false;
    }
}

Status Rank::synchronise(const Step& step, rma::Request* request)
{
    rma::Window& w = window(step.window);
    switch (step.call) {
    case Call::fence:
        return w.fence(step.assertion, request, step.blocking);
    case Call::post:
        return w.post(step.list, request);
    case Call::start:
        return w.start(step.list, step.assertion, request);
    case Call::complete:
        return w.complete(request, step.blocking);
    case Call::wait:
        return w.wait(request, 0, step.blocking);
    case Call::test:
        return Status::ok; // asked again and again while the rank waits
    case Call::close:
        return w.close(request);
    case Call::attach:
        world_.attach(step.window, rank_, step.cell, step.words);
        rma::finish(request);
        return Status::ok;
    case Call::detach:
        return w.detach(reinterpret_cast<std::byte*>(world_.memory(step.window, rank_) + step.cell),
                        request);
    default:
        return synchronise_passive(step, request);
    }
}

Status Rank::synchronise_passive(const Step& step, rma::Request* request)
{
    rma::Window& w = window(step.window);
    switch (step.call) {
    case Call::lock:
        return w.lock(step.lock_type, step.target, step.assertion, request);
    case Call::unlock:
        return w.unlock(step.target, request, step.blocking);
    case Call::lock_all:
        return w.lock_all(step.assertion, request);
    case Call::unlock_all:
        return w.unlock_all(request);
    case Call::flush:
        return w.flush(step.target, step.scope, request, step.thread);
    case Call::await_grant:
        return w.await_grant(step.target, request);
    case Call::await_notification:
        return w.parts().counters.await(static_cast<std::uint32_t>(step.cell), step.value, request);
    default:
        return Status::argument;
    }
}

/// What the operation sends, or for one that fetches garbage that must be overwritten.
void Rank::fill_origin(const Step& step)
{
    std::uint64_t* words = origin(position_);
    for (std::size_t i = 0; i < step.words; ++i) {
        words[i] = reads(step.call) ? 0 : step.value + i;
    }
    if (step.call == Call::write_tally) {
        words[0] = *origin(static_cast<std::size_t>(step.list[0])) + 1;
    } else if (step.call == Call::add || step.call == Call::fetch_add) {
        words[0] = 1;
    }
    result(position_)[0] = ~std::uint64_t{0};
    result(position_)[1] = 0;
}

/// Nobody pushes at the end of a call on the direct path, so it may send nothing.
bool Rank::take_fast_path(const Step& step)
{
    const fabric::sim::Endpoint& card = world_.network().endpoint(rank_);
    const std::uint64_t sent = card.sends();
    if (!take_direct_path(step)) {
        return false;
    }
    if (card.sends() != sent) {
        world_.fail(rank_, "a fast call has sent what nobody pushes");
    }
    return true;
}

/// Does what can be done at once on mapped memory. False: nothing has happened.
bool Rank::take_direct_path(const Step& step)
{
    rma::Mapped& direct = direct_path(step);
    switch (step.call) {
    case Call::flush:
        return step.scope == rma::FlushScope::local ? direct.flush_local(step.target)
                                                    : direct.flush(step.target);
    default:
        return is_operation(step.call) && step.notification < 0 &&
               (copy_directly(step) || combine_directly(step));
    }
}

/// The window of a handle that a step goes through; null: none.
HandleWindows::One* Rank::handle_window(const Step& step)
{
    if (!step.named) {
        return nullptr;
    }
    const bool past = step.call == Call::stray && step.value == 0;
    HandleWindows::One* opened =
        handles_.open({step.window, step.target, past}, window(step.window),
                      world_.region(step.window, step.target, past));
    if (opened == nullptr) {
        world_.fail(rank_, "a memory handle cannot be opened");
    }
    return opened;
}

rma::Mapped& Rank::direct_path(const Step& step)
{
    HandleWindows::One* opened = handle_window(step);
    return opened != nullptr ? opened->direct : window(step.window).mapped();
}

bool Rank::copy_directly(const Step& step)
{
    rma::Mapped& direct = direct_path(step);
    const bool get = reads(step.call) && step.call != Call::fetch;
    const bool put = step.call == Call::put || step.call == Call::write_tally ||
                     step.call == Call::overwrite || (step.call == Call::stray && step.named);
    if (step.spread != Spread::none || !(get || put)) {
        return false;
    }
    const std::size_t bytes = step.words * sizeof(std::uint64_t);
    std::byte* memory = direct.memory(step.target, world_.displacement(step.window, step), bytes);
    if (memory == nullptr) {
        return false;
    }
    if (get) {
        std::memcpy(origin(position_), memory, bytes);
    } else {
        std::memcpy(memory, origin(position_), bytes);
    }
    direct.made_plain_access();
    return true;
}

/// An accumulate of one element.
bool Rank::combine_directly(const Step& step)
{
    rma::Mapped& direct = direct_path(step);
    const bool combines = step.call == Call::fetch || step.call == Call::accumulate ||
                          step.call == Call::compare_and_swap || step.call == Call::add ||
                          step.call == Call::fetch_add;
    if (!combines || step.words != 1 || step.spread != Spread::none) {
        return false;
    }
    std::byte* memory =
        direct.memory(step.target, world_.displacement(step.window, step), sizeof(std::uint64_t));
    if (memory == nullptr) {
        return false;
    }
    direct.made_atomic_access();
    const rma::ElementAccess access = direct.element(step.target);
    std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(memory));
    switch (step.call) {
    case Call::fetch:
        *origin(position_) = word.load();
        break;
    case Call::compare_and_swap:
        *result(position_) = result(position_)[1];
        word.compare_exchange_strong(*result(position_), *origin(position_));
        break;
    default:
        *result(position_) = word.fetch_add(*origin(position_));
    }
    return true;
}

Status Rank::issue(const Step& step, rma::Request* request)
{
    const datatype::LayoutPointer own = position_ % 3 == 0 ? World::make_word() : nullptr;
    const datatype::Layout* word = own != nullptr ? own.get() : world_.word();
    rma::Operation operation;
    operation.target = step.target;
    operation.displacement = world_.displacement(step.window, step);
    operation.origin = {origin(position_), word, step.words};
    const datatype::LayoutPointer apart =
        step.spread == Spread::first_apart ? World::make_apart(step.words) : nullptr;
    operation.layout = word;
    operation.count = step.words;
    if (step.spread == Spread::every_other) {
        operation.layout = world_.spread();
        operation.count = step.words / 2;
    } else if (apart != nullptr) {
        operation.layout = apart.get();
        operation.count = 1;
    }
    operation.reduce = rma::ReduceOp::sum;
    operation.request_scope = step.request_scope;
    operation.thread = step.thread;
    operation.ordered = step.ordered;
    operation.notification = step.notification;
    switch (step.call) {
    case Call::put:
    case Call::stray:
    case Call::write_tally:
    case Call::overwrite:
        operation.kind = rma::OperationKind::put;
        break;
    case Call::fetch:
        read_by_accumulate(operation);
        break;
    case Call::get:
    case Call::read_tally:
    case Call::reread:
        operation.kind = rma::OperationKind::get;
        if (position_ % 2 == 1 && step.spread == Spread::none) {
            read_by_accumulate(operation);
        }
        break;
    case Call::compare_and_swap:
        operation.kind = rma::OperationKind::compare_and_swap;
        operation.result = {result(position_), word, 1};
        operation.compare = result(position_) + 1;
        break;
    default:
        operation.kind = rma::OperationKind::accumulate;
        if (step.call == Call::fetch_add) {
            operation.result = {result(position_), word, 1};
        }
    }
    HandleWindows::One* opened = handle_window(step);
    operation.region = opened != nullptr ? opened->region : nullptr;
    const Status status = window(step.window).issue(operation, request);
    if (opened != nullptr && world_.random().chance(20)) { // with what was recorded
        handles_.close({step.window, step.target, step.call == Call::stray && step.value == 0});
    }
    return status;
}

} // namespace sidelight::sim
