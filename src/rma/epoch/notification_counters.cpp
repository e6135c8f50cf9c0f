// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/notification_counters.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "rma/notice_rules.hpp"
#include "rma/region/region_table.hpp"

namespace sidelight::rma {

NotificationCounters::~NotificationCounters()
{
    if (block() != nullptr) {
        memory_.destroy(reinterpret_cast<std::byte*>(block()), where_);
    }
}

Status NotificationCounters::set(std::uint32_t number) noexcept
{
    if (number > NotificationBlock::most) {
        return Status::argument;
    }
    give_up(Status::rma_notification);
    early_.clear();
    if (block() != nullptr) {
        memory_.destroy(reinterpret_cast<std::byte*>(block()), where_);
    }
    std::byte* made =
        number != 0 ? memory_.make(NotificationBlock::bytes(number), where_) : nullptr;
    auto* block = reinterpret_cast<NotificationBlock*>(made);
    if (block != nullptr) {
        block->set_number(number);
    }
    block_.store(block, std::memory_order_release);
    root_.process.store(packed_process(where_.file), std::memory_order_release);
    root_.inode.store(where_.file.inode, std::memory_order_release);
    root_.offset.store(where_.offset, std::memory_order_release);
    root_.number.store(this->number(), std::memory_order_release);
    return this->number() == number ? Status::ok : Status::no_memory;
}

Status NotificationCounters::value(std::uint32_t index, std::uint64_t& found) const noexcept
{
    NotificationBlock* counters = block();
    if (counters == nullptr || index >= counters->number()) {
        return Status::rma_notification;
    }
    found = counters->counter(index).value();
    return Status::ok;
}

Status NotificationCounters::reset(std::uint32_t index, std::uint64_t& found) noexcept
{
    if (index >= number()) {
        return Status::rma_notification;
    }
    NotificationCounter& counter = block()->counter(index);
    const std::uint64_t sum = counter.sum();
    found = sum - counter.base.load(std::memory_order_relaxed);
    counter.base.store(sum, std::memory_order_release);
    if (has_newest() && newest_.index == index &&
        rules::threshold_reached(found, newest_.expected)) {
        finish(std::exchange(newest_, {}).request);
        note_awaited();
    }
    if (auto at = awaited_.find(index); at != awaited_.end()) {
        complete_up_to(found, at->second);
        complete_reached(at); // others may have raised it meanwhile
        note_awaited();
    }
    return Status::ok;
}

Status NotificationCounters::await(std::uint32_t index, std::uint64_t expected,
                                   Request* request) noexcept
{
    if (index >= number()) {
        return Status::rma_notification;
    }
    NotificationCounter& counter = block()->counter(index);
    if (rules::threshold_reached(counter.value(), expected)) {
        finish(request);
        return Status::ok;
    }
    if (has_newest() && !file_newest()) {
        return Status::no_memory;
    }
    newest_ = {index, expected, request};
    note_awaited();
    return Status::ok;
}

/// Among the others, so that who reaches it tells. False: no memory; it stays the newest.
bool NotificationCounters::file_newest() noexcept
{
    const auto [index, expected, request] = newest_;
    NotificationCounter& counter = block()->counter(index);
    try {
        Thresholds waiting{{expected, request}};
        const auto [at, first] = awaited_.try_emplace(index, std::move(waiting));
        if (!first) {
            at->second.push_back({expected, request});
            std::push_heap(at->second.begin(), at->second.end(), is_later);
        }
        await_lowest(counter, at->second);
    } catch (const std::bad_alloc&) {
        return false;
    }
    newest_ = {};
    if (rules::threshold_reached(counter.value(), expected)) {
        block()->mark(index);
    }
    return true;
}

bool NotificationCounters::peek() noexcept
{
    if (!has_newest() ||
        !rules::threshold_reached(block()->counter(newest_.index).value(), newest_.expected)) {
        return false;
    }
    finish(std::exchange(newest_, {}).request);
    note_awaited();
    return true;
}

bool NotificationCounters::complete_up_to(std::uint64_t value, Thresholds& thresholds) noexcept
{
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

/// The barrier is before the caller's next look at the sum.
void NotificationCounters::await_lowest(NotificationCounter& counter,
                                        const Thresholds& thresholds) noexcept
{
    const std::uint64_t base = counter.base.load(std::memory_order_relaxed);
    counter.lowest.store(thresholds.empty() ? 0 : base + thresholds.front().expected,
                         std::memory_order_seq_cst);
    full_barrier();
}

/// Of one counter, and goes on to the next one. Whoever raises it from now on looks for the lowest
/// that is left.
bool NotificationCounters::complete_reached(Awaited::iterator& at) noexcept
{
    NotificationCounter& counter = block()->counter(at->first);
    Thresholds& thresholds = at->second;
    bool any = false;
    do {
        any |= complete_up_to(counter.value(), thresholds);
        await_lowest(counter, thresholds);
    } while (!thresholds.empty() &&
             rules::threshold_reached(counter.value(), thresholds.front().expected));
    at = thresholds.empty() ? awaited_.erase(at) : std::next(at);
    return any;
}

bool NotificationCounters::look() noexcept
{
    bool any = peek();
    // Without memory it is peeked at by every look; a sleep then lasts until its limit.
    static_cast<void>(!has_newest() || file_newest());
    NotificationBlock* counters = block();
    std::uint64_t marked = counters != nullptr ? counters->take_marked() : 0;
    for (; marked != 0; marked &= marked - 1) {
        const auto group = static_cast<std::uint32_t>(std::countr_zero(marked));
        const std::uint32_t end = counters->first_of(group + 1);
        for (auto at = awaited_.lower_bound(counters->first_of(group));
             at != awaited_.end() && at->first < end;) {
            any |= complete_reached(at);
        }
        note_awaited();
    }
    return any;
}

void NotificationCounters::give_up(Status status) noexcept
{
    if (Request* request = std::exchange(newest_, {}).request; request != nullptr) {
        request->status = status;
        finish(request);
    }
    for (const auto& [index, thresholds] : std::exchange(awaited_, {})) {
        block()->counter(index).lowest.store(0, std::memory_order_seq_cst);
        for (const Threshold& threshold : thresholds) {
            threshold.request->status = status;
            finish(threshold.request);
        }
    }
    attention_.set(Reason::notification, false);
}

/// This process sweeps already: it looks at what was reached before the sweep ends.
void NotificationCounters::raise(std::uint32_t index) noexcept
{
    [[maybe_unused]] const bool awaited = block()->raise(index);
}

Status NotificationCounters::serve(Channel& from, const NotifyBody& body) noexcept
{
    if (body.index >= number()) {
        return Status::rma_notification;
    }
    if (body.operation == from.refused) {
        return Status::ok; // its origin has been told
    }
    const std::uint32_t missing = from.zero_copies_taken.missing(body.last_copy, body.zero_copies);
    if (rules::notification_counts(missing)) {
        raise(body.index);
        return Status::ok;
    }
    try {
        std::vector<NotifyBody>& early = early_[&from];
        if (early.size() == Series::span) {
            return Status::other; // more than puts can be under way
        }
        early.push_back(body);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    return Status::ok;
}

void NotificationCounters::let_count(const Channel& from) noexcept
{
    const auto at = early_.find(&from);
    if (at == early_.end()) [[likely]] {
        return;
    }
    std::erase_if(at->second, [&](const NotifyBody& body) {
        const bool counts = rules::notification_counts(
            from.zero_copies_taken.missing(body.last_copy, body.zero_copies));
        if (counts && body.operation != from.refused) {
            raise(body.index);
        }
        return counts;
    });
}

} // namespace sidelight::rma
