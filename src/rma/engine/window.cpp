// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/window.hpp"

#include "base/log.hpp"
#include "rma/engine/window_parts.hpp"

namespace sidelight::rma {

Window::Window(SharedParts& shared, const WindowShape& shape)
    : shared_(shared),
      id_(shape.id),
      rank_(shape.rank),
      size_(shape.size),
      flavor_(shape.flavor),
      meets_at_end_(shape.meets_at_end),
      parts_(std::make_unique<WindowParts>(*this, shared, shape)),
      settled_(parts_->surroundings, parts_->queue, parts_->open)
{
    count_active_in(shared.with_active);
    parts_->queue.early().set_limit(shape.early_return);
    mapped_.begin(parts_->contacts.targets(), static_cast<std::uint32_t>(size_),
                  parts_->accumulates);
    if (flavor_ == Flavor::shared) {
        mapped_.expect_untold();
    }
}

/// What members have notified before they closed it counts.
Window::~Window()
{
    parts_->counters.look();
    parts_->counters.give_up(Status::rma_notification);
    if (trace_of(*this)) {
        trace_of(*this).note({.event = trace::Event::window_freed});
    }
    log_routes();
    set(Reason::active_here, false); // of others, who have heard that this one has left
    set(Reason::active_there, false);
    if (is_needed()) {
        shared_.busy.note(*this, false);
    }
}

/// For people: by which routes the members were reached that were met.
void Window::log_routes() const noexcept
{
    const Contacts& contacts = parts_->contacts;
    const OpenRegions& regions = parts_->native.open_regions();
    std::size_t mapped = 0;
    std::size_t native = 0;
    for (const std::int32_t rank : contacts.met()) {
        mapped += contacts.target(rank).mapped ? 1 : 0;
        native += contacts.target(rank).remote != nullptr || regions.has_opened(rank) ? 1 : 0;
    }
    log(LogLevel::info,
        "window %llx, rank %d of %d: of %zu members met, %zu are mapped, %zu native, the others "
        "reached by messages",
        static_cast<unsigned long long>(id_), rank_, size_, contacts.met().size(), mapped, native);
}

const trace::Track& trace_of(Window& window) noexcept { return window.parts().surroundings.trace; }

void Window::needed(bool needed) noexcept { shared_.busy.note(*this, needed); }

void Window::expect_threads(bool sweeps, bool many) noexcept
{
    mapped_.expect_threads(sweeps, many);
    parts_->notifications.direct().expect_threads(many);
    if (sweeps || many) {
        parts_->contacts.close_regions();
    }
}

void Window::set_reorder(const Reorder& reorder) noexcept { parts_->queue.set_reorder(reorder); }

Status Window::fence(Assertion assertion, Request* request, bool waits, int polls) noexcept
{
    const bool plain = !assertion.no_precede && !assertion.no_succeed && !assertion.concurrent;
    if (plain && settled_.fence(0)) {
        finish(request);
        return Status::ok;
    }
    return parts_->synchronization.fence(assertion, request, waits, polls);
}

Status Window::post(std::span<const int> origins, Request* request) noexcept
{
    if (settled_.post(origins)) {
        finish(request);
        return Status::ok;
    }
    return parts_->synchronization.post(origins, request);
}

Status Window::start(std::span<const int> targets, Assertion assertion, Request* request,
                     int polls) noexcept
{
    if (!assertion.no_check && !assertion.concurrent && settled_.start(targets, 0)) {
        finish(request);
        return Status::ok;
    }
    return parts_->synchronization.start(targets, assertion, request, polls);
}

Status Window::complete(Request* request, bool may_return_early, int polls) noexcept
{
    if (settled_.complete()) {
        finish(request);
        return Status::ok;
    }
    return parts_->synchronization.complete(request, may_return_early, polls);
}

Status Window::wait(Request* request, int polls, bool waits) noexcept
{
    if (settled_.wait(0)) {
        finish(request);
        return Status::ok;
    }
    return parts_->synchronization.wait(request, polls, waits);
}

Status Window::test(bool& flag) noexcept { return parts_->synchronization.test(flag); }

Status Window::lock_by_queue(LockType type, int target, Assertion assertion, Request* request,
                             bool grant_waited) noexcept
{
    settled_.prepare_lock();
    return parts_->synchronization.lock(type, target, assertion, request, grant_waited);
}

Status Window::unlock_by_queue(int target, Request* request, bool waits) noexcept
{
    return parts_->synchronization.unlock(target, request, waits);
}

Status Window::lock_all(Assertion assertion, Request* request, bool grant_waited) noexcept
{
    if (!assertion.no_check && !assertion.concurrent && settled_.lock_all()) {
        finish(request);
        return Status::ok;
    }
    return parts_->synchronization.lock_all(assertion, request, grant_waited);
}

Status Window::unlock_all(Request* request, bool waits) noexcept
{
    if (settled_.unlock_all()) {
        finish(request);
        return Status::ok;
    }
    return parts_->synchronization.unlock_all(request, waits);
}

Status Window::flush(int target, FlushScope scope, Request* request, ThreadNumber thread) noexcept
{
    return parts_->flushes.flush(target, scope, request, thread);
}

Status Window::await_grant(int target, Request* request) noexcept
{
    return parts_->synchronization.await_grant(target, request);
}

Status Window::issue(const Operation& operation, Request* request) noexcept
{
    if (!parts_->contacts.is_rank(operation.target)) {
        return Status::rank;
    }
    if (Status status = parts_->contacts.reach(operation.target); status != Status::ok) {
        return status;
    }
    PeerEpochRef where;
    Status status = parts_->recording.find(operation.target, where);
    if (status != Status::ok) {
        return status;
    }
    const auto epoch = static_cast<std::uint32_t>(where.epoch->opened_at);
    status = parts_->recording.issue(where, operation, request);
    const trace::Track& trace = parts_->surroundings.trace;
    if (trace && status == Status::ok) [[unlikely]] {
        trace::Record record{.event = trace::Event::operation,
                             .detail = static_cast<std::uint8_t>(operation.kind),
                             .peer = operation.target,
                             .epoch = epoch,
                             .value = operation.layout != nullptr ? data_bytes(operation) : 0};
        trace.note(record);
        if (operation.notification >= 0) {
            record.event = trace::Event::notified;
            record.value = static_cast<std::uint64_t>(operation.notification);
            trace.note(record);
        }
    }
    return status;
}

Status Window::attach(std::byte* base, std::size_t size,
                      const std::optional<FileRange>& where) noexcept
{
    RegionTable* attached = parts_->memory.attached();
    return attached != nullptr ? attached->attach(base, size, where) : Status::rma_flavor;
}

Status Window::detach(const std::byte* base, Request* request) noexcept
{
    RegionTable* attached = parts_->memory.attached();
    const Status status = attached != nullptr ? attached->detach(base) : Status::rma_flavor;
    if (status == Status::ok) {
        parts_->native.exposed_regions().withdraw(base, request);
    }
    return status;
}

Status Window::close(Request* request) noexcept
{
    const Status status = parts_->synchronization.close(request, false);
    if (status == Status::ok) {
        closing_ = true;
    }
    return status;
}

bool Window::close_at_end() noexcept
{
    closing_ =
        closing_ || (meets_at_end_ && parts_->synchronization.close(nullptr, true) == Status::ok);
    return !meets_at_end_ || parts_->queue.closed();
}

bool Window::progress() noexcept
{
    bool moved = parts_->losses.give_up_lost();
    moved |= parts_->counters.look();
    if (parts_->contacts.broken()) {
        parts_->notifications.give_up_lost();
    }
    const OthersOffers::Sweep sweep(parts_->others_offers);
    moved |= parts_->queue.advance_active();
    if (parts_->locks.anybody_waits()) {
        parts_->others_offers.perform_locks(rank_);
        moved |= parts_->locks.grant_waiting();
    }
    if (closing_) {
        parts_->credit.request_all();
    }
    while (parts_->queue.activate_deferred()) {
        moved = true;
        parts_->queue.advance_active();
    }
    moved |= sweep.has_performed();
    return moved | parts_->credit.tell_owed();
}

} // namespace sidelight::rma
