// SPDX-License-Identifier: BSD-3-Clause
#include "base/cpu.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

/// Flushes: conditions on the operations issued before them (P1, VI and VII.C).
namespace sidelight::rma {

namespace {

bool nothing_to_flush(const Part& part, FlushScope scope) noexcept
{
    return part.granted && (scope == FlushScope::local ? part.local : part.outstanding) == 0;
}

} // namespace

Status Window::flush(int target, FlushScope scope, Request* request) noexcept
{
    if (scope == FlushScope::remote) {
        waited_for_ = ages_;
    }
    if (target == all_targets) {
        return flush_all(scope, request);
    }
    if (!valid_rank(target)) {
        return Status::rank;
    }
    if (targets_[target].light == Light::lock) {
        order_direct();
        conclude(request);
        return Status::ok;
    }
    if (const PartRef where = find_part(target); where && where.epoch->passive()) {
        if (!targets_[target].lost && nothing_to_flush(where.part(), scope)) {
            order_direct();
            conclude(request, take_failure(where.part()));
            return Status::ok;
        }
        return begin_flush(target, scope, request);
    }
    return targets_[target].lost ? Status::lost : Status::rma_sync;
}

Status Window::flush_all(FlushScope scope, Request* request) noexcept
{
    if (lock_all_ == nullptr && locks_open_ == 0) {
        return Status::rma_sync;
    }
    if (unsettled_ == 0 && first_deferred_ == nullptr && unfinished_ == 0 && untold_ == 0 &&
        !broken_) {
        order_direct();
        conclude(request);
        return Status::ok;
    }
    return begin_flush(all_targets, scope, request);
}

Status Window::await_grant(int target, Request* request) noexcept
{
    if (target != all_targets && targets_[target].light != Light::none) {
        conclude(request);
        return Status::ok;
    }
    const PartRef where = target != all_targets ? find_part(target) : PartRef{};
    if (target != all_targets && (!where || where.epoch->kind == EpochKind::fence)) {
        return targets_[target].lost ? Status::lost : Status::rma_sync;
    }
    return begin_flush(target, FlushScope::remote, request);
}

Status Window::begin_flush(int target, FlushScope scope, Request* request) noexcept
{
    Flush* flush = flush_pool_.take();
    if (flush == nullptr) {
        return Status::no_memory;
    }
    order_direct(); // what is performed later has a barrier of its own
    *flush = {.request = request, .target = target, .scope = scope, .clock = clock_};
    Status status = Status::ok;
    if (target != all_targets) {
        status = add_to_flush(find_part(target), *flush);
    } else {
        for (Epoch* epoch = queue_.front(); epoch != nullptr && status == Status::ok;
             epoch = decltype(queue_)::after(*epoch)) {
            status = add_epoch_to_flush(*epoch, *flush);
        }
    }
    flush->stamp = ages_;
    if (status == Status::ok && flush->remaining != 0) {
        flushes_.push(flush);
        ask_all();
        return Status::ok;
    }
    const Status outcome = flush->status;
    flush_pool_.give_back(flush);
    conclude(status == Status::ok ? request : nullptr, outcome);
    return status;
}

Status Window::add_epoch_to_flush(Epoch& epoch, Flush& flush) noexcept
{
    if (!epoch.open() || class_of(epoch.kind) == EpochClass::exposure) {
        return Status::ok;
    }
    for (std::uint32_t part = 0; part < epoch.parts.size(); ++part) {
        if (Status status = add_to_flush({&epoch, part}, flush); status != Status::ok) {
            return status;
        }
    }
    return Status::ok;
}

/// Where access is not granted yet, a marker waits for the grant, so that a flush also says that
/// the lock is held.
Status Window::add_to_flush(PartRef where, Flush& flush) noexcept
{
    Part& part = where.part();
    if (!is_open(where)) {
        Operation marker;
        marker.target = part.rank;
        if (Status status = record(where, marker, {}, nullptr); status != Status::ok) {
            return status;
        }
    }
    if (const Status untold = take_failure(part); untold != Status::ok) [[unlikely]] {
        flush.status = untold;
    }
    if (targets_[part.rank].lost) [[unlikely]] {
        flush.status = Status::lost; // what was issued before may be among what was given up
    }
    flush.remaining += flush.scope == FlushScope::local ? part.local : part.outstanding;
    return Status::ok;
}

void Window::count_down(const Op& op, FlushScope scope) noexcept
{
    if (flushes_.empty()) {
        return;
    }
    flushes_.remove_if([&](Flush& flush) {
        const Epoch& epoch = *op.epoch;
        const bool counted = flush.scope == scope &&
                             (flush.target == all_targets || flush.target == op.operation.target) &&
                             rules::flush_waits_for(op.age, flush.stamp) &&
                             (epoch.closed_at == 0 || epoch.closed_at > flush.clock);
        if (counted && op.failure != Status::ok) {
            flush.status = op.failure;
            if (Part& part = op.epoch->parts[op.part]; part.failed == op.age) {
                static_cast<void>(take_failure(part)); // that of a later one is not told here
            }
        }
        if (!counted || --flush.remaining != 0) {
            return false;
        }
        Request* request = flush.request;
        const Status status = flush.status;
        flush_pool_.give_back(&flush);
        conclude(request, status);
        return true;
    });
}

/// Orders the loads and stores of the direct path before everything after it, as a flush must: two
/// members that each put, flush and get the other's value must not both miss it.
void Window::order_direct() noexcept
{
    if (unfenced_.load(relaxed)) {
        full_barrier();
        unfenced_.store(never_fenced_, relaxed);
    }
}

} // namespace sidelight::rma
