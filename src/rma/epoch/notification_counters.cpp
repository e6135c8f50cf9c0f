// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/notification_counters.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "rma/region/region_table.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

NotificationCounters::~NotificationCounters()
{
    if (data_ != nullptr) {
        memory_.destroy(data_, where_);
    }
}

Status NotificationCounters::set(std::uint32_t number) noexcept
{
    if (number > most) {
        return Status::rma_notification;
    }
    give_up(Status::rma_notification);
    early_.clear();
    if (data_ != nullptr) {
        memory_.destroy(data_, where_);
    }
    data_ = number != 0 ? memory_.make(number * sizeof(NotificationCounter), where_) : nullptr;
    set_ = {.number = data_ != nullptr ? number : 0, .generation = set_.generation + 1};
    root_.process.store(packed_process(where_.file), std::memory_order_release);
    root_.inode.store(where_.file.inode, std::memory_order_release);
    root_.offset.store(where_.offset, std::memory_order_release);
    root_.set.store(set_.packed(), std::memory_order_release);
    return set_.number == number ? Status::ok : Status::no_memory;
}

Status NotificationCounters::value(std::uint32_t index, std::uint64_t& found) noexcept
{
    if (index >= set_.number) {
        return Status::rma_notification;
    }
    found = counter(index).load(std::memory_order_acquire);
    return Status::ok;
}

Status NotificationCounters::reset(std::uint32_t index, std::uint64_t& found) noexcept
{
    if (index >= set_.number) {
        return Status::rma_notification;
    }
    found = counter(index).exchange(0, std::memory_order_acq_rel);
    for (Awaited& awaited : awaited_) {
        if (awaited.index == index) {
            complete_reached(awaited, found);
        }
    }
    forget_idle();
    return Status::ok;
}

std::vector<NotificationCounters::Threshold>&
NotificationCounters::thresholds_of(std::uint32_t index)
{
    for (Awaited& awaited : awaited_) {
        if (awaited.index == index) {
            return awaited.thresholds;
        }
    }
    return awaited_.emplace_back(Awaited{.index = index}).thresholds;
}

Status NotificationCounters::await(std::uint32_t index, std::uint64_t expected,
                                   Request* request) noexcept
{
    if (index >= set_.number) {
        return Status::rma_notification;
    }
    if (rules::threshold_reached(counter(index).load(std::memory_order_acquire), expected)) {
        finish(request);
        return Status::ok;
    }
    try {
        std::vector<Threshold>& thresholds = thresholds_of(index);
        thresholds.push_back({expected, request});
        std::push_heap(thresholds.begin(), thresholds.end(), is_later);
    } catch (const std::bad_alloc&) {
        forget_idle();
        return Status::no_memory;
    }
    attention_.set(Reason::notification, true);
    return Status::ok;
}

bool NotificationCounters::complete_reached(Awaited& awaited, std::uint64_t value) noexcept
{
    std::vector<Threshold>& thresholds = awaited.thresholds;
    bool any = false;
    while (!thresholds.empty() && rules::threshold_reached(value, thresholds.front().expected)) {
        Request* request = thresholds.front().request;
        std::pop_heap(thresholds.begin(), thresholds.end(), is_later);
        thresholds.pop_back();
        any = true;
        finish(request);
    }
    return any;
}

void NotificationCounters::forget_idle() noexcept
{
    std::erase_if(awaited_, [](const Awaited& awaited) { return awaited.thresholds.empty(); });
    attention_.set(Reason::notification, !awaited_.empty());
}

bool NotificationCounters::look() noexcept
{
    bool any = false;
    for (Awaited& awaited : awaited_) {
        any |= complete_reached(awaited, counter(awaited.index).load(std::memory_order_acquire));
    }
    if (any) {
        forget_idle();
    }
    return any;
}

void NotificationCounters::give_up(Status status) noexcept
{
    for (const Awaited& awaited : std::exchange(awaited_, {})) {
        for (const Threshold& threshold : awaited.thresholds) {
            threshold.request->status = status;
            finish(threshold.request);
        }
    }
    attention_.set(Reason::notification, false);
}

Status NotificationCounters::serve(Channel& from, const NotifyBody& body) noexcept
{
    if (body.index >= set_.number) {
        return Status::rma_notification;
    }
    const std::uint32_t missing = from.zero_copies_taken.missing(body.last_copy, body.zero_copies);
    if (rules::notification_counts(missing)) {
        raise(body.index);
        return Status::ok;
    }
    const auto waiting = std::count_if(early_.begin(), early_.end(),
                                       [&](const Early& early) { return early.from == &from; });
    if (waiting >= static_cast<std::ptrdiff_t>(Series::span)) {
        return Status::other; // more than puts can be under way
    }
    try {
        early_.push_back({&from, body});
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    return Status::ok;
}

void NotificationCounters::let_count(const Channel& from) noexcept
{
    std::erase_if(early_, [&](const Early& early) {
        const bool counts =
            early.from == &from && rules::notification_counts(from.zero_copies_taken.missing(
                                       early.body.last_copy, early.body.zero_copies));
        if (counts) {
            raise(early.body.index);
        }
        return counts;
    });
}

} // namespace sidelight::rma
