// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "api/operation_call.hpp"
#include "base/bytes.hpp"
#include "datatype/mpi/predefined.hpp"
#include "rma/direct_path.hpp"

/// Operations that are over in a few nanoseconds: predefined datatypes, mapped memory, an epoch
/// that is granted. Each answers whether it has done it; if not, `issue` finds out why.
namespace sidelight::api::direct {

/// `count` elements of one predefined type on one side, another on the other, the same bytes.
/// Counts that a multiplication could carry away, negative ones among them, go the long way.
[[nodiscard]] inline bool contiguous_bytes(const OperationCall& call, std::uint64_t& bytes) noexcept
{
    constexpr unsigned safe_bits = 48;
    const auto* target = datatype::layout_of_predefined(call.type);
    const auto* origin =
        call.origin_type == call.type ? target : datatype::layout_of_predefined(call.origin_type);
    if (target == nullptr || origin == nullptr || !target->contiguous || !origin->contiguous) {
        return false;
    }
    const auto target_count = static_cast<std::uint64_t>(call.count);
    const auto origin_count = static_cast<std::uint64_t>(call.origin_count);
    bytes = target_count * target->size;
    return ((target_count | origin_count) >> safe_bits) == 0 &&
           bytes == origin_count * origin->size;
}

[[nodiscard]] inline bool put(rma::Window& window, const OperationCall& call) noexcept
{
    std::uint64_t bytes = 0;
    if (!contiguous_bytes(call, bytes)) {
        return false;
    }
    std::byte* memory = rma::Direct::memory(window, call.target, call.displacement, bytes);
    if (memory == nullptr) {
        return false;
    }
    store_bytes(memory, call.origin, bytes);
    rma::Direct::made_plain_access(window);
    return true;
}

[[nodiscard]] inline bool get(rma::Window& window, const OperationCall& call) noexcept
{
    std::uint64_t bytes = 0;
    if (!contiguous_bytes(call, bytes)) {
        return false;
    }
    const std::byte* memory = rma::Direct::memory(window, call.target, call.displacement, bytes);
    if (memory == nullptr) {
        return false;
    }
    store_bytes(const_cast<void*>(call.origin), memory, bytes);
    rma::Direct::made_plain_access(window);
    return true;
}

/// Where one aligned element of a predefined type is at the target; null: go the long way.
[[nodiscard]] inline std::byte* element(rma::Window& window, const OperationCall& call,
                                        const datatype::Layout& layout) noexcept
{
    const std::size_t width = datatype::shape_of(layout.basic).atomic;
    std::byte* memory = rma::Direct::memory(window, call.target, call.displacement, width);
    const bool aligned = (reinterpret_cast<std::uintptr_t>(memory) & (width - 1)) == 0;
    return width != 0 && aligned ? memory : nullptr;
}

/// Accumulate, get_accumulate and fetch_and_op of one element, the same type on all sides.
[[nodiscard]] inline bool accumulate(rma::Window& window, const OperationCall& call) noexcept
{
    rma::ReduceOp op = rma::ReduceOp::sum;
    if (call.op != MPI_SUM && !find_reduce_op(call.op, op)) {
        return false;
    }
    const auto* layout = datatype::layout_of_predefined(call.type);
    const bool origin_fits =
        op == rma::ReduceOp::no_op || (call.origin_count == 1 && call.origin_type == call.type);
    const bool result_fits =
        !call.fetches || (call.result_count == 1 && call.result_type == call.type);
    if (layout == nullptr || call.count != 1 || !origin_fits || !result_fits) {
        return false;
    }
    rma::ReductionKernel* kernel = rma::reduction(op, layout->basic).atomic;
    std::byte* memory = element(window, call, *layout);
    if (kernel == nullptr || memory == nullptr) {
        return false;
    }
    kernel(memory, call.origin, call.fetches ? call.result : nullptr, 1);
    rma::Direct::made_atomic_access(window);
    return true;
}

/// Where the word is equal to what was compared, it is exchanged; what was there is the result.
template <class Word>
void compare_and_swap_word(void* memory, const OperationCall& call) noexcept
{
    Word expected;
    Word desired;
    std::memcpy(&expected, call.compare, sizeof expected);
    std::memcpy(&desired, call.origin, sizeof desired);
    __atomic_compare_exchange_n(static_cast<Word*>(memory), &expected, desired, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    std::memcpy(call.result, &expected, sizeof expected);
}

[[nodiscard]] inline bool compare_and_swap(rma::Window& window, const OperationCall& call) noexcept
{
    const auto* layout = datatype::layout_of_predefined(call.type);
    if (layout == nullptr || !rma::can_compare_and_swap(layout->basic) ||
        (layout->size != sizeof(std::uint64_t) && layout->size != sizeof(std::uint32_t))) {
        return false;
    }
    std::byte* memory = element(window, call, *layout);
    if (memory == nullptr) {
        return false;
    }
    if (layout->size == sizeof(std::uint64_t)) {
        compare_and_swap_word<std::uint64_t>(memory, call);
    } else {
        compare_and_swap_word<std::uint32_t>(memory, call);
    }
    rma::Direct::made_atomic_access(window);
    return true;
}

} // namespace sidelight::api::direct
