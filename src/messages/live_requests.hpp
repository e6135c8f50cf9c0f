// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/pool.hpp"

namespace sidelight::messages {

/// A request of the host's, as a number. The host gives the same one again once it is free.
using Handle = std::uintptr_t;

/// The large requests that the program has: those under way, and persistent ones between. Whoever
/// hands a request out says so before the program has it, and whoever has completed or freed one
/// before the program goes on; so a handle in here is one that the host knows.
///
/// Changed by threads of the program, which are in MPI then, under a lock; `look` is for a thread
/// that knows that none of them is, and takes none.
class LiveRequests {
public:
    /// Tells a request from an earlier one of the same handle. None: not in here.
    using Serial = std::uint64_t;
    static constexpr Serial none = 0;

    struct Traits {
        bool persistent = false;
        bool barring = false; ///< while it is live, the host must get no step
    };

    /// The host has handed it out. What had that handle before is gone. Where memory has run out it
    /// is not looked after.
    void hand_out(Handle handle, Traits traits, bool started) noexcept;
    /// A persistent one was started, under a handle that may be another one from now on.
    void start(Handle before, Serial serial, Handle after) noexcept;

    /// Costs a load while there is nothing in here.
    [[nodiscard]] Serial find(Handle handle) noexcept;
    /// The latest that was handed out.
    [[nodiscard]] Serial newest() const noexcept { return newest_.load(std::memory_order_relaxed); }
    /// For each of the handles `handle_at(0)` to `handle_at(count - 1)` that is in here, and was
    /// handed out no later than `newest`, in this order, `found(index, handle, serial)`, which must
    /// not call back, answers whether it stays.
    template <class HandleAt, class Found>
    void find_each(int count, Serial newest, HandleAt handle_at, Found found) noexcept
    {
        const std::scoped_lock lock(mutex_);
        for (int index = 0; index < count; ++index) {
            Entry* const entry = entry_of(handle_at(index), none);
            const bool was_here = entry != nullptr && entry->serial <= newest;
            if (was_here && !found(index, entry->handle, entry->serial)) [[unlikely]] {
                remove(*entry);
            }
        }
    }
    /// It has been completed, and is freed unless it is persistent.
    void complete(Handle handle, Serial serial) noexcept;
    /// It has been seen to be complete; the program has it as before.
    void found_complete(Handle handle, Serial serial) noexcept;
    /// The program has it no more.
    void forget(Handle handle, Serial serial) noexcept;
    void forget_all() noexcept;

    [[nodiscard]] bool empty() const noexcept
    {
        return known_.load(std::memory_order_relaxed) == 0;
    }
    /// Those under way. Sequentially consistent, against a thread that is about to sleep.
    [[nodiscard]] unsigned live() const noexcept { return live_.load(std::memory_order_seq_cst); }
    [[nodiscard]] unsigned live_barring() const noexcept
    {
        return live_barring_.load(std::memory_order_relaxed);
    }

    /// Asks of the ones under way, each in its turn, by `is_complete(handle)`, until
    /// one is not or `most` were asked. Answers how many were found complete; they are live no
    /// more.
    template <class IsComplete>
    unsigned look(unsigned most, IsComplete is_complete) noexcept
    {
        unsigned found = 0;
        while (found < most && next_ != nullptr) {
            Entry& entry = *next_;
            next_ = entry.later;
            if (!is_complete(entry.handle)) {
                break;
            }
            end_life(entry);
            ++found;
        }
        return found;
    }

private:
    struct Entry {
        Entry* next = nullptr; ///< in its bucket, or in the pool
        Handle handle = 0;
        Serial serial = none;
        Traits traits;
        Entry* earlier = nullptr; ///< in the ring of those under way; null: it is not
        Entry* later = nullptr;
    };

    [[nodiscard]] std::size_t bucket_of(Handle handle) const noexcept;
    [[nodiscard]] Entry** place_of(Handle handle) noexcept;
    [[nodiscard]] Entry* entry_of(Handle handle, Serial serial) noexcept;
    bool make_room() noexcept;
    void put(Handle handle, Traits traits, bool started) noexcept;
    void begin_life(Entry& entry) noexcept;
    void end_life(Entry& entry) noexcept;
    void remove(Entry& entry) noexcept;

    std::mutex mutex_;
    std::vector<Entry*> buckets_; ///< a power of two, or none
    Pool<Entry> pool_;
    Entry* next_ = nullptr; ///< of the ring, whose turn it is; null: it is empty
    std::atomic<Serial> newest_ = none;
    std::atomic<unsigned> known_{0};
    std::atomic<unsigned> live_{0};
    std::atomic<unsigned> live_barring_{0};
};

} // namespace sidelight::messages
