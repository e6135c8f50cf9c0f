// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/translated_group.hpp"

#include <algorithm>
#include <new>
#include <numeric>

#include "host/mpi/fortran_handles.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::runtime {

namespace {

using host::mpi::table;

/// A group of more than the window's members has others too. One that has been freed has any size
/// on MPICH.
bool is_within(MPI_Group group, MPI_Group window_group, int& size) noexcept
{
    int members = 0;
    return table().Group_size(group, &size) == MPI_SUCCESS &&
           table().Group_size(window_group, &members) == MPI_SUCCESS && size >= 0 &&
           size <= members;
}

Status translate_ranks(MPI_Group group, MPI_Group window_group, std::vector<int>& ranks)
{
    int size = 0;
    if (group == MPI_GROUP_NULL || !host::mpi::leads_back(group) ||
        !is_within(group, window_group, size)) {
        return Status::group;
    }
    std::vector<int> numbers(static_cast<std::size_t>(size));
    std::iota(numbers.begin(), numbers.end(), 0);
    ranks.assign(numbers.size(), MPI_UNDEFINED);
    if (size > 0 && table().Group_translate_ranks(group, size, numbers.data(), window_group,
                                                  ranks.data()) != MPI_SUCCESS) {
        return Status::group;
    }
    const bool outside = std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) != ranks.end();
    return outside ? Status::group : Status::ok;
}

} // namespace

Status TranslatedGroup::translate(MPI_Group group, MPI_Group window_group,
                                  std::span<const int>& ranks) noexcept
{
    if (!knows(group)) {
        const std::uint64_t generation = freed_groups_.load(std::memory_order_acquire);
        Status status = Status::no_memory;
        try {
            status = translate_ranks(group, window_group, ranks_);
        } catch (const std::bad_alloc&) {
        }
        valid_ = status == Status::ok;
        if (!valid_) {
            return status;
        }
        group_ = group;
        generation_ = generation;
    }
    ranks = ranks_;
    return Status::ok;
}

void TranslatedGroup::forget_all() noexcept
{
    freed_groups_.fetch_add(1, std::memory_order_release);
}

} // namespace sidelight::runtime
