// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "base/cpu.hpp"
#include "rma/process.hpp"
#include "rma/transfer.hpp"
#include "rma/window.hpp"

/// The life of an operation: find its epoch, check it, then perform it at once or record it.
namespace sidelight::rma {

using datatype::Basic;
using datatype::Buffer;

namespace {

/// MPI_Aint displacements and layout bounds stay below this, so their sums cannot overflow.
constexpr std::int64_t address_limit = std::int64_t{1} << 62;

/// Whether a side of an accumulate is there and made of other elements than the target.
bool differs(const Buffer& side, const datatype::Layout& target) noexcept
{
    return side.layout != nullptr && side.layout->basic != target.basic;
}

void hold_layouts(const Operation& operation) noexcept
{
    for (const datatype::Layout* layout :
         {operation.origin.layout, operation.result.layout, operation.layout}) {
        if (layout != nullptr) {
            datatype::acquire(*layout);
        }
    }
}

void drop_layouts(const Operation& operation) noexcept
{
    for (const datatype::Layout* layout :
         {operation.origin.layout, operation.result.layout, operation.layout}) {
        if (layout != nullptr) {
            datatype::release(layout);
        }
    }
}

} // namespace

Window::PartRef Window::find_part(int target) noexcept
{
    const Target& wanted = targets_[target];
    if (wanted.epoch != nullptr) {
        return {wanted.epoch, wanted.part};
    }
    if (lock_all_ != nullptr) {
        return {lock_all_, static_cast<std::uint32_t>(target)};
    }
    return {fence_, 0};
}

Status Window::issue(const Operation& operation, Request* request) noexcept
{
    if (!valid_rank(operation.target)) {
        return Status::rank;
    }
    if (Status status = reach(operation.target); status != Status::ok) {
        return status;
    }
    const bool light = targets_[operation.target].light != Light::none;
    const PartRef where = light ? PartRef{} : find_part(operation.target);
    if (!light && !where) {
        return Status::rma_sync;
    }
    const bool granted = light || is_open(where);
    if (where && where.epoch->failure_for_all()) {
        return where.epoch->failure;
    }
    Place place;
    if (Status status = locate(operation, granted, place); status != Status::ok) {
        return status;
    }
    if (Status status = check(operation); status != Status::ok) {
        return status;
    }
    used_.store(true, relaxed);
    const bool at_once = granted && (place.mapped || access_at_once(operation, place));
    if (!at_once) {
        return record(where, operation, place, request);
    }
    const Status status = place.mapped ? perform(operation, place.memory) : Status::ok;
    if (status == Status::ok) {
        finish(request);
    }
    return status;
}

/// Whether access is granted, as far as this member can see now.
bool Window::is_open(PartRef where) noexcept
{
    Epoch& epoch = *where.epoch;
    Part& part = where.part();
    if (!part.granted && epoch.active() && poll_grant(epoch, part)) {
        count(epoch);
    }
    return part.granted;
}

/// Finds it, if all that the operation touches lies in the target's memory. What is attached to a
/// dynamic window counts when access is granted.
Status Window::locate(const Operation& operation, bool granted, Place& place) noexcept
{
    const Target& target = targets_[operation.target];
    const datatype::Extent touched = datatype::touched(*operation.layout, operation.count);
    std::int64_t offset = 0;
    if (__builtin_mul_overflow(operation.displacement, static_cast<std::int64_t>(target.disp_unit),
                               &offset)) {
        return Status::rma_range;
    }
    place.address = static_cast<std::size_t>(offset);
    place.mapped = target.mapped;
    place.memory =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(target.base) + place.address);
    if (touched.overflow) {
        return Status::rma_range;
    }
    if (touched.first == touched.last) {
        place.checked = true;
        return Status::ok;
    }
    if (offset > address_limit || offset < -address_limit || touched.first < -address_limit ||
        touched.last > address_limit) {
        return Status::rma_range;
    }
    const std::int64_t first = offset + touched.first;
    const std::int64_t last = offset + touched.last;
    if (flavor_ == Flavor::dynamic && !granted) {
        place.mapped = false;
        return Status::ok;
    }
    if (flavor_ == Flavor::dynamic) {
        const Status status = locate_region(operation, static_cast<std::uint64_t>(first),
                                            static_cast<std::uint64_t>(last), place);
        place.mapped =
            place.mapped && (!combines(operation) || rules::may_combine_at_once(target.combining));
        return status;
    }
    place.checked = first >= 0 && static_cast<std::uint64_t>(last) <= target.size;
    return place.checked ? Status::ok : Status::rma_range;
}

/// In a dynamic window: what this member has attached, or what one on this node has and can be
/// mapped. Everything else the target looks up itself.
Status Window::locate_region(const Operation& operation, std::uint64_t first, std::uint64_t last,
                             Place& place) noexcept
{
    const Target& target = targets_[operation.target];
    if (operation.target == rank_) {
        return attached_->covers(first, last) ? Status::ok : Status::rma_range;
    }
    if (target.regions == nullptr) {
        return Status::ok;
    }
    constexpr int attempts = 1000; // the owner changes its table in less, while it has a core
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const MappedRegions::Found found = target.regions->find(first, last - first);
        switch (found.reach) {
        case MappedRegions::Reach::mapped:
            place.mapped = true;
            place.memory = found.data + (place.address - first);
            return Status::ok;
        case MappedRegions::Reach::none:
            return Status::rma_range;
        case MappedRegions::Reach::messages:
            place.checked = true;
            return Status::ok;
        case MappedRegions::Reach::unknown:
            return Status::ok;
        case MappedRegions::Reach::busy:
            relax_cpu();
        }
    }
    return Status::ok;
}

/// What `perform` would refuse, found before an operation is recorded.
Status Window::check(const Operation& operation) const noexcept
{
    const bool reduces = operation.kind == OperationKind::accumulate;
    if (reduces && !reduction(operation.reduce, operation.layout->basic).plain &&
        data_bytes(operation) != 0) {
        return operation.layout->basic == Basic::none ? Status::type : Status::op;
    }
    if (operation.kind == OperationKind::compare_and_swap) {
        return can_compare_and_swap(operation.layout->basic) ? Status::ok : Status::type;
    }
    const bool origin_counts = !reduces || operation.reduce != ReduceOp::no_op;
    if (reduces && data_bytes(operation) != 0 &&
        ((origin_counts && differs(operation.origin, *operation.layout)) ||
         differs(operation.result, *operation.layout))) {
        return Status::type;
    }
    if (origin_counts && operation.origin.bytes() > data_bytes(operation)) {
        return Status::rma_range;
    }
    if (origin_counts && operation.origin.bytes() != data_bytes(operation)) {
        return Status::count;
    }
    if (operation.result.layout != nullptr && operation.result.bytes() != data_bytes(operation)) {
        return Status::count;
    }
    return Status::ok;
}

/// On mapped memory: complete at the target on return.
Status Window::perform(const Operation& operation, std::byte* base) noexcept
{
    const Buffer memory{base, operation.layout, operation.count};
    unfenced_.store(true, relaxed);
    switch (operation.kind) {
    case OperationKind::marker:
        return Status::ok;
    case OperationKind::put:
        return transfer(Direction::put, operation.origin, memory);
    case OperationKind::get:
        return transfer(Direction::get, operation.origin, memory);
    case OperationKind::accumulate:
        return accumulate_here(operation.reduce, operation.target, operation.origin,
                               operation.result, memory);
    case OperationKind::compare_and_swap:
        return compare_and_swap_here(operation.target, operation.origin.address, operation.compare,
                                     operation.result.address, operation.layout, base);
    }
    return Status::op;
}

/// Where access is granted, `place` says where the operation goes. A light epoch becomes one that
/// records: it has no part yet.
Status Window::record(PartRef where, const Operation& operation, const Place& place,
                      Request* request) noexcept
{
    if (!where) {
        const int target = operation.target;
        if (Status status = weigh(targets_[target], target); status != Status::ok) {
            return status;
        }
        where = find_part(target);
    }
    Op* op = process_.ops_.take();
    if (op == nullptr) {
        return Status::no_memory;
    }
    hold_layouts(operation);
    op->operation = operation;
    op->request = request;
    op->age = ++ages_;
    op->address = place.address;
    op->locally_complete = false;
    op->combining = false;
    op->holds = true;
    op->failure = Status::ok;
    op->window = this;
    op->epoch = where.epoch;
    op->part = where.index;
    ++unfinished_;
    ++where.epoch->unanswered;
    Part& part = where.part();
    ++part.outstanding;
    ++part.local;
    ++part.held;
    if (part.granted) {
        execute_at(*op, place);
    } else {
        part.recorded.push(op);
    }
    return Status::ok;
}

/// Its turn has come. On mapped memory it is complete, and gone, on return. What is attached to a
/// dynamic window may have changed since it was issued.
void Window::execute(Op& op) noexcept
{
    Place place;
    Status status = Status::ok;
    if (targets_[op.operation.target].lost || op.epoch->failure_for_all()) [[unlikely]] {
        status = Status::lost;
    } else if (op.operation.kind != OperationKind::marker) {
        status = locate(op.operation, true, place);
    }
    if (status != Status::ok) {
        end_op(op, status);
    } else {
        execute_at(op, place);
    }
}

void Window::execute_at(Op& op, const Place& place) noexcept
{
    Status status = Status::ok;
    if (op.operation.kind != OperationKind::marker) {
        if (!place.mapped) {
            if (!access(op, place)) {
                targets_[op.operation.target].flushable.store(false, std::memory_order_release);
                keep_order_behind(op);
                launch(op);
            }
            return;
        }
        status = perform(op.operation, place.memory);
        full_barrier();
        unfenced_.store(never_fenced_, relaxed);
    }
    end_op(op, status);
}

/// An accumulate goes by messages where others could be performed at once: the table of a neighbour
/// cannot be read, or several regions are touched, or one that nobody can map. Until it is
/// complete later ones go by messages as well, behind it, and the direct path finds nothing there.
void Window::keep_order_behind(Op& op) noexcept
{
    Target& target = targets_[op.operation.target];
    op.combining = target.regions != nullptr && combines(op.operation);
    if (op.combining && target.combining++ == 0) {
        target.regions->withhold(true);
    }
}

/// It is over at the origin and at the target. Gone on return.
void Window::end_op(Op& op, Status status) noexcept
{
    if (status != Status::ok) {
        note_failure(op, status);
    }
    local_complete(op);
    remote_complete(op);
}

/// Its buffers at the origin are free again.
void Window::local_complete(Op& op) noexcept
{
    op.locally_complete = true;
    --op.epoch->parts[op.part].local;
    count_down(op, FlushScope::local);
    finish(std::exchange(op.request, nullptr));
}

/// What tells its target that its epoch is closed need not wait for it any longer.
void Window::let_go(Op& op) noexcept
{
    if (std::exchange(op.holds, false)) {
        --op.epoch->parts[op.part].held;
    }
}

/// It was not performed. Told by its own request, or else by the next call that waits for it: a
/// flush of its target, or the closing of its epoch. A target that is lost after the epoch was
/// complete is no failure of anything that others wait for; what else is refused so late is told
/// by the window's next call that waits.
void Window::note_failure(Op& op, Status status) noexcept
{
    if (op.request != nullptr) {
        op.request->status = status;
        return;
    }
    const bool is_over = op.epoch->state == EpochState::completed;
    if (status == Status::lost) {
        op.failure = status;
        op.epoch->failure = is_over ? op.epoch->failure : status;
    } else if (is_over) {
        failure_ = status;
    } else {
        op.failure = status;
        Part& part = op.epoch->parts[op.part];
        if (part.failure == Status::ok || op.age > part.failed) {
            untold_ += part.failure == Status::ok ? 1 : 0;
            part.failure = status;
            part.failed = op.age;
        }
    }
}

/// What the caller tells of the operations towards a peer, who had none.
Status Window::take_failure(Part& part) noexcept
{
    untold_ -= part.failure != Status::ok ? 1 : 0;
    return std::exchange(part.failure, Status::ok);
}

/// What a request has waited for is over: it also tells what went wrong.
void Window::conclude(Request* request, Status status) noexcept
{
    if (request != nullptr) {
        status = status == Status::ok ? std::exchange(failure_, Status::ok) : status;
        request->status = status == Status::ok ? request->status : status;
    } else if (status != Status::ok && status != Status::lost) {
        failure_ = status;
    }
    finish(request);
}

/// It is complete at the target. Gone on return.
void Window::remote_complete(Op& op) noexcept
{
    Epoch& epoch = *op.epoch;
    let_go(op);
    if (Target& target = targets_[op.operation.target]; op.combining && --target.combining == 0) {
        target.regions->withhold(false);
    }
    --unfinished_;
    --epoch.unanswered;
    --epoch.parts[op.part].outstanding;
    count_down(op, FlushScope::remote);
    drop_layouts(op.operation);
    process_.ops_.give_back(&op);
    give_back_if_over(epoch);
}

} // namespace sidelight::rma
