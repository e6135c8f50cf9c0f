// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "api/entry.hpp"
#include "base/settings.hpp"
#include "host/allocated/allocated_memory.hpp"
#include "host/allocated/block_sizes.hpp"
#include "host/allocated/huge_pages.hpp"
#include "host/memory_limit.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/fit.hpp"
#include "host/mpi/table.hpp"
#include "runtime/life.hpp"

/// Memory that MPI hands out (MPI-4.1, 9.2): shared from its birth, so that windows on it are
/// mapped by the other processes of the node. See docs/design/user-memory.md.
using namespace sidelight;
using host::allocated::AllocatedMemory;
using host::mpi::table;

namespace {

/// Intel MPI asks the kernel for huge pages in its MPI_Alloc_mem.
bool host_advises_huge_pages() noexcept
{
    return host::mpi::host_family() == host::mpi::Family::intel;
}

/// How a block is wanted.
struct Wish {
    SharePolicy policy = settings().share_memory;
    std::size_t alignment = host::allocated::least_block;
};

/// Takes over one key. False if the value is not for us.
bool take_over(std::string_view key, const char* value, Wish& wish) noexcept
{
    if (key == "sidelight_share_memory") {
        wish.policy = share_policy(value, wish.policy);
        return true;
    }
    if (key == "mpi_minimum_memory_alignment") {
        const std::optional<std::size_t> bytes = minimum_alignment(value);
        wish.alignment = std::max(wish.alignment, bytes.value_or(1));
        return bytes.has_value();
    }
    return key == "alloc_shm"; // MPICH's wish for what this is anyway
}

/// Not set where the keys ask for something that only the host knows, as for memory of a kind.
std::optional<Wish> wish_of(MPI_Info info) noexcept
{
    Wish wish;
    int keys = 0;
    if (info == MPI_INFO_NULL) {
        return wish;
    }
    if (table().Info_get_nkeys(info, &keys) != MPI_SUCCESS) {
        return std::nullopt;
    }
    for (int i = 0; i < keys; ++i) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        std::array<char, 64> value{};
        int found = 0;
        if (table().Info_get_nthkey(info, i, key.data()) != MPI_SUCCESS ||
            table().Info_get(info, key.data(), static_cast<int>(value.size()) - 1, value.data(),
                             &found) != MPI_SUCCESS ||
            !take_over(key.data(), value.data(), wish)) {
            return std::nullopt;
        }
    }
    return wish;
}

/// Whether there is anybody who could map it. A program of sessions does not say.
bool has_peers() noexcept
{
    int size = 2;
    if (host::mpi::world_is_up()) {
        table().Comm_size(MPI_COMM_WORLD, &size);
    }
    return size > 1;
}

/// Null where it is for the host to give: also where loads and stores would be slower than in what
/// the host gives, unless the user wants it all the same.
void* allocate(MPI_Aint size, MPI_Info info) noexcept
{
    static const bool overcommits = !host::overcommit_is_strict();
    if (!settings().enable || !overcommits || size <= 0 || !runtime::mpi_is_up() || !has_peers()) {
        return nullptr;
    }
    const auto bytes = static_cast<std::size_t>(size);
    const std::optional<Wish> wish = wish_of(info);
    if (!wish || wish->policy == SharePolicy::never) {
        return nullptr;
    }
    const auto& system = host::allocated::huge_pages();
    const bool huge =
        host::allocated::would_have_huge_pages(system, bytes, host_advises_huge_pages());
    if (huge && !system.for_shared && wish->policy == SharePolicy::automatic) {
        return nullptr;
    }
    return AllocatedMemory::of_process().allocate(bytes, wish->alignment,
                                                  huge && system.for_shared);
}

} // namespace

SIDELIGHT_OWN int own_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr)
{
    void* block = baseptr != nullptr ? allocate(size, info) : nullptr;
    if (block == nullptr) {
        return table().Alloc_mem(size, info, baseptr);
    }
    *static_cast<void**>(baseptr) = block;
    return MPI_SUCCESS;
}

SIDELIGHT_OWN int own_Free_mem(void* base)
{
    switch (AllocatedMemory::of_process().free(base)) {
    case AllocatedMemory::Freed::yes:
        return MPI_SUCCESS;
    case AllocatedMemory::Freed::not_a_block:
        return host::mpi::answer(Status::base);
    case AllocatedMemory::Freed::not_ours:
        break;
    }
    return table().Free_mem(base);
}

/// From how many bytes on memory of MPI_Alloc_mem stays private under SIDELIGHT_SHARE_MEMORY=auto,
/// because it would lose huge pages; 0: none does. For `sidelight info`.
SIDELIGHT_ENTRY size_t sidelight_allocated_private_from(void)
{
    const auto& system = host::allocated::huge_pages();
    const bool lost = !system.for_shared && host::allocated::would_have_huge_pages(
                                                system, system.bytes, host_advises_huge_pages());
    return lost ? system.bytes : 0;
}
