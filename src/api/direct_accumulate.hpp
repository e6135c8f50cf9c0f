// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "api/direct_call.hpp"
#include "api/operation_call.hpp"
#include "base/last_access.hpp"
#include "datatype/mpi/predefined.hpp"
#include "rma/operation/mapped.hpp"

/// Accumulates of predefined types on mapped memory: one element in one atomic access, a row of
/// them under the member's lock. Under the rules of api/direct_call.hpp: each answers whether it
/// has done it.
namespace sidelight::api::direct {

using datatype::Basic;
using datatype::Layout;

/// Whether an element is added that changes nothing. Programs read so what others add to.
[[nodiscard]] inline bool adds_zero(const void* from, std::size_t width, MPI_Op op) noexcept
{
    constexpr std::uint64_t zero = 0;
    return op == MPI_SUM && width <= sizeof zero && std::memcmp(from, &zero, width) == 0;
}

/// Where one aligned element is at the target; null: go the long way.
[[nodiscard, gnu::always_inline]] inline std::byte*
element(rma::Mapped& mapped, int rank, MPI_Aint displacement, std::size_t width) noexcept
{
    if (width == 0) [[unlikely]] {
        return nullptr;
    }
    std::byte* memory = mapped.memory(rank, displacement, width);
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
        LastAccess::moved();
        return;
    }
    const Word old = __atomic_fetch_add(static_cast<Word*>(memory), value, __ATOMIC_SEQ_CST);
    std::memcpy(result, &old, sizeof old);
    LastAccess::fetched(memory, old, value != 0);
}

/// One element added to an integer of 8 bytes, the operation that counters are made of.
/// `result`, if not null, gets what was there.
[[nodiscard, gnu::always_inline]] inline bool add(rma::Mapped& mapped, const void* from,
                                                  void* result, MPI_Datatype type, int rank,
                                                  MPI_Aint displacement, MPI_Op op) noexcept
{
    const Layout* layout = datatype::layout_of_predefined(type);
    std::byte* memory = element(mapped, rank, displacement, sizeof(std::uint64_t));
    if (op != MPI_SUM || from == nullptr || layout == nullptr ||
        !is_integer<std::uint64_t>(layout->basic) || memory == nullptr) [[unlikely]] {
        return false;
    }
    mapped.made_atomic_access();
    const rma::ElementAccess access = mapped.element(rank);
    add_word<std::uint64_t>(memory, from, result);
    return true;
}

/// One element of any predefined type combined with what is at the target, in one atomic access.
[[nodiscard]] inline bool accumulate_element(rma::Mapped& mapped, const void* from, void* result,
                                             MPI_Datatype type, int rank, MPI_Aint displacement,
                                             MPI_Op op) noexcept
{
    const Layout* layout = datatype::layout_of_predefined(type);
    if (layout == nullptr || (from == nullptr && op != MPI_NO_OP)) {
        return false;
    }
    const std::size_t width = datatype::shape_of(layout->basic).atomic;
    std::byte* memory = element(mapped, rank, displacement, width);
    rma::ReduceOp reduce = rma::ReduceOp::sum;
    if (memory == nullptr || !find_reduce_op(op, reduce)) {
        return false;
    }
    rma::ReductionKernel* kernel = rma::reduction(reduce, layout->basic).atomic;
    if (kernel == nullptr) {
        return false;
    }
    mapped.made_atomic_access();
    const rma::ElementAccess access = mapped.element(rank);
    const bool reads = result != nullptr && (op == MPI_NO_OP || adds_zero(from, width, op));
    kernel(memory, from, result, 1);
    note_fetch(memory, result, reads ? width : 0);
    return true;
}

/// A row of elements of a predefined type, by plain instructions: where rows go so already, which
/// is for the long way to find out, and where one hold of the lock is enough.
[[nodiscard]] inline bool accumulate_row(rma::Mapped& mapped, const void* from, void* result,
                                         MPI_Count count, MPI_Datatype type, int rank,
                                         MPI_Aint displacement, MPI_Op op) noexcept
{
    const Layout* layout = datatype::layout_of_predefined(type);
    const auto elements = static_cast<std::uint64_t>(count); // negative: too many
    if (layout == nullptr || !layout->contiguous || elements == 0 ||
        elements > rma::longest_plain_row || (from == nullptr && op != MPI_NO_OP)) {
        return false;
    }
    const std::uint64_t bytes = elements * layout->size;
    if (bytes > rma::longest_plain_row) {
        return false;
    }
    std::byte* memory = mapped.memory(rank, displacement, bytes);
    rma::ReduceOp reduce = rma::ReduceOp::sum;
    if (memory == nullptr || !find_reduce_op(op, reduce)) {
        return false;
    }
    rma::ReductionKernel* kernel = rma::reduction(reduce, layout->basic).row();
    rma::ReaderBiasedLock& rows = mapped.rows(rank);
    if (kernel == nullptr || !rows.enter_closed(bytes)) {
        return false;
    }
    mapped.made_plain_access();
    kernel(memory, from, result, elements);
    LastAccess::moved();
    rows.release();
    return true;
}

/// Whether an accumulate of no element is allowed. One at the end of the memory is for the long
/// way.
[[nodiscard]] inline bool accumulate_nothing(rma::Mapped& mapped, MPI_Datatype type, int rank,
                                             MPI_Aint displacement, MPI_Op op) noexcept
{
    rma::ReduceOp reduce = rma::ReduceOp::sum;
    return datatype::layout_of_predefined(type) != nullptr && find_reduce_op(op, reduce) &&
           mapped.memory(rank, displacement, 1) != nullptr;
}

[[nodiscard]] inline bool accumulate(rma::Mapped& mapped, const void* from, void* result,
                                     MPI_Count count, MPI_Datatype type, int rank,
                                     MPI_Aint displacement, MPI_Op op) noexcept
{
    if (count == 0) {
        return accumulate_nothing(mapped, type, rank, displacement, op);
    }
    return count == 1 ? accumulate_element(mapped, from, result, type, rank, displacement, op)
                      : accumulate_row(mapped, from, result, count, type, rank, displacement, op);
}

template <class Word>
[[nodiscard, gnu::always_inline]] inline bool
compare_and_swap_word(rma::Mapped& mapped, const void* from, const void* compare, void* result,
                      int rank, MPI_Aint displacement) noexcept
{
    std::byte* memory = element(mapped, rank, displacement, sizeof(Word));
    if (memory == nullptr || from == nullptr || compare == nullptr || result == nullptr)
        [[unlikely]] {
        return false;
    }
    Word old;
    Word desired;
    std::memcpy(&old, compare, sizeof old);
    std::memcpy(&desired, from, sizeof desired);
    mapped.made_atomic_access();
    const rma::ElementAccess access = mapped.element(rank);
    const bool swapped = __atomic_compare_exchange_n(reinterpret_cast<Word*>(memory), &old, desired,
                                                     false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    std::memcpy(result, &old, sizeof old);
    LastAccess::fetched(memory, old, swapped);
    return true;
}

/// Integers of 8 and 4 bytes; the others go the long way.
[[nodiscard, gnu::always_inline]] inline bool
compare_and_swap(rma::Mapped& mapped, const void* from, const void* compare, void* result,
                 MPI_Datatype type, int rank, MPI_Aint displacement) noexcept
{
    const Layout* layout = datatype::layout_of_predefined(type);
    if (layout != nullptr && is_integer<std::uint64_t>(layout->basic)) [[likely]] {
        return compare_and_swap_word<std::uint64_t>(mapped, from, compare, result, rank,
                                                    displacement);
    }
    return layout != nullptr && is_integer<std::uint32_t>(layout->basic) &&
           compare_and_swap_word<std::uint32_t>(mapped, from, compare, result, rank, displacement);
}

} // namespace sidelight::api::direct
