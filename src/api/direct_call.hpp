// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "api/operation_call.hpp"
#include "base/bytes.hpp"
#include "datatype/mpi/predefined.hpp"
#include "rma/operation/mapped.hpp"

/// Operations that are over in a few nanoseconds: predefined datatypes, mapped memory, an epoch
/// that is granted. Each answers whether it has done it; if not, `issue` finds out why. They take
/// scalars, call nothing and are inlined, so that all is done in registers: the compiler by itself
/// does not inline what has several callers.
namespace sidelight::api::direct {

using datatype::Basic;
using datatype::Layout;

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

/// Where a contiguous operation of `bytes` goes at the target; null: go the long way.
[[nodiscard, gnu::always_inline]] inline std::byte*
block(rma::Window& window, int rank, MPI_Aint displacement, std::int64_t bytes) noexcept
{
    if (bytes <= 0) [[unlikely]] {
        return nullptr;
    }
    std::byte* memory =
        window.mapped().memory(rank, displacement, static_cast<std::uint64_t>(bytes));
    if (memory == nullptr) [[unlikely]] {
        return nullptr;
    }
    window.mapped().made_plain_access();
    return memory;
}

/// A put of 1, 2, 4, 8 or 16 bytes: the one that latency is about.
[[nodiscard, gnu::always_inline]] inline bool put_few(rma::Window& window, const void* from,
                                                      Elements origin, int rank,
                                                      MPI_Aint displacement,
                                                      Elements target) noexcept
{
    const std::int64_t bytes = contiguous_bytes(origin, target);
    std::byte* memory = block(window, rank, displacement, bytes);
    return memory != nullptr && store_few_bytes(memory, from, static_cast<std::uint64_t>(bytes));
}

[[nodiscard, gnu::always_inline]] inline bool get_few(rma::Window& window, void* to,
                                                      Elements origin, int rank,
                                                      MPI_Aint displacement,
                                                      Elements target) noexcept
{
    const std::int64_t bytes = contiguous_bytes(origin, target);
    const std::byte* memory = block(window, rank, displacement, bytes);
    return memory != nullptr && store_few_bytes(to, memory, static_cast<std::uint64_t>(bytes));
}

/// A put of any number of bytes.
[[nodiscard]] inline bool put(rma::Window& window, const void* from, Elements origin, int rank,
                              MPI_Aint displacement, Elements target) noexcept
{
    const std::int64_t bytes = contiguous_bytes(origin, target);
    std::byte* memory = block(window, rank, displacement, bytes);
    if (memory == nullptr) {
        return false;
    }
    store_bytes(memory, from, static_cast<std::uint64_t>(bytes));
    return true;
}

[[nodiscard]] inline bool get(rma::Window& window, void* to, Elements origin, int rank,
                              MPI_Aint displacement, Elements target) noexcept
{
    const std::int64_t bytes = contiguous_bytes(origin, target);
    const std::byte* memory = block(window, rank, displacement, bytes);
    if (memory == nullptr) {
        return false;
    }
    store_bytes(to, memory, static_cast<std::uint64_t>(bytes));
    return true;
}

/// Where one aligned element is at the target; null: go the long way.
[[nodiscard, gnu::always_inline]] inline std::byte*
element(rma::Window& window, int rank, MPI_Aint displacement, std::size_t width) noexcept
{
    if (width == 0) [[unlikely]] {
        return nullptr;
    }
    std::byte* memory = window.mapped().memory(rank, displacement, width);
    const bool aligned = (reinterpret_cast<std::uintptr_t>(memory) & (width - 1)) == 0;
    return aligned ? memory : nullptr;
}

/// Whether it is an integer of the width of a Word, signed or not.
template <class Word>
constexpr bool is_integer(Basic basic) noexcept
{
    return sizeof(Word) == sizeof(std::uint64_t) ? basic == Basic::i64 || basic == Basic::u64
                                                 : basic == Basic::i32 || basic == Basic::u32;
}

template <class Word>
void add_word(void* memory, const void* from, void* result) noexcept
{
    Word value;
    std::memcpy(&value, from, sizeof value);
    if (result == nullptr) {
        __atomic_fetch_add(static_cast<Word*>(memory), value, __ATOMIC_SEQ_CST);
        return;
    }
    const Word old = __atomic_fetch_add(static_cast<Word*>(memory), value, __ATOMIC_SEQ_CST);
    std::memcpy(result, &old, sizeof old);
}

/// One element added to an integer of 8 bytes, the operation that counters are made of.
/// `result`, if not null, gets what was there.
[[nodiscard, gnu::always_inline]] inline bool add(rma::Window& window, const void* from,
                                                  void* result, MPI_Datatype type, int rank,
                                                  MPI_Aint displacement, MPI_Op op) noexcept
{
    const Layout* layout = datatype::layout_of_predefined(type);
    std::byte* memory = element(window, rank, displacement, sizeof(std::uint64_t));
    if (op != MPI_SUM || layout == nullptr || !is_integer<std::uint64_t>(layout->basic) ||
        memory == nullptr) [[unlikely]] {
        return false;
    }
    window.mapped().made_atomic_access();
    const rma::ElementAccess access = window.mapped().element(rank);
    add_word<std::uint64_t>(memory, from, result);
    return true;
}

/// One element of any predefined type combined with what is at the target, in one atomic access.
[[nodiscard]] inline bool accumulate(rma::Window& window, const void* from, void* result,
                                     MPI_Datatype type, int rank, MPI_Aint displacement,
                                     MPI_Op op) noexcept
{
    const Layout* layout = datatype::layout_of_predefined(type);
    if (layout == nullptr) {
        return false;
    }
    const std::size_t width = datatype::shape_of(layout->basic).atomic;
    std::byte* memory = element(window, rank, displacement, width);
    rma::ReduceOp reduce = rma::ReduceOp::sum;
    if (memory == nullptr || !find_reduce_op(op, reduce)) {
        return false;
    }
    rma::ReductionKernel* kernel = rma::reduction(reduce, layout->basic).atomic;
    if (kernel == nullptr) {
        return false;
    }
    window.mapped().made_atomic_access();
    const rma::ElementAccess access = window.mapped().element(rank);
    kernel(memory, from, result, 1);
    return true;
}

template <class Word>
[[nodiscard, gnu::always_inline]] inline bool
compare_and_swap_word(rma::Window& window, const void* from, const void* compare, void* result,
                      int rank, MPI_Aint displacement) noexcept
{
    std::byte* memory = element(window, rank, displacement, sizeof(Word));
    if (memory == nullptr) [[unlikely]] {
        return false;
    }
    Word old;
    Word desired;
    std::memcpy(&old, compare, sizeof old);
    std::memcpy(&desired, from, sizeof desired);
    window.mapped().made_atomic_access();
    const rma::ElementAccess access = window.mapped().element(rank);
    __atomic_compare_exchange_n(reinterpret_cast<Word*>(memory), &old, desired, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    std::memcpy(result, &old, sizeof old);
    return true;
}

/// Integers of 8 and 4 bytes; the others go the long way.
[[nodiscard, gnu::always_inline]] inline bool
compare_and_swap(rma::Window& window, const void* from, const void* compare, void* result,
                 MPI_Datatype type, int rank, MPI_Aint displacement) noexcept
{
    const Layout* layout = datatype::layout_of_predefined(type);
    if (layout != nullptr && is_integer<std::uint64_t>(layout->basic)) [[likely]] {
        return compare_and_swap_word<std::uint64_t>(window, from, compare, result, rank,
                                                    displacement);
    }
    return layout != nullptr && is_integer<std::uint32_t>(layout->basic) &&
           compare_and_swap_word<std::uint32_t>(window, from, compare, result, rank, displacement);
}

} // namespace sidelight::api::direct
