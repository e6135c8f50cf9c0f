// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "api/operation_call.hpp"
#include "base/bytes.hpp"
#include "base/last_access.hpp"
#include "datatype/mpi/predefined.hpp"
#include "rma/operation/mapped.hpp"

/// Operations that are over in a few nanoseconds: predefined datatypes, mapped memory, an epoch
/// that is granted. Each answers whether it has done it; if not, `issue` finds out why. They take
/// scalars, call nothing and are inlined, so that all is done in registers: the compiler by itself
/// does not inline what has several callers.
namespace sidelight::api::direct {

/// `count` elements of a predefined type at the target.
struct Elements {
    MPI_Count count;
    MPI_Datatype type;
};

/// The bytes of an operation whose sides are both contiguous and predefined; 0 or less for all
/// others, and for those that move nothing.
[[nodiscard, gnu::always_inline]] inline std::int64_t contiguous_bytes(Elements origin,
                                                                       Elements target) noexcept
{
    const auto size = static_cast<std::int64_t>(datatype::contiguous_size(target.type));
    const std::int64_t count = target.count;
    const std::int64_t other_count = origin.count;
    std::int64_t bytes = 0;
    std::int64_t other_bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) [[unlikely]] {
        return 0;
    }
    if (origin.type == target.type) [[likely]] {
        return count == other_count ? bytes : 0;
    }
    const auto other_size = static_cast<std::int64_t>(datatype::contiguous_size(origin.type));
    const bool equal =
        !__builtin_mul_overflow(other_count, other_size, &other_bytes) && bytes == other_bytes;
    return equal ? bytes : 0;
}

/// Where a contiguous operation of `bytes` between here and `own` goes at the target; null: go the
/// long way.
[[nodiscard, gnu::always_inline]] inline std::byte* block(rma::Mapped& mapped, const void* own,
                                                          int rank, MPI_Aint displacement,
                                                          std::int64_t bytes) noexcept
{
    if (bytes <= 0 || own == nullptr) [[unlikely]] {
        return nullptr;
    }
    std::byte* memory = mapped.memory(rank, displacement, static_cast<std::uint64_t>(bytes));
    if (memory == nullptr) [[unlikely]] {
        return nullptr;
    }
    mapped.made_plain_access();
    return memory;
}

/// After a fetch of so many bytes that has changed nothing. Those that programs poll have 4 or 8.
inline void note_fetch(const std::byte* place, const void* found, std::uint64_t bytes) noexcept
{
    std::uint64_t word = 0;
    std::uint32_t half = 0;
    if (bytes == sizeof word) [[likely]] {
        std::memcpy(&word, found, sizeof word);
        LastAccess::fetched(place, word);
    } else if (bytes == sizeof half) {
        std::memcpy(&half, found, sizeof half);
        LastAccess::fetched(place, half);
    } else {
        LastAccess::moved();
    }
}

/// A put of 1, 2, 4, 8 or 16 bytes: the one that latency is about.
[[nodiscard, gnu::always_inline]] inline bool put_few(rma::Mapped& mapped, const void* from,
                                                      Elements origin, int rank,
                                                      MPI_Aint displacement,
                                                      Elements target) noexcept
{
    const std::int64_t bytes = contiguous_bytes(origin, target);
    std::byte* memory = block(mapped, from, rank, displacement, bytes);
    LastAccess::moved();
    return memory != nullptr && store_few_bytes(memory, from, static_cast<std::uint64_t>(bytes));
}

[[nodiscard, gnu::always_inline]] inline bool get_few(rma::Mapped& mapped, void* to,
                                                      Elements origin, int rank,
                                                      MPI_Aint displacement,
                                                      Elements target) noexcept
{
    const std::int64_t bytes = contiguous_bytes(origin, target);
    const std::byte* memory = block(mapped, to, rank, displacement, bytes);
    if (memory == nullptr || !store_few_bytes(to, memory, static_cast<std::uint64_t>(bytes)))
        [[unlikely]] {
        return false;
    }
    note_fetch(memory, to, static_cast<std::uint64_t>(bytes));
    return true;
}

/// Whether an operation on predefined types moves nothing, and is allowed. One at the end of the
/// memory is for the long way.
[[nodiscard]] inline bool is_empty(rma::Mapped& mapped, Elements origin, int rank,
                                   MPI_Aint displacement, Elements target) noexcept
{
    return origin.count == 0 && target.count == 0 && datatype::contiguous_size(origin.type) != 0 &&
           datatype::contiguous_size(target.type) != 0 &&
           mapped.memory(rank, displacement, 1) != nullptr;
}

/// A put of any number of bytes.
[[nodiscard]] inline bool put(rma::Mapped& mapped, const void* from, Elements origin, int rank,
                              MPI_Aint displacement, Elements target) noexcept
{
    const std::int64_t bytes = contiguous_bytes(origin, target);
    std::byte* memory = block(mapped, from, rank, displacement, bytes);
    if (memory == nullptr) {
        return is_empty(mapped, origin, rank, displacement, target);
    }
    LastAccess::moved();
    store_bytes(memory, from, static_cast<std::uint64_t>(bytes));
    return true;
}

[[nodiscard]] inline bool get(rma::Mapped& mapped, void* to, Elements origin, int rank,
                              MPI_Aint displacement, Elements target) noexcept
{
    const std::int64_t bytes = contiguous_bytes(origin, target);
    const std::byte* memory = block(mapped, to, rank, displacement, bytes);
    if (memory == nullptr) {
        return is_empty(mapped, origin, rank, displacement, target);
    }
    LastAccess::moved();
    store_bytes(to, memory, static_cast<std::uint64_t>(bytes));
    return true;
}

} // namespace sidelight::api::direct
