// SPDX-License-Identifier: BSD-3-Clause
#include "api/direct_call.hpp"
#include "api/entry.hpp"
#include "api/runtime.hpp"
#include "host/mpi/table.hpp"

/// RMA operations (MPI-4.1, 12.3): the short way where it is open, else the long one.
using namespace sidelight;
using namespace sidelight::api;
using host::mpi::table;
using rma::OperationKind;

namespace {

/// A host without the large-count form has no way to do it.
template <class HostCall>
int pass_large(MPI_Win win, bool available, HostCall call) noexcept
{
    if (!available) {
        return host::mpi::answer_window(Status::unsupported, win);
    }
    return pass_through(win, call);
}

} // namespace

SIDELIGHT_ENTRY int MPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type,
                            int target, MPI_Aint displacement, int count, MPI_Datatype type,
                            MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, [&] {
            return table().Put(origin, origin_count, origin_type, target, displacement, count, type,
                               win);
        });
    }
    const OperationCall call{.kind = OperationKind::put,
                             .origin = origin,
                             .origin_count = origin_count,
                             .origin_type = origin_type,
                             .target = target,
                             .displacement = displacement,
                             .count = count,
                             .type = type};
    if (direct::put(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Put);

SIDELIGHT_ENTRY int MPI_Put_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                              int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type,
                              MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_large(win, table().Put_c != nullptr, [&] {
            return table().Put_c(origin, origin_count, origin_type, target, displacement, count,
                                 type, win);
        });
    }
    const OperationCall call{.kind = OperationKind::put,
                             .origin = origin,
                             .origin_count = origin_count,
                             .origin_type = origin_type,
                             .target = target,
                             .displacement = displacement,
                             .count = count,
                             .type = type};
    if (direct::put(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Put_c);

SIDELIGHT_ENTRY int MPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int target,
                            MPI_Aint displacement, int count, MPI_Datatype type, MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, [&] {
            return table().Get(origin, origin_count, origin_type, target, displacement, count, type,
                               win);
        });
    }
    const OperationCall call{.kind = OperationKind::get,
                             .origin = origin,
                             .origin_count = origin_count,
                             .origin_type = origin_type,
                             .target = target,
                             .displacement = displacement,
                             .count = count,
                             .type = type};
    if (direct::get(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Get);

SIDELIGHT_ENTRY int MPI_Get_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                              int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type,
                              MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_large(win, table().Get_c != nullptr, [&] {
            return table().Get_c(origin, origin_count, origin_type, target, displacement, count,
                                 type, win);
        });
    }
    const OperationCall call{.kind = OperationKind::get,
                             .origin = origin,
                             .origin_count = origin_count,
                             .origin_type = origin_type,
                             .target = target,
                             .displacement = displacement,
                             .count = count,
                             .type = type};
    if (direct::get(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Get_c);

SIDELIGHT_ENTRY int MPI_Accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                   int target, MPI_Aint displacement, int count, MPI_Datatype type,
                                   MPI_Op op, MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, [&] {
            return table().Accumulate(origin, origin_count, origin_type, target, displacement,
                                      count, type, op, win);
        });
    }
    const OperationCall call{.kind = OperationKind::accumulate,
                             .origin = origin,
                             .origin_count = origin_count,
                             .origin_type = origin_type,
                             .target = target,
                             .displacement = displacement,
                             .count = count,
                             .type = type,
                             .op = op};
    if (direct::accumulate(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Accumulate);

SIDELIGHT_ENTRY int MPI_Accumulate_c(const void* origin, MPI_Count origin_count,
                                     MPI_Datatype origin_type, int target, MPI_Aint displacement,
                                     MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_large(win, table().Accumulate_c != nullptr, [&] {
            return table().Accumulate_c(origin, origin_count, origin_type, target, displacement,
                                        count, type, op, win);
        });
    }
    const OperationCall call{.kind = OperationKind::accumulate,
                             .origin = origin,
                             .origin_count = origin_count,
                             .origin_type = origin_type,
                             .target = target,
                             .displacement = displacement,
                             .count = count,
                             .type = type,
                             .op = op};
    if (direct::accumulate(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Accumulate_c);

SIDELIGHT_ENTRY int MPI_Get_accumulate(const void* origin, int origin_count,
                                       MPI_Datatype origin_type, void* result, int result_count,
                                       MPI_Datatype result_type, int target, MPI_Aint displacement,
                                       int count, MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, [&] {
            return table().Get_accumulate(origin, origin_count, origin_type, result, result_count,
                                          result_type, target, displacement, count, type, op, win);
        });
    }
    const OperationCall call{.kind = OperationKind::accumulate,
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
                             .result_type = result_type};
    if (direct::accumulate(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Get_accumulate);

SIDELIGHT_ENTRY int MPI_Get_accumulate_c(const void* origin, MPI_Count origin_count,
                                         MPI_Datatype origin_type, void* result,
                                         MPI_Count result_count, MPI_Datatype result_type,
                                         int target, MPI_Aint displacement, MPI_Count count,
                                         MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_large(win, table().Get_accumulate_c != nullptr, [&] {
            return table().Get_accumulate_c(origin, origin_count, origin_type, result, result_count,
                                            result_type, target, displacement, count, type, op,
                                            win);
        });
    }
    const OperationCall call{.kind = OperationKind::accumulate,
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
                             .result_type = result_type};
    if (direct::accumulate(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Get_accumulate_c);

SIDELIGHT_ENTRY int MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type,
                                     int target, MPI_Aint displacement, MPI_Op op, MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, [&] {
            return table().Fetch_and_op(origin, result, type, target, displacement, op, win);
        });
    }
    const OperationCall call{.kind = OperationKind::accumulate,
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
                             .one_element = true};
    if (direct::accumulate(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Fetch_and_op);

SIDELIGHT_ENTRY int MPI_Compare_and_swap(const void* origin, const void* compare, void* result,
                                         MPI_Datatype type, int target, MPI_Aint displacement,
                                         MPI_Win win)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, [&] {
            return table().Compare_and_swap(origin, compare, result, type, target, displacement,
                                            win);
        });
    }
    const OperationCall call{.kind = OperationKind::compare_and_swap,
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
                             .one_element = true};
    if (direct::compare_and_swap(*object->window, call)) [[likely]] {
        return MPI_SUCCESS;
    }
    return issue(*object, call);
}
SIDELIGHT_PROFILED(Compare_and_swap);
