// SPDX-License-Identifier: BSD-3-Clause
#include "ranks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <stdexcept>

namespace sidelight::simulate {

void demand(Status status)
{
    if (status != Status::ok) {
        throw std::runtime_error("a call was refused");
    }
}

Block::Block(std::size_t bytes) : bytes_(bytes)
{
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *const found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (found == MAP_FAILED) {
        throw std::bad_alloc();
    }
    first_ = static_cast<std::byte *>(found);
}

Block::~Block() { munmap(first_, bytes_); }

Ranks::Ranks(const Machine& machine, int count, std::size_t bytes, std::uint64_t seed)
    : network(count, machine.costs, seed),
      random(seed),
      count_(count),
      node_(machine.node),
      bytes_((bytes + 63) / 64 * 64),
      control_(rma::Control::bytes(static_cast<std::size_t>(count))),
      controls_(static_cast<std::size_t>(count) * control_),
      memory_(static_cast<std::size_t>(count) * bytes_),
      barriers_(static_cast<std::size_t>((count + node_ - 1) / node_)),
      everybody_(static_cast<std::size_t>(count))
{
    std::iota(everybody_.begin(), everybody_.end(), 0);
    for (int first = 0; first < count; first += node_) {
        leaders_.push_back(first);
    }
    for (int rank = 0; rank < count; ++rank) {
        rma::Control::create(controls_.at(static_cast<std::size_t>(rank) * control_));
        members_.push_back(std::make_unique<Members>(*this, rank));
    }
}

Status Ranks::Members::find(int rank, rma::Member& found) noexcept
{
    found.mapped = rank / ranks.node_ == own / ranks.node_;
    found.size = ranks.bytes_;
    found.disp_unit = unit;
    found.peer = rank;
    found.number = static_cast<std::uint32_t>(rank % ranks.node_);
    if (found.mapped) {
        found.base = ranks.memory(rank);
        found.control = reinterpret_cast<rma::Control *>(
            ranks.controls_.at(static_cast<std::size_t>(rank) * ranks.control_));
    }
    return Status::ok;
}

rma::WindowShape Ranks::shape(int rank, std::uint64_t unit)
{
    const int first = rank / node_ * node_;
    const auto neighbours = static_cast<std::size_t>(std::min(node_, count_ - first));
    const auto node = static_cast<std::uint32_t>(rank / node_);
    Members& members = *members_[static_cast<std::size_t>(rank)];
    members.unit = unit;
    rma::WindowShape shape;
    shape.id = 1;
    shape.rank = rank;
    shape.size = count_;
    shape.members = &members;
    shape.neighbours = std::span(everybody_).subspan(static_cast<std::size_t>(first), neighbours);
    shape.barrier = {.word = &barriers_[node], .node = node, .leaders = leaders_};
    return shape;
}

} // namespace sidelight::simulate
