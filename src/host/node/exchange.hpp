// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "host/mpi/declarations.hpp"

namespace sidelight::host::node {

/// Collective: gathers `bytes` from each member, in rank order. Answers whether it worked.
[[nodiscard]] bool gather(MPI_Comm comm, const void* mine, void* all, std::size_t bytes) noexcept;

/// Collective: whether all members say yes.
[[nodiscard]] bool agree(MPI_Comm comm, bool mine) noexcept;

/// Collective: everybody's `mine`, in rank order, to `all`, which has room for them: made before,
/// since who runs out of memory here leaves the others waiting. Answers whether it worked.
template <class T>
[[nodiscard]] bool exchange(MPI_Comm comm, const T& mine, std::vector<T>& all) noexcept
{
    static_assert(std::is_trivially_copyable_v<T>);
    return gather(comm, &mine, all.data(), sizeof(T));
}

} // namespace sidelight::host::node
