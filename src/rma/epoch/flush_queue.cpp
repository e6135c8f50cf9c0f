// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/flush_queue.hpp"

#include <new>
#include <utility>

#include "rma/rules.hpp"

namespace sidelight::rma {

bool FlushQueue::grow() noexcept
{
    constexpr std::uint32_t least = 16;
    const std::uint32_t room = room_ == 0 ? least : 2 * room_;
    std::unique_ptr<Place[]> places(new (std::nothrow) Place[room]);
    if (places == nullptr) {
        return false;
    }
    for (std::uint32_t index = 0; index < waiting(); ++index) {
        places[(first_ + index) & (room - 1)] = place(index);
    }
    places_ = std::move(places);
    room_ = room;
    return true;
}

void FlushQueue::push(Flush& flush, std::uint64_t stamp, std::uint32_t operations) noexcept
{
    place(waiting()) = {.flush = &flush,
                        .stamp = stamp,
                        .operations = operations - operations_,
                        .failure = Status::ok,
                        .told_before = 0};
    ++end_;
    operations_ = operations;
}

/// The first whose stamp covers it, found by halving.
bool FlushQueue::count_down(std::uint64_t age, Status failure) noexcept
{
    std::uint32_t from = 0;
    std::uint32_t to = waiting();
    while (from != to) {
        const std::uint32_t middle = from + (to - from) / 2;
        const bool covers = rules::flush_waits_for(age, place(middle).stamp);
        (covers ? to : from) = covers ? middle : middle + 1;
    }
    if (from == waiting()) {
        return false;
    }
    Place& found = place(from);
    --found.operations;
    --operations_;
    if (failure != Status::ok) {
        tell(found, failure, end_);
    }
    return true;
}

/// Of two failures it tells the one that more flushes have to tell: all have waited for that one.
void FlushQueue::tell(Place& place, Status failure, std::uint32_t before) noexcept
{
    if (place.failure == Status::ok || static_cast<std::int32_t>(before - place.told_before) >= 0) {
        place.failure = failure;
        place.told_before = before;
    }
}

/// What it has to tell is handed on to those that have waited for the same operation.
Flush& FlushQueue::take_first() noexcept
{
    const Place over = place(0);
    ++first_;
    if (waiting() == 0 && room_ > most_kept) {
        places_.reset();
        room_ = 0;
    }
    if (over.failure != Status::ok) [[unlikely]] {
        over.flush->status = over.failure;
        if (over.told_before != first_) {
            tell(place(0), over.failure, over.told_before);
        }
    }
    return *over.flush;
}

} // namespace sidelight::rma
