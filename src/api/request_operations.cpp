// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "api/operation_call.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"

/// Request-based operations (MPI-4.1, 12.3.5). Always the long way: a request costs more. They work
/// in every kind of epoch, though the standard asks for a passive one.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::Table;
using rma::OperationKind;

namespace {

/// Put or get: `Origin` is what the call points at, const for a put.
template <OperationKind kind, auto host_function, class Origin, class Count>
int rtransfer(Origin* origin, Count origin_count, MPI_Datatype origin_type, int target,
              MPI_Aint displacement, Count count, MPI_Datatype type, MPI_Win win,
              MPI_Request* request) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<host_function>(win, origin, origin_count, origin_type, target, displacement,
                                      count, type, win, request);
    }
    return issue(*object,
                 {
                     .kind = kind,
                     .origin = origin,
                     .origin_count = origin_count,
                     .origin_type = origin_type,
                     .target = target,
                     .displacement = displacement,
                     .count = count,
                     .type = type,
                 },
                 request);
}

template <auto host_function, class Count>
int raccumulate(const void* origin, Count origin_count, MPI_Datatype origin_type, int target,
                MPI_Aint displacement, Count count, MPI_Datatype type, MPI_Op op, MPI_Win win,
                MPI_Request* request) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<host_function>(win, origin, origin_count, origin_type, target, displacement,
                                      count, type, op, win, request);
    }
    return issue(*object,
                 {
                     .kind = OperationKind::accumulate,
                     .origin = origin,
                     .origin_count = origin_count,
                     .origin_type = origin_type,
                     .target = target,
                     .displacement = displacement,
                     .count = count,
                     .type = type,
                     .op = op,
                 },
                 request);
}

template <auto host_function, class Count>
int rget_accumulate(const void* origin, Count origin_count, MPI_Datatype origin_type, void* result,
                    Count result_count, MPI_Datatype result_type, int target, MPI_Aint displacement,
                    Count count, MPI_Datatype type, MPI_Op op, MPI_Win win,
                    MPI_Request* request) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<host_function>(win, origin, origin_count, origin_type, result, result_count,
                                      result_type, target, displacement, count, type, op, win,
                                      request);
    }
    return issue(*object,
                 {
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
                 },
                 request);
}

} // namespace

SIDELIGHT_ENTRY int MPI_Rput(const void* origin, int origin_count, MPI_Datatype origin_type,
                             int target, MPI_Aint displacement, int count, MPI_Datatype type,
                             MPI_Win win, MPI_Request* request)
{
    return rtransfer<OperationKind::put, &Table::Rput>(origin, origin_count, origin_type, target,
                                                       displacement, count, type, win, request);
}
SIDELIGHT_PROFILED(Rput);

SIDELIGHT_ENTRY int MPI_Rput_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                               int target, MPI_Aint displacement, MPI_Count count,
                               MPI_Datatype type, MPI_Win win, MPI_Request* request)
{
    return rtransfer<OperationKind::put, &Table::Rput_c>(origin, origin_count, origin_type, target,
                                                         displacement, count, type, win, request);
}
SIDELIGHT_PROFILED(Rput_c);

SIDELIGHT_ENTRY int MPI_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                             MPI_Aint displacement, int count, MPI_Datatype type, MPI_Win win,
                             MPI_Request* request)
{
    return rtransfer<OperationKind::get, &Table::Rget>(origin, origin_count, origin_type, target,
                                                       displacement, count, type, win, request);
}
SIDELIGHT_PROFILED(Rget);

SIDELIGHT_ENTRY int MPI_Rget_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                               int target, MPI_Aint displacement, MPI_Count count,
                               MPI_Datatype type, MPI_Win win, MPI_Request* request)
{
    return rtransfer<OperationKind::get, &Table::Rget_c>(origin, origin_count, origin_type, target,
                                                         displacement, count, type, win, request);
}
SIDELIGHT_PROFILED(Rget_c);

SIDELIGHT_ENTRY int MPI_Raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                    int target, MPI_Aint displacement, int count, MPI_Datatype type,
                                    MPI_Op op, MPI_Win win, MPI_Request* request)
{
    return raccumulate<&Table::Raccumulate>(origin, origin_count, origin_type, target, displacement,
                                            count, type, op, win, request);
}
SIDELIGHT_PROFILED(Raccumulate);

SIDELIGHT_ENTRY int MPI_Raccumulate_c(const void* origin, MPI_Count origin_count,
                                      MPI_Datatype origin_type, int target, MPI_Aint displacement,
                                      MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win win,
                                      MPI_Request* request)
{
    return raccumulate<&Table::Raccumulate_c>(origin, origin_count, origin_type, target,
                                              displacement, count, type, op, win, request);
}
SIDELIGHT_PROFILED(Raccumulate_c);

SIDELIGHT_ENTRY int MPI_Rget_accumulate(const void* origin, int origin_count,
                                        MPI_Datatype origin_type, void* result, int result_count,
                                        MPI_Datatype result_type, int target, MPI_Aint displacement,
                                        int count, MPI_Datatype type, MPI_Op op, MPI_Win win,
                                        MPI_Request* request)
{
    return rget_accumulate<&Table::Rget_accumulate>(origin, origin_count, origin_type, result,
                                                    result_count, result_type, target, displacement,
                                                    count, type, op, win, request);
}
SIDELIGHT_PROFILED(Rget_accumulate);

SIDELIGHT_ENTRY int MPI_Rget_accumulate_c(const void* origin, MPI_Count origin_count,
                                          MPI_Datatype origin_type, void* result,
                                          MPI_Count result_count, MPI_Datatype result_type,
                                          int target, MPI_Aint displacement, MPI_Count count,
                                          MPI_Datatype type, MPI_Op op, MPI_Win win,
                                          MPI_Request* request)
{
    return rget_accumulate<&Table::Rget_accumulate_c>(origin, origin_count, origin_type, result,
                                                      result_count, result_type, target,
                                                      displacement, count, type, op, win, request);
}
SIDELIGHT_PROFILED(Rget_accumulate_c);
