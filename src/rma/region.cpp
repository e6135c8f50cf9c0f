// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region.hpp"

#include <new>

namespace sidelight::rma {

namespace {

std::uint64_t address(const std::byte* base) noexcept
{
    return reinterpret_cast<std::uint64_t>(base);
}

} // namespace

Status Regions::attach(const std::byte* base, std::size_t size) noexcept
{
    const std::uint64_t first = address(base);
    const std::uint64_t last = first + size;
    if (last < first) {
        return Status::size;
    }
    const auto after = ends_.upper_bound(first);
    if (after != ends_.end() && after->first < last) {
        return Status::rma_attach;
    }
    if (after != ends_.begin()) {
        const auto before = std::prev(after);
        if (before->second > first || before->first == first) {
            return Status::rma_attach;
        }
    }
    try {
        ends_.emplace(first, last);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    return Status::ok;
}

Status Regions::detach(const std::byte* base) noexcept
{
    return ends_.erase(address(base)) == 1 ? Status::ok : Status::base;
}

bool Regions::covers(std::uint64_t first, std::uint64_t last) const noexcept
{
    auto after = ends_.upper_bound(first);
    if (after == ends_.begin()) {
        return false;
    }
    return std::prev(after)->second >= last;
}

} // namespace sidelight::rma
