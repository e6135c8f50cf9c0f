// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "rma/direct_path.hpp"
#include "rma/window.hpp"

/// The calls that open and close epochs. Each checks what is open at application level, puts an
/// epoch into the queue or closes one, and leaves the rest to the queue.
namespace sidelight::rma {

/// Ends the fence epoch that is open, if any, and opens the next one. Each call of a window is one
/// barrier, whatever it ends or opens, so that all members count alike. The barrier holds the
/// request back unless the program says that the call ends nothing (MPI_MODE_NOPRECEDE).
Status Window::fence(Assertion assertion, Request* request) noexcept
{
    if (access_open() || exposure_open()) {
        return Status::rma_sync;
    }
    const bool ends_nothing = assertion.no_precede && !fence_in_use() && flavor_ != Flavor::shared;
    Epoch* ending = ends_nothing ? nullptr : fence_;
    Epoch* next = nullptr;
    if (ending == nullptr || !assertion.no_succeed) {
        next = open(EpochKind::fence, 1);
        if (next == nullptr) {
            return Status::no_memory;
        }
        next->barrier_in = barriers_ + 1;
    }
    ++barriers_;
    if (ending != nullptr) {
        ending->barrier_out = barriers_;
        fence_ = nullptr;
        close_epoch(*ending, request);
    } else {
        leave_fence();
        next->opening = ends_nothing ? nullptr : request;
    }
    if (next != nullptr) {
        opened(*next);
        if (assertion.no_succeed) {
            close_epoch(*next, nullptr);
        } else {
            fence_ = next;
        }
    }
    if (ends_nothing) {
        finish(request);
    }
    return Status::ok;
}

Status Window::post(std::span<const int> origins, Request* request) noexcept
{
    if (exposure_open() || fence_in_use()) {
        return Status::rma_sync;
    }
    Epoch* epoch = open_group(EpochKind::exposure, origins);
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    exposure_ = epoch;
    opened(*epoch);
    finish(request);
    return Status::ok;
}

Status Window::start(std::span<const int> targets, Assertion assertion, Request* request) noexcept
{
    if (access_open() || fence_in_use()) {
        return Status::rma_sync;
    }
    Epoch* epoch = open_group(EpochKind::access, targets);
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    epoch->no_check = assertion.no_check;
    for (std::uint32_t index = 0; index < epoch->parts.size(); ++index) {
        Target& target = target_of(epoch->parts[index]);
        target.epoch = epoch;
        target.part = index;
    }
    access_ = epoch;
    opened(*epoch);
    finish(request);
    return Status::ok;
}

/// An epoch towards the members of a group, the fence epoch before it left.
Epoch* Window::open_group(EpochKind kind, std::span<const int> ranks) noexcept
{
    for (const int rank : ranks) {
        if (meet(rank) != Status::ok) {
            return nullptr;
        }
    }
    Epoch* epoch = open(kind, ranks.size());
    if (epoch != nullptr) {
        for (std::size_t index = 0; index < ranks.size(); ++index) {
            epoch->parts[index].rank = ranks[index];
        }
        leave_fence();
    }
    return epoch;
}

Status Window::complete(Request* request) noexcept
{
    if (light_access_.is_open()) {
        conclude(request, LightEpochs::end_access(*this));
        return Status::ok;
    }
    if (access_ == nullptr) {
        return Status::rma_sync;
    }
    for (const Part& part : access_->parts) {
        target_of(part).epoch = nullptr;
    }
    close_epoch(*std::exchange(access_, nullptr), request);
    return Status::ok;
}

Status Window::wait(Request* request) noexcept
{
    if (LightEpochs::wait(*this, 0)) {
        conclude(request);
        return Status::ok;
    }
    if (light_exposure_.is_open() && (exposure_ = LightEpochs::expose_fully(*this)) == nullptr) {
        return Status::no_memory;
    }
    if (exposure_ == nullptr) {
        return Status::rma_sync;
    }
    close_epoch(*std::exchange(exposure_, nullptr), request);
    return Status::ok;
}

Status Window::test(bool& flag) noexcept
{
    if (light_exposure_.is_open() && !broken_) {
        flag = LightEpochs::wait(*this, 0);
        return Status::ok;
    }
    if (light_exposure_.is_open() && (exposure_ = LightEpochs::expose_fully(*this)) == nullptr) {
        return Status::no_memory;
    }
    if (exposure_ == nullptr) {
        return Status::rma_sync;
    }
    flag = exposure_->active();
    bool is_lost = false;
    for (const Part& part : exposure_->parts) {
        const bool over = exposure_over(part);
        is_lost |= !over && target_of(part).lost;
        flag = flag && (over || target_of(part).lost);
    }
    if (flag) {
        close_epoch(*std::exchange(exposure_, nullptr), nullptr);
    }
    return flag && is_lost ? Status::lost : Status::ok;
}

Status Window::lock(LockType type, int target, Assertion assertion, Request* request) noexcept
{
    if (!valid_rank(target)) {
        return Status::rank;
    }
    if (Status status = reach(target); status != Status::ok) {
        return status;
    }
    Target& locked = targets_[target];
    if (locked.epoch != nullptr || locked.light != Light::none || group_access_open() ||
        lock_all_ != nullptr || fence_in_use()) {
        return Status::rma_sync;
    }
    if (!assertion.no_check && Direct::lock(*this, target, type)) {
        finish(request);
        return Status::ok;
    }
    Epoch* epoch = open(EpochKind::lock, 1);
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    leave_fence();
    epoch->lock_type = type;
    epoch->no_check = assertion.no_check;
    epoch->parts[0].rank = target;
    locked.epoch = epoch;
    locked.part = 0;
    ++locks_open_;
    opened(*epoch);
    finish(request);
    return Status::ok;
}

Status Window::unlock(int target, Request* request) noexcept
{
    if (!valid_rank(target)) {
        return Status::rank;
    }
    Target& locked = targets_[target];
    if (Direct::leave_lock(*this, target)) {
        finish(request);
        return Status::ok;
    }
    if (locked.epoch == nullptr || locked.epoch->kind != EpochKind::lock) {
        return Status::rma_sync;
    }
    --locks_open_;
    close_epoch(*std::exchange(locked.epoch, nullptr), request);
    return Status::ok;
}

Status Window::lock_all(Assertion assertion, Request* request) noexcept
{
    if (access_open() || fence_in_use()) {
        return Status::rma_sync;
    }
    for (int rank = 0; rank < size(); ++rank) {
        if (Status status = meet(rank); status != Status::ok) {
            return status;
        }
    }
    Epoch* epoch = open(EpochKind::lock_all, members_);
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    leave_fence();
    epoch->lock_type = LockType::shared;
    epoch->no_check = assertion.no_check;
    for (std::uint32_t rank = 0; rank < members_; ++rank) {
        epoch->parts[rank].rank = static_cast<int>(rank);
    }
    lock_all_ = epoch;
    opened(*epoch);
    finish(request);
    return Status::ok;
}

Status Window::unlock_all(Request* request) noexcept
{
    if (lock_all_ == nullptr) {
        return Status::rma_sync;
    }
    close_epoch(*std::exchange(lock_all_, nullptr), request);
    return Status::ok;
}

} // namespace sidelight::rma
