// SPDX-License-Identifier: BSD-3-Clause
#include "api/direct_call.hpp"
#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"

/// Accumulates (MPI-4.1, 12.3.4): the short way where it is open, else the long one.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::Table;
using rma::OperationKind;

namespace {

bool is_one(direct::Elements elements, MPI_Datatype type) noexcept
{
    return elements.count == 1 && elements.type == type;
}

// The `_slowly` functions are the longer ways, out of line and with the arguments of the call, so
// that the short way keeps them in registers.

template <auto host_function, class Count>
[[gnu::noinline]] int accumulate_slowly(const void* origin, Count origin_count,
                                        MPI_Datatype origin_type, int target, MPI_Aint displacement,
                                        Count count, MPI_Datatype type, MPI_Op op,
                                        MPI_Win win) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<host_function>(win, origin, origin_count, origin_type, target, displacement,
                                      count, type, op, win);
    }
    if (op != MPI_NO_OP && is_one({count, type}, type) &&
        is_one({origin_count, origin_type}, type) &&
        direct::accumulate(*object->window, origin, nullptr, type, target, displacement, op)) {
        return MPI_SUCCESS;
    }
    return issue(*object, {
                              .kind = OperationKind::accumulate,
                              .origin = origin,
                              .origin_count = origin_count,
                              .origin_type = origin_type,
                              .target = target,
                              .displacement = displacement,
                              .count = count,
                              .type = type,
                              .op = op,
                          });
}

template <auto host_function, class Count>
int accumulate(const void* origin, Count origin_count, MPI_Datatype origin_type, int target,
               MPI_Aint displacement, Count count, MPI_Datatype type, MPI_Op op,
               MPI_Win win) noexcept
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && is_one({count, type}, type) &&
        is_one({origin_count, origin_type}, type) &&
        direct::add(*window, origin, nullptr, type, target, displacement, op)) [[likely]] {
        return MPI_SUCCESS;
    }
    return accumulate_slowly<host_function, Count>(origin, origin_count, origin_type, target,
                                                   displacement, count, type, op, win);
}

template <auto host_function, class Count>
[[gnu::noinline]] int get_accumulate_slowly(const void* origin, Count origin_count,
                                            MPI_Datatype origin_type, void* result,
                                            Count result_count, MPI_Datatype result_type,
                                            int target, MPI_Aint displacement, Count count,
                                            MPI_Datatype type, MPI_Op op, MPI_Win win) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<host_function>(win, origin, origin_count, origin_type, result, result_count,
                                      result_type, target, displacement, count, type, op, win);
    }
    if (is_one({count, type}, type) && is_one({result_count, result_type}, type) &&
        (op == MPI_NO_OP || is_one({origin_count, origin_type}, type)) &&
        direct::accumulate(*object->window, origin, result, type, target, displacement, op)) {
        return MPI_SUCCESS;
    }
    return issue(*object, {
                              .kind = OperationKind::accumulate,
                              .origin = origin,
                              .origin_count = origin_count,
                              .origin_type = origin_type,
                              .target = target,
                              .displacement = displacement,
                              .count = count,
                              .type = type,
                              .op = op,
                              .fetches = true,
                              .result = result,
                              .result_count = result_count,
                              .result_type = result_type,
                          });
}

template <auto host_function, class Count>
int get_accumulate(const void* origin, Count origin_count, MPI_Datatype origin_type, void* result,
                   Count result_count, MPI_Datatype result_type, int target, MPI_Aint displacement,
                   Count count, MPI_Datatype type, MPI_Op op, MPI_Win win) noexcept
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && is_one({count, type}, type) &&
        is_one({origin_count, origin_type}, type) && is_one({result_count, result_type}, type) &&
        direct::add(*window, origin, result, type, target, displacement, op)) [[likely]] {
        return MPI_SUCCESS;
    }
    return get_accumulate_slowly<host_function, Count>(origin, origin_count, origin_type, result,
                                                       result_count, result_type, target,
                                                       displacement, count, type, op, win);
}

[[gnu::noinline]] int fetch_and_op_slowly(const void* origin, void* result, MPI_Datatype type,
                                          int target, MPI_Aint displacement, MPI_Op op,
                                          MPI_Win win) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<&Table::Fetch_and_op>(win, origin, result, type, target, displacement, op,
                                             win);
    }
    if (direct::accumulate(*object->window, origin, result, type, target, displacement, op)) {
        return MPI_SUCCESS;
    }
    return issue(*object, {
                              .kind = OperationKind::accumulate,
                              .origin = origin,
                              .origin_count = 1,
                              .origin_type = type,
                              .target = target,
                              .displacement = displacement,
                              .count = 1,
                              .type = type,
                              .op = op,
                              .fetches = true,
                              .result = result,
                              .result_count = 1,
                              .result_type = type,
                              .one_element = true,
                          });
}

[[gnu::noinline]] int compare_and_swap_slowly(const void* origin, const void* compare, void* result,
                                              MPI_Datatype type, int target, MPI_Aint displacement,
                                              MPI_Win win) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<&Table::Compare_and_swap>(win, origin, compare, result, type, target,
                                                 displacement, win);
    }
    return issue(*object, {
                              .kind = OperationKind::compare_and_swap,
                              .origin = origin,
                              .origin_count = 1,
                              .origin_type = type,
                              .target = target,
                              .displacement = displacement,
                              .count = 1,
                              .type = type,
                              .fetches = true,
                              .result = result,
                              .result_count = 1,
                              .result_type = type,
                              .compare = compare,
                              .one_element = true,
                          });
}

} // namespace

SIDELIGHT_ENTRY int MPI_Accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                   int target, MPI_Aint displacement, int count, MPI_Datatype type,
                                   MPI_Op op, MPI_Win win)
{
    return accumulate<&Table::Accumulate>(origin, origin_count, origin_type, target, displacement,
                                          count, type, op, win);
}
SIDELIGHT_PROFILED(Accumulate);

SIDELIGHT_ENTRY int MPI_Accumulate_c(const void* origin, MPI_Count origin_count,
                                     MPI_Datatype origin_type, int target, MPI_Aint displacement,
                                     MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    return accumulate<&Table::Accumulate_c>(origin, origin_count, origin_type, target, displacement,
                                            count, type, op, win);
}
SIDELIGHT_PROFILED(Accumulate_c);

SIDELIGHT_ENTRY int MPI_Get_accumulate(const void* origin, int origin_count,
                                       MPI_Datatype origin_type, void* result, int result_count,
                                       MPI_Datatype result_type, int target, MPI_Aint displacement,
                                       int count, MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    return get_accumulate<&Table::Get_accumulate>(origin, origin_count, origin_type, result,
                                                  result_count, result_type, target, displacement,
                                                  count, type, op, win);
}
SIDELIGHT_PROFILED(Get_accumulate);

SIDELIGHT_ENTRY int MPI_Get_accumulate_c(const void* origin, MPI_Count origin_count,
                                         MPI_Datatype origin_type, void* result,
                                         MPI_Count result_count, MPI_Datatype result_type,
                                         int target, MPI_Aint displacement, MPI_Count count,
                                         MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    return get_accumulate<&Table::Get_accumulate_c>(origin, origin_count, origin_type, result,
                                                    result_count, result_type, target, displacement,
                                                    count, type, op, win);
}
SIDELIGHT_PROFILED(Get_accumulate_c);

SIDELIGHT_ENTRY int MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type,
                                     int target, MPI_Aint displacement, MPI_Op op, MPI_Win win)
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && direct::add(*window, origin, result, type, target, displacement, op))
        [[likely]] {
        return MPI_SUCCESS;
    }
    return fetch_and_op_slowly(origin, result, type, target, displacement, op, win);
}
SIDELIGHT_PROFILED(Fetch_and_op);

SIDELIGHT_ENTRY int MPI_Compare_and_swap(const void* origin, const void* compare, void* result,
                                         MPI_Datatype type, int target, MPI_Aint displacement,
                                         MPI_Win win)
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && direct::compare_and_swap(*window, origin, compare, result, type,
                                                      target, displacement)) [[likely]] {
        return MPI_SUCCESS;
    }
    return compare_and_swap_slowly(origin, compare, result, type, target, displacement, win);
}
SIDELIGHT_PROFILED(Compare_and_swap);
