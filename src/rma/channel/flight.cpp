// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/flight.hpp"

#include <algorithm>
#include <new>

namespace sidelight::rma {

Flight* Flights::take(Op& op, Channel& channel) noexcept
{
    if (free_ == nullptr && !grow()) {
        return nullptr;
    }
    Flight* flight = free_;
    free_ = flight->next;
    const std::uint32_t number = flight->number;
    const std::uint32_t generation = std::max(flight->generation + 1, 1U); // so no name is 0
    *flight = {};
    flight->op = &op;
    flight->channel = &channel;
    flight->number = number;
    flight->generation = generation;
    return flight;
}

void Flights::give_back(Flight& flight) noexcept
{
    flight.op = nullptr;
    flight.next = free_;
    free_ = &flight;
}

Flight* Flights::find(std::uint64_t name, const Channel& channel) noexcept
{
    const auto number = static_cast<std::uint32_t>(name);
    if (number / slab_flights >= slabs_.size()) {
        return nullptr;
    }
    Flight& flight = slabs_[number / slab_flights][number % slab_flights];
    const bool right = flight.op != nullptr && flight.generation == name >> 32;
    return right && flight.channel == &channel ? &flight : nullptr;
}

bool Flights::grow() noexcept
{
    try {
        slabs_.push_back(std::make_unique<Flight[]>(slab_flights));
    } catch (const std::bad_alloc&) {
        return false;
    }
    for (std::size_t index = 0; index < slab_flights; ++index) {
        Flight& flight = slabs_.back()[index];
        flight.number = static_cast<std::uint32_t>((slabs_.size() - 1) * slab_flights + index);
        give_back(flight);
    }
    return true;
}

} // namespace sidelight::rma
