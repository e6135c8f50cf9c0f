// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "api/operation_call.hpp"
#include "api/runtime.hpp"
#include "host/mpi/table.hpp"

/// Request-based operations (MPI-4.1, 12.3.5). Always the long way: a request costs more.
using namespace sidelight;
using namespace sidelight::api;
using host::mpi::table;
using rma::OperationKind;

SIDELIGHT_ENTRY int MPI_Rput(const void* origin, int origin_count, MPI_Datatype origin_type,
                             int target, MPI_Aint displacement, int count, MPI_Datatype type,
                             MPI_Win win, MPI_Request* request)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] {
            return table().Rput(origin, origin_count, origin_type, target, displacement, count,
                                type, win, request);
        });
    }
    return issue(*object,
                 {
                     .kind = OperationKind::put,
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
SIDELIGHT_PROFILED(Rput);

SIDELIGHT_ENTRY int MPI_Rput_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                               int target, MPI_Aint displacement, MPI_Count count,
                               MPI_Datatype type, MPI_Win win, MPI_Request* request)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_large(win, table().Rput_c != nullptr, [&] {
            return table().Rput_c(origin, origin_count, origin_type, target, displacement, count,
                                  type, win, request);
        });
    }
    return issue(*object,
                 {
                     .kind = OperationKind::put,
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
SIDELIGHT_PROFILED(Rput_c);

SIDELIGHT_ENTRY int MPI_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                             MPI_Aint displacement, int count, MPI_Datatype type, MPI_Win win,
                             MPI_Request* request)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] {
            return table().Rget(origin, origin_count, origin_type, target, displacement, count,
                                type, win, request);
        });
    }
    return issue(*object,
                 {
                     .kind = OperationKind::get,
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
SIDELIGHT_PROFILED(Rget);

SIDELIGHT_ENTRY int MPI_Rget_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                               int target, MPI_Aint displacement, MPI_Count count,
                               MPI_Datatype type, MPI_Win win, MPI_Request* request)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_large(win, table().Rget_c != nullptr, [&] {
            return table().Rget_c(origin, origin_count, origin_type, target, displacement, count,
                                  type, win, request);
        });
    }
    return issue(*object,
                 {
                     .kind = OperationKind::get,
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
SIDELIGHT_PROFILED(Rget_c);

SIDELIGHT_ENTRY int MPI_Raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                    int target, MPI_Aint displacement, int count, MPI_Datatype type,
                                    MPI_Op op, MPI_Win win, MPI_Request* request)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] {
            return table().Raccumulate(origin, origin_count, origin_type, target, displacement,
                                       count, type, op, win, request);
        });
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
SIDELIGHT_PROFILED(Raccumulate);

SIDELIGHT_ENTRY int MPI_Raccumulate_c(const void* origin, MPI_Count origin_count,
                                      MPI_Datatype origin_type, int target, MPI_Aint displacement,
                                      MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win win,
                                      MPI_Request* request)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_large(win, table().Raccumulate_c != nullptr, [&] {
            return table().Raccumulate_c(origin, origin_count, origin_type, target, displacement,
                                         count, type, op, win, request);
        });
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
SIDELIGHT_PROFILED(Raccumulate_c);

SIDELIGHT_ENTRY int MPI_Rget_accumulate(const void* origin, int origin_count,
                                        MPI_Datatype origin_type, void* result, int result_count,
                                        MPI_Datatype result_type, int target, MPI_Aint displacement,
                                        int count, MPI_Datatype type, MPI_Op op, MPI_Win win,
                                        MPI_Request* request)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] {
            return table().Rget_accumulate(origin, origin_count, origin_type, result, result_count,
                                           result_type, target, displacement, count, type, op, win,
                                           request);
        });
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
SIDELIGHT_PROFILED(Rget_accumulate);

SIDELIGHT_ENTRY int MPI_Rget_accumulate_c(const void* origin, MPI_Count origin_count,
                                          MPI_Datatype origin_type, void* result,
                                          MPI_Count result_count, MPI_Datatype result_type,
                                          int target, MPI_Aint displacement, MPI_Count count,
                                          MPI_Datatype type, MPI_Op op, MPI_Win win,
                                          MPI_Request* request)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_large(win, table().Rget_accumulate_c != nullptr, [&] {
            return table().Rget_accumulate_c(origin, origin_count, origin_type, result,
                                             result_count, result_type, target, displacement, count,
                                             type, op, win, request);
        });
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
SIDELIGHT_PROFILED(Rget_accumulate_c);
