// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "datatype/layout.hpp"
#include "host/mpi/handle_bits.hpp"

namespace sidelight::datatype {

/// The predefined datatypes of the host, each in a slot of its own: the multiplier was chosen so.
struct PredefinedTable {
    static constexpr unsigned bits = 10;
    struct Slot {
        MPI_Datatype type{};
        std::uint32_t contiguous = 0; ///< bytes of one element; 0 where the type has holes
        const Layout* layout = nullptr;
    };
    std::uint64_t multiplier = 0;
    std::array<Slot, std::size_t{1} << bits> slots{};

    [[nodiscard]] std::size_t index_of(MPI_Datatype type) const noexcept
    {
        return (host::mpi::bits_of(type) * multiplier) >> (64 - bits);
    }
};

/// An empty table until `register_predefined` has been called. Written once, with release, when the
/// table that it points at is complete.
extern std::atomic<const PredefinedTable*> predefined_table;

/// Asks the host for its predefined types, the first time that it is called. The host must be
/// initialised. Any thread may call it; may throw std::bad_alloc.
void register_predefined();

/// Adds a predefined type that is not among the standard's own, such as those of one host and those
/// that MPI_Type_create_f90_real makes. Null if none of the known types of its `combiner` or its
/// name has the size that the host says, and the type has holes. One thread at a time; may throw.
const Layout* register_further(MPI_Datatype type, int combiner);

/// Forgets those: MPI ends, and may give their handles to others when it begins again. Under the
/// same lock.
void forget_further() noexcept;

/// The bytes of one element of a predefined type without holes, in a few ns; 0 for all others, and
/// before `register_predefined`.
[[nodiscard]] inline std::uint64_t contiguous_size(MPI_Datatype type) noexcept
{
    const PredefinedTable& table = *predefined_table.load(std::memory_order_acquire);
    const PredefinedTable::Slot& slot = table.slots[table.index_of(type)];
    if (slot.type != type) [[unlikely]] {
        return 0;
    }
    return slot.contiguous;
}

/// The layout of a predefined type, in a few ns. Null for all others, and for every type before
/// `register_predefined`: then ask `layout_of` (datatype/mpi/cache.hpp).
[[nodiscard]] inline const Layout* layout_of_predefined(MPI_Datatype type) noexcept
{
    const PredefinedTable& table = *predefined_table.load(std::memory_order_acquire);
    const PredefinedTable::Slot& slot = table.slots[table.index_of(type)];
    return slot.type == type ? slot.layout : nullptr;
}

} // namespace sidelight::datatype
