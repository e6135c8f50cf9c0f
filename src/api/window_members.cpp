// SPDX-License-Identifier: BSD-3-Clause
#include "api/window_members.hpp"

#include <new>
#include <numeric>
#include <utility>

#include "rma/control.hpp"

namespace sidelight::api {

WindowMembers::WindowMembers(host::node::NodeMemory& memory, std::vector<Greeting> greetings,
                             fabric::MappedFabric& fabric)
    : memory_(memory), greetings_(std::move(greetings)), fabric_(fabric), ranks_(greetings_.size())
{
    std::iota(ranks_.begin(), ranks_.end(), 0);
}

void WindowMembers::bring(int rank, std::byte* base, std::size_t size) noexcept
{
    bringer_ = rank;
    brought_ = base;
    brought_size_ = size;
}

Status WindowMembers::find(int rank, rma::Member& found) noexcept
{
    const Greeting& from = greetings_[static_cast<std::size_t>(rank)];
    found.mapped = true;
    found.base = rank == bringer_ ? brought_ : memory_.base(rank);
    found.size = rank == bringer_ ? brought_size_ : memory_.size(rank);
    found.disp_unit = from.disp_unit;
    found.control = reinterpret_cast<rma::Control*>(memory_.control(rank));
    try {
        found.peer = fabric_.meet(from.peer);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    return Status::ok;
}

} // namespace sidelight::api
