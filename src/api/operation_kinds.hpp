// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>
#include <type_traits>

#include "api/direct_accumulate.hpp"
#include "api/direct_call.hpp"
#include "api/operation_call.hpp"
#include "base/cpu.hpp"
#include "rma/operation/ordered_access.hpp"

/// What each row of operations.def does, by functions that take the arguments of the call:
/// `at_once` and, when that has refused, `directly` perform it in some nanoseconds if they can and
/// answer whether they have; `describe` is for the long way.
namespace sidelight::api {

using rma::OperationKind;

[[nodiscard]] inline bool is_one(MPI_Count count, MPI_Datatype elements, MPI_Datatype type) noexcept
{
    return count == 1 && elements == type;
}

struct PutCall {
    [[gnu::always_inline]] static bool at_once(rma::Mapped& mapped, const void* origin,
                                               MPI_Count origin_count, MPI_Datatype origin_type,
                                               int target, MPI_Aint displacement, MPI_Count count,
                                               MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return direct::put_few(mapped, origin, {origin_count, origin_type}, target, displacement,
                               {count, type});
    }
    static bool directly(rma::Mapped& mapped, const void* origin, MPI_Count origin_count,
                         MPI_Datatype origin_type, int target, MPI_Aint displacement,
                         MPI_Count count, MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return direct::put(mapped, origin, {origin_count, origin_type}, target, displacement,
                           {count, type});
    }
    static OperationCall describe(const void* origin, MPI_Count origin_count,
                                  MPI_Datatype origin_type, int target, MPI_Aint displacement,
                                  MPI_Count count, MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return {
            .kind = OperationKind::put,
            .origin = origin,
            .origin_count = origin_count,
            .origin_type = origin_type,
            .target = target,
            .displacement = displacement,
            .count = count,
            .type = type,
        };
    }
};

struct GetCall {
    [[gnu::always_inline]] static bool at_once(rma::Mapped& mapped, void* origin,
                                               MPI_Count origin_count, MPI_Datatype origin_type,
                                               int target, MPI_Aint displacement, MPI_Count count,
                                               MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return direct::get_few(mapped, origin, {origin_count, origin_type}, target, displacement,
                               {count, type});
    }
    static bool directly(rma::Mapped& mapped, void* origin, MPI_Count origin_count,
                         MPI_Datatype origin_type, int target, MPI_Aint displacement,
                         MPI_Count count, MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return direct::get(mapped, origin, {origin_count, origin_type}, target, displacement,
                           {count, type});
    }
    static OperationCall describe(void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                                  int target, MPI_Aint displacement, MPI_Count count,
                                  MPI_Datatype type, MPI_Win win) noexcept
    {
        OperationCall call = PutCall::describe(origin, origin_count, origin_type, target,
                                               displacement, count, type, win);
        call.kind = OperationKind::get;
        return call;
    }
};

struct AccumulateCall {
    [[gnu::always_inline]] static bool at_once(rma::Mapped& mapped, const void* origin,
                                               MPI_Count origin_count, MPI_Datatype origin_type,
                                               int target, MPI_Aint displacement, MPI_Count count,
                                               MPI_Datatype type, MPI_Op op,
                                               MPI_Win /*win*/) noexcept
    {
        return count == 1 && is_one(origin_count, origin_type, type) &&
               direct::add(mapped, origin, nullptr, type, target, displacement, op);
    }
    static bool directly(rma::Mapped& mapped, const void* origin, MPI_Count origin_count,
                         MPI_Datatype origin_type, int target, MPI_Aint displacement,
                         MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win /*win*/) noexcept
    {
        return op != MPI_NO_OP && origin_count == count && origin_type == type &&
               direct::accumulate(mapped, origin, nullptr, count, type, target, displacement, op);
    }
    static OperationCall describe(const void* origin, MPI_Count origin_count,
                                  MPI_Datatype origin_type, int target, MPI_Aint displacement,
                                  MPI_Count count, MPI_Datatype type, MPI_Op op,
                                  MPI_Win win) noexcept
    {
        OperationCall call = PutCall::describe(origin, origin_count, origin_type, target,
                                               displacement, count, type, win);
        call.kind = OperationKind::accumulate;
        call.op = op;
        return call;
    }
};

struct GetAccumulateCall {
    [[gnu::always_inline]] static bool
    at_once(rma::Mapped& mapped, const void* origin, MPI_Count origin_count,
            MPI_Datatype origin_type, void* result, MPI_Count result_count,
            MPI_Datatype result_type, int target, MPI_Aint displacement, MPI_Count count,
            MPI_Datatype type, MPI_Op op, MPI_Win /*win*/) noexcept
    {
        return result != nullptr && count == 1 && is_one(origin_count, origin_type, type) &&
               is_one(result_count, result_type, type) &&
               direct::add(mapped, origin, result, type, target, displacement, op);
    }
    static bool directly(rma::Mapped& mapped, const void* origin, MPI_Count origin_count,
                         MPI_Datatype origin_type, void* result, MPI_Count result_count,
                         MPI_Datatype result_type, int target, MPI_Aint displacement,
                         MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win /*win*/) noexcept
    {
        return result != nullptr && result_count == count && result_type == type &&
               (op == MPI_NO_OP || (origin_count == count && origin_type == type)) &&
               direct::accumulate(mapped, origin, result, count, type, target, displacement, op);
    }
    static OperationCall describe(const void* origin, MPI_Count origin_count,
                                  MPI_Datatype origin_type, void* result, MPI_Count result_count,
                                  MPI_Datatype result_type, int target, MPI_Aint displacement,
                                  MPI_Count count, MPI_Datatype type, MPI_Op op,
                                  MPI_Win win) noexcept
    {
        OperationCall call = AccumulateCall::describe(origin, origin_count, origin_type, target,
                                                      displacement, count, type, op, win);
        call.fetches = true;
        call.result = result;
        call.result_count = result_count;
        call.result_type = result_type;
        return call;
    }
};

/// Whether on its shortest way an operation stays behind all before it without a barrier: a store
/// does on some processors, and there so does each read-modify-write, which is one.
template <class Operation>
inline constexpr bool orders_itself =
    !std::is_same_v<Operation, GetCall> && (stores_stay_in_order && rmw_is_barrier);

/// On the direct path, before an operation: in an ordered window those before it come first.
template <class Operation>
void order_before(const WindowObject& object) noexcept
{
    constexpr bool stores_alone =
        std::is_same_v<Operation, PutCall> || std::is_same_v<Operation, AccumulateCall>;
    if (object.ordered) {
        rma::order_own_access(*object.mapped, stores_alone);
    }
}

/// The window is the last argument.
template <class... Arguments>
[[nodiscard]] MPI_Win window_among(const Arguments&... arguments) noexcept
{
    return std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
}

} // namespace sidelight::api
