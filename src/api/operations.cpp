// SPDX-License-Identifier: BSD-3-Clause
#include <tuple>

#include "api/direct_accumulate.hpp"
#include "api/direct_call.hpp"
#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/fit.hpp"
#include "runtime/runtime.hpp"

/// The operations: the short way where it is open, else the long one, and always that where a
/// request is wanted, which costs more. Request-based ones work in every kind of epoch, though the
/// standard asks for a passive one.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::Table;
using rma::OperationKind;

namespace {

// What each row of operations.def does, by functions that take the arguments of the call:
// `at_once` and, when that has refused, `directly` perform it in some nanoseconds if they can and
// answer whether they have; `describe` is for the long way.

bool is_one(MPI_Count count, MPI_Datatype elements, MPI_Datatype type) noexcept
{
    return count == 1 && elements == type;
}

struct PutCall {
    [[gnu::always_inline]] static bool at_once(rma::Window& window, const void* origin,
                                               MPI_Count origin_count, MPI_Datatype origin_type,
                                               int target, MPI_Aint displacement, MPI_Count count,
                                               MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return direct::put_few(window, origin, {origin_count, origin_type}, target, displacement,
                               {count, type});
    }
    static bool directly(rma::Window& window, const void* origin, MPI_Count origin_count,
                         MPI_Datatype origin_type, int target, MPI_Aint displacement,
                         MPI_Count count, MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return direct::put(window, origin, {origin_count, origin_type}, target, displacement,
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
    [[gnu::always_inline]] static bool at_once(rma::Window& window, void* origin,
                                               MPI_Count origin_count, MPI_Datatype origin_type,
                                               int target, MPI_Aint displacement, MPI_Count count,
                                               MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return direct::get_few(window, origin, {origin_count, origin_type}, target, displacement,
                               {count, type});
    }
    static bool directly(rma::Window& window, void* origin, MPI_Count origin_count,
                         MPI_Datatype origin_type, int target, MPI_Aint displacement,
                         MPI_Count count, MPI_Datatype type, MPI_Win /*win*/) noexcept
    {
        return direct::get(window, origin, {origin_count, origin_type}, target, displacement,
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
    [[gnu::always_inline]] static bool at_once(rma::Window& window, const void* origin,
                                               MPI_Count origin_count, MPI_Datatype origin_type,
                                               int target, MPI_Aint displacement, MPI_Count count,
                                               MPI_Datatype type, MPI_Op op,
                                               MPI_Win /*win*/) noexcept
    {
        return count == 1 && is_one(origin_count, origin_type, type) &&
               direct::add(window, origin, nullptr, type, target, displacement, op);
    }
    static bool directly(rma::Window& window, const void* origin, MPI_Count origin_count,
                         MPI_Datatype origin_type, int target, MPI_Aint displacement,
                         MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win /*win*/) noexcept
    {
        return op != MPI_NO_OP && origin_count == count && origin_type == type &&
               direct::accumulate(window, origin, nullptr, count, type, target, displacement, op);
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
    at_once(rma::Window& window, const void* origin, MPI_Count origin_count,
            MPI_Datatype origin_type, void* result, MPI_Count result_count,
            MPI_Datatype result_type, int target, MPI_Aint displacement, MPI_Count count,
            MPI_Datatype type, MPI_Op op, MPI_Win /*win*/) noexcept
    {
        return result != nullptr && count == 1 && is_one(origin_count, origin_type, type) &&
               is_one(result_count, result_type, type) &&
               direct::add(window, origin, result, type, target, displacement, op);
    }
    static bool directly(rma::Window& window, const void* origin, MPI_Count origin_count,
                         MPI_Datatype origin_type, void* result, MPI_Count result_count,
                         MPI_Datatype result_type, int target, MPI_Aint displacement,
                         MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win /*win*/) noexcept
    {
        return result != nullptr && result_count == count && result_type == type &&
               (op == MPI_NO_OP || (origin_count == count && origin_type == type)) &&
               direct::accumulate(window, origin, result, count, type, target, displacement, op);
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

struct FetchAndOpCall {
    [[gnu::always_inline]] static bool at_once(rma::Window& window, const void* origin,
                                               void* result, MPI_Datatype type, int target,
                                               MPI_Aint displacement, MPI_Op op,
                                               MPI_Win /*win*/) noexcept
    {
        return result != nullptr &&
               direct::add(window, origin, result, type, target, displacement, op);
    }
    static bool directly(rma::Window& window, const void* origin, void* result, MPI_Datatype type,
                         int target, MPI_Aint displacement, MPI_Op op, MPI_Win /*win*/) noexcept
    {
        return result != nullptr &&
               direct::accumulate_element(window, origin, result, type, target, displacement, op);
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
    [[gnu::always_inline]] static bool at_once(rma::Window& window, const void* origin,
                                               const void* compare, void* result, MPI_Datatype type,
                                               int target, MPI_Aint displacement,
                                               MPI_Win /*win*/) noexcept
    {
        return direct::compare_and_swap(window, origin, compare, result, type, target,
                                        displacement);
    }
    static bool directly(rma::Window& /*window*/, const void* /*origin*/, const void* /*compare*/,
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

/// The window is the last argument.
template <class... Arguments>
MPI_Win window_among(const Arguments&... arguments) noexcept
{
    return std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
}

/// The longer ways.
template <class Operation, class... Arguments>
int operate_slowly(const WindowObject& object, Arguments... arguments) noexcept
{
    return Operation::directly(*object.window, arguments...)
               ? MPI_SUCCESS
               : issue(object, Operation::describe(arguments...));
}

template <class Operation, class... Arguments>
[[gnu::always_inline]] inline bool operate_at_once(Arguments... arguments) noexcept
{
    rma::Window* window = window_table::find_cached(window_among(arguments...));
    return window != nullptr && Operation::at_once(*window, arguments...);
}

template <class Operation, auto host_function, class... Arguments>
int request(MPI_Request* request, Arguments... arguments) noexcept
{
    const MPI_Win win = window_among(arguments...);
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<host_function>(win, arguments..., request);
    }
    return request != nullptr ? issue(*object, Operation::describe(arguments...), request)
                              : host::mpi::answer_window(Status::argument, win);
}

} // namespace

#define SIDELIGHT_DECLARE(type, name) type name,
#define SIDELIGHT_PASS_AFTER(type, name) , name
#define SIDELIGHT_DECLARE_WORD(type, name) Word name,
#define SIDELIGHT_PASS_WORD(type, name) name,
#define SIDELIGHT_NARROWED(type, name) narrowed<type>(name),

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
                parameters(SIDELIGHT_NARROWED __VA_OPT__(, ) __VA_ARGS__) narrowed<MPI_Win>(win)); \
        }                                                                                          \
        if (!host::mpi::fits_host()) {                                                             \
            return as_it_came<&Table::name>(                                                       \
                parameters(SIDELIGHT_PASS_WORD __VA_OPT__(, ) __VA_ARGS__) win);                   \
        }                                                                                          \
        return pass_on<&Table::name>(narrowed<MPI_Win>(win),                                       \
                                     parameters(SIDELIGHT_NARROWED __VA_OPT__(, ) __VA_ARGS__)     \
                                         narrowed<MPI_Win>(win));                                  \
    }                                                                                              \
    SIDELIGHT_WORDS(name, parameters(SIDELIGHT_DECLARE_WORD __VA_OPT__(, ) __VA_ARGS__) Word win)  \
    {                                                                                              \
        if (operate_at_once<Operation>(parameters(SIDELIGHT_NARROWED __VA_OPT__(, ) __VA_ARGS__)   \
                                           narrowed<MPI_Win>(win))) [[likely]] {                   \
            return MPI_SUCCESS;                                                                    \
        }                                                                                          \
        return slowly_##name(parameters(SIDELIGHT_PASS_WORD __VA_OPT__(, ) __VA_ARGS__) win);      \
    }
#define SIDELIGHT_REQUEST(name, Operation, parameters, Count)                                      \
    SIDELIGHT_OWN int own_##name(parameters(SIDELIGHT_DECLARE, Count) MPI_Win win,                 \
                                 MPI_Request* request)                                             \
    {                                                                                              \
        return ::request<Operation, &Table::name>(request parameters(SIDELIGHT_PASS_AFTER, Count), \
                                                  win);                                            \
    }

#define SIDELIGHT_ONE_ELEMENT_OPERATION(name, Operation, parameters)                               \
    SIDELIGHT_OPERATION(name, Operation, parameters)
#define SIDELIGHT_COUNTED_OPERATION(name, request_name, Operation, parameters)                     \
    SIDELIGHT_OPERATION(name, Operation, parameters, int)                                          \
    SIDELIGHT_OPERATION(name##_c, Operation, parameters, MPI_Count)                                \
    SIDELIGHT_REQUEST(request_name, Operation, parameters, int)                                    \
    SIDELIGHT_REQUEST(request_name##_c, Operation, parameters, MPI_Count)
#include "api/operations.def"
