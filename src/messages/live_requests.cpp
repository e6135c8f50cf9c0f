// SPDX-License-Identifier: BSD-3-Clause
#include "messages/live_requests.hpp"

#include <new>

namespace sidelight::messages {

namespace {

constexpr std::size_t first_buckets = 64;

} // namespace

void LiveRequests::hand_out(Handle handle, Traits traits, bool started) noexcept
{
    const std::scoped_lock lock(mutex_);
    put(handle, traits, started);
}

void LiveRequests::start(Handle before, Serial serial, Handle after) noexcept
{
    const std::scoped_lock lock(mutex_);
    Entry* entry = entry_of(before, serial);
    if (entry == nullptr) {
        return;
    }
    if (before == after) {
        begin_life(*entry);
        return;
    }
    const Traits traits = entry->traits;
    remove(*entry);
    put(after, traits, true);
}

LiveRequests::Serial LiveRequests::find(Handle handle) noexcept
{
    if (empty()) {
        return none;
    }
    const std::scoped_lock lock(mutex_);
    const Entry* entry = entry_of(handle, none);
    return entry != nullptr ? entry->serial : none;
}

void LiveRequests::complete(Handle handle, Serial serial) noexcept
{
    const std::scoped_lock lock(mutex_);
    if (Entry* entry = entry_of(handle, serial); entry != nullptr) {
        if (entry->traits.persistent) {
            end_life(*entry);
        } else {
            remove(*entry);
        }
    }
}

void LiveRequests::found_complete(Handle handle, Serial serial) noexcept
{
    const std::scoped_lock lock(mutex_);
    if (Entry* entry = serial != none ? entry_of(handle, serial) : nullptr; entry != nullptr) {
        end_life(*entry);
    }
}

void LiveRequests::forget(Handle handle, Serial serial) noexcept
{
    const std::scoped_lock lock(mutex_);
    if (Entry* entry = entry_of(handle, serial); entry != nullptr) {
        remove(*entry);
    }
}

void LiveRequests::forget_all() noexcept
{
    const std::scoped_lock lock(mutex_);
    for (Entry* bucket : buckets_) {
        while (bucket != nullptr) {
            Entry& entry = *bucket;
            bucket = entry.next;
            remove(entry);
        }
    }
}

/// Fibonacci's multiplier: handles are addresses, or small numbers with a kind above them.
std::size_t LiveRequests::bucket_of(Handle handle) const noexcept
{
    const std::uint64_t mixed = handle * UINT64_C(0x9e3779b97f4a7c15);
    return static_cast<std::size_t>(mixed >> 32) & (buckets_.size() - 1);
}

/// Where the pointer to it is; null if it is not in here.
LiveRequests::Entry** LiveRequests::place_of(Handle handle) noexcept
{
    if (buckets_.empty()) {
        return nullptr;
    }
    for (Entry** place = &buckets_[bucket_of(handle)]; *place != nullptr; place = &(*place)->next) {
        if ((*place)->handle == handle) {
            return place;
        }
    }
    return nullptr;
}

/// `none`: whichever has the handle.
LiveRequests::Entry* LiveRequests::entry_of(Handle handle, Serial serial) noexcept
{
    Entry** place = place_of(handle);
    const bool is_it = place != nullptr && (serial == none || (*place)->serial == serial);
    return is_it ? *place : nullptr;
}

/// Twice as many buckets whenever there are as many requests.
bool LiveRequests::make_room() noexcept
{
    const std::size_t count = known_.load(std::memory_order_relaxed);
    if (count < buckets_.size()) {
        return true;
    }
    std::vector<Entry*> old;
    try {
        old.resize(buckets_.empty() ? first_buckets : 2 * buckets_.size());
    } catch (const std::bad_alloc&) {
        return !buckets_.empty();
    }
    old.swap(buckets_);
    for (Entry* first : old) {
        while (first != nullptr) {
            Entry* entry = first;
            first = entry->next;
            Entry*& bucket = buckets_[bucket_of(entry->handle)];
            entry->next = bucket;
            bucket = entry;
        }
    }
    return true;
}

/// Needs the lock, as all below do.
void LiveRequests::put(Handle handle, Traits traits, bool started) noexcept
{
    if (Entry* old = entry_of(handle, none); old != nullptr) {
        remove(*old);
    }
    Entry* entry = make_room() ? pool_.take() : nullptr;
    if (entry == nullptr) {
        return;
    }
    const Serial serial = newest() + 1;
    newest_.store(serial, std::memory_order_relaxed);
    *entry = Entry{.handle = handle, .serial = serial, .traits = traits};
    Entry*& bucket = buckets_[bucket_of(handle)];
    entry->next = bucket;
    bucket = entry;
    known_.store(known_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (started) {
        begin_life(*entry);
    }
}

void LiveRequests::begin_life(Entry& entry) noexcept
{
    if (entry.later != nullptr) {
        return;
    }
    if (next_ == nullptr) {
        entry.earlier = entry.later = next_ = &entry;
    } else {
        entry.later = next_;
        entry.earlier = next_->earlier;
        entry.earlier->later = entry.later->earlier = &entry;
    }
    if (entry.traits.barring) {
        live_barring_.fetch_add(1, std::memory_order_relaxed);
    }
    live_.fetch_add(1, std::memory_order_seq_cst);
}

void LiveRequests::end_life(Entry& entry) noexcept
{
    if (entry.later == nullptr) {
        return;
    }
    if (next_ == &entry) {
        next_ = entry.later != &entry ? entry.later : nullptr;
    }
    entry.earlier->later = entry.later;
    entry.later->earlier = entry.earlier;
    entry.earlier = entry.later = nullptr;
    if (entry.traits.barring) {
        live_barring_.fetch_sub(1, std::memory_order_relaxed);
    }
    live_.fetch_sub(1, std::memory_order_seq_cst);
}

void LiveRequests::remove(Entry& entry) noexcept
{
    end_life(entry);
    Entry** place = place_of(entry.handle);
    *place = entry.next;
    known_.store(known_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    pool_.give_back(&entry);
}

} // namespace sidelight::messages
