// SPDX-License-Identifier: BSD-3-Clause
#include "api/direct_call.hpp"
#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"

/// Put and get (MPI-4.1, 12.3.1 and 12.3.2): the short way where it is open, else the long one.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::Table;
using rma::OperationKind;

namespace {

// The `_slowly` functions are the longer ways, out of line and with the arguments of the call, so
// that the short way keeps them in registers.

/// Put or get: `Origin` is what the call points at, const for a put.
template <OperationKind kind, auto host_function, class Origin, class Count>
[[gnu::noinline]] int transfer_slowly(Origin* origin, Count origin_count, MPI_Datatype origin_type,
                                      int target, MPI_Aint displacement, Count count,
                                      MPI_Datatype type, MPI_Win win) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<host_function>(win, origin, origin_count, origin_type, target, displacement,
                                      count, type, win);
    }
    constexpr auto* direct_way = [] {
        if constexpr (kind == OperationKind::put) {
            return &direct::put;
        } else {
            return &direct::get;
        }
    }();
    if (direct_way(*object->window, origin, {origin_count, origin_type}, target, displacement,
                   {count, type})) {
        return MPI_SUCCESS;
    }
    return issue(*object, {
                              .kind = kind,
                              .origin = origin,
                              .origin_count = origin_count,
                              .origin_type = origin_type,
                              .target = target,
                              .displacement = displacement,
                              .count = count,
                              .type = type,
                          });
}

template <auto host_function, class Count>
int put(const void* origin, Count origin_count, MPI_Datatype origin_type, int target,
        MPI_Aint displacement, Count count, MPI_Datatype type, MPI_Win win) noexcept
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && direct::put_few(*window, origin, {origin_count, origin_type}, target,
                                             displacement, {count, type})) [[likely]] {
        return MPI_SUCCESS;
    }
    return transfer_slowly<OperationKind::put, host_function>(
        origin, origin_count, origin_type, target, displacement, count, type, win);
}

template <auto host_function, class Count>
int get(void* origin, Count origin_count, MPI_Datatype origin_type, int target,
        MPI_Aint displacement, Count count, MPI_Datatype type, MPI_Win win) noexcept
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && direct::get_few(*window, origin, {origin_count, origin_type}, target,
                                             displacement, {count, type})) [[likely]] {
        return MPI_SUCCESS;
    }
    return transfer_slowly<OperationKind::get, host_function>(
        origin, origin_count, origin_type, target, displacement, count, type, win);
}

} // namespace

SIDELIGHT_ENTRY int MPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type,
                            int target, MPI_Aint displacement, int count, MPI_Datatype type,
                            MPI_Win win)
{
    return put<&Table::Put>(origin, origin_count, origin_type, target, displacement, count, type,
                            win);
}
SIDELIGHT_PROFILED(Put);

SIDELIGHT_ENTRY int MPI_Put_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                              int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type,
                              MPI_Win win)
{
    return put<&Table::Put_c>(origin, origin_count, origin_type, target, displacement, count, type,
                              win);
}
SIDELIGHT_PROFILED(Put_c);

SIDELIGHT_ENTRY int MPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                            MPI_Aint displacement, int count, MPI_Datatype type, MPI_Win win)
{
    return get<&Table::Get>(origin, origin_count, origin_type, target, displacement, count, type,
                            win);
}
SIDELIGHT_PROFILED(Get);

SIDELIGHT_ENTRY int MPI_Get_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                              int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type,
                              MPI_Win win)
{
    return get<&Table::Get_c>(origin, origin_count, origin_type, target, displacement, count, type,
                              win);
}
SIDELIGHT_PROFILED(Get_c);
