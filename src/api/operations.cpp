// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "api/operation_kinds.hpp"
#include "api/parameter_lists.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/fit.hpp"
#include "runtime/runtime.hpp"

/// The operations without a request: the short way where it is open, else the long one.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::Table;

namespace {

struct FetchAndOpCall {
    [[gnu::always_inline]] static bool at_once(rma::Mapped& mapped, const void* origin,
                                               void* result, MPI_Datatype type, int target,
                                               MPI_Aint displacement, MPI_Op op,
                                               MPI_Win /*win*/) noexcept
    {
        return result != nullptr &&
               direct::add(mapped, origin, result, type, target, displacement, op);
    }
    static bool directly(rma::Mapped& mapped, const void* origin, void* result, MPI_Datatype type,
                         int target, MPI_Aint displacement, MPI_Op op, MPI_Win /*win*/) noexcept
    {
        return result != nullptr &&
               direct::accumulate_element(mapped, origin, result, type, target, displacement, op);
    }
    static OperationCall describe(const void* origin, void* result, MPI_Datatype type, int target,
                                  MPI_Aint displacement, MPI_Op op, MPI_Win win) noexcept
    {
        OperationCall call = GetAccumulateCall::describe(origin, 1, type, result, 1, type, target,
                                                         displacement, 1, type, op, win);
        call.one_element = true;
        return call;
    }
};

struct CompareAndSwapCall {
    [[gnu::always_inline]] static bool at_once(rma::Mapped& mapped, const void* origin,
                                               const void* compare, void* result, MPI_Datatype type,
                                               int target, MPI_Aint displacement,
                                               MPI_Win /*win*/) noexcept
    {
        return direct::compare_and_swap(mapped, origin, compare, result, type, target,
                                        displacement);
    }
    static bool directly(rma::Mapped& /*mapped*/, const void* /*origin*/, const void* /*compare*/,
                         void* /*result*/, MPI_Datatype /*type*/, int /*target*/,
                         MPI_Aint /*displacement*/, MPI_Win /*win*/) noexcept
    {
        return false;
    }
    static OperationCall describe(const void* origin, const void* compare, void* result,
                                  MPI_Datatype type, int target, MPI_Aint displacement,
                                  MPI_Win win) noexcept
    {
        OperationCall call =
            FetchAndOpCall::describe(origin, result, type, target, displacement, MPI_OP_NULL, win);
        call.kind = OperationKind::compare_and_swap;
        call.compare = compare;
        return call;
    }
};

/// The longer ways. In an ordered window the shortest one may not have been tried.
template <class Operation, class... Arguments>
int operate_slowly(const WindowObject& object, Arguments... arguments) noexcept
{
    if (object.watched) [[unlikely]] {
        return issue(object, Operation::describe(arguments...));
    }
    order_before<Operation>(object);
    rma::Mapped& mapped = *object.mapped;
    const bool untried = object.ordered && !orders_itself<Operation>;
    return (untried && Operation::at_once(mapped, arguments...)) ||
                   Operation::directly(mapped, arguments...)
               ? MPI_SUCCESS
               : issue(object, Operation::describe(arguments...));
}

template <class Operation, class... Arguments>
[[gnu::always_inline]] inline bool operate_at_once(Arguments... arguments) noexcept
{
    rma::Mapped* mapped =
        window_table::find_cached<orders_itself<Operation>>(window_among(arguments...));
    return mapped != nullptr && Operation::at_once(*mapped, arguments...);
}

} // namespace

// The longer ways are out of line and have the arguments of the call in their order, so that the
// short way keeps them in registers.
#define SIDELIGHT_OPERATION(name, Operation, parameters, ...)                                      \
    [[gnu::noinline]] static int slowly_##name(                                                    \
        parameters(SIDELIGHT_DECLARE_WORD __VA_OPT__(, ) __VA_ARGS__) Word win) noexcept           \
    {                                                                                              \
        const WindowObject* object = window_table::find(narrowed<MPI_Win>(win));                   \
        if (object != nullptr) {                                                                   \
            return operate_slowly<Operation>(                                                      \
                *object,                                                                           \
                parameters(SIDELIGHT_NARROW __VA_OPT__(, ) __VA_ARGS__) narrowed<MPI_Win>(win));   \
        }                                                                                          \
        if (!host::mpi::fits_host()) {                                                             \
            return as_it_came<&Table::name>(parameters(SIDELIGHT_PASS __VA_OPT__(, ) __VA_ARGS__)  \
                                                win);                                              \
        }                                                                                          \
        return pass_on<&Table::name>(narrowed<MPI_Win>(win),                                       \
                                     parameters(SIDELIGHT_NARROW __VA_OPT__(, ) __VA_ARGS__)       \
                                         narrowed<MPI_Win>(win));                                  \
    }                                                                                              \
    SIDELIGHT_WORDS(name, parameters(SIDELIGHT_DECLARE_WORD __VA_OPT__(, ) __VA_ARGS__) Word win)  \
    {                                                                                              \
        if (operate_at_once<Operation>(parameters(SIDELIGHT_NARROW __VA_OPT__(, ) __VA_ARGS__)     \
                                           narrowed<MPI_Win>(win))) [[likely]] {                   \
            return MPI_SUCCESS;                                                                    \
        }                                                                                          \
        return slowly_##name(parameters(SIDELIGHT_PASS __VA_OPT__(, ) __VA_ARGS__) win);           \
    }
#define SIDELIGHT_ONE_ELEMENT_OPERATION(name, Operation, parameters)                               \
    SIDELIGHT_OPERATION(name, Operation, parameters)
#define SIDELIGHT_COUNTED_OPERATION(name, Operation, parameters)                                   \
    SIDELIGHT_OPERATION(name, Operation, parameters, int)                                          \
    SIDELIGHT_OPERATION(name##_c, Operation, parameters, MPI_Count)
#define SIDELIGHT_REQUEST_OPERATION(name, Operation, parameters)
#define SIDELIGHT_REMOTE_REQUEST_OPERATION(name, fortran, Operation, parameters)
#define SIDELIGHT_NOTIFIED_OPERATION(name, request_name, fortran, request_fortran, Operation,      \
                                     parameters)
#include "api/operations.def"
