// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstring>

#include "api/active_call.hpp"
#include "base/bytes.hpp"
#include "datatype/mpi/predefined.hpp"
#include "rma/engine/window_parts.hpp"
#include "rma/operation/active_directly.hpp"
#include "runtime/active_runner.hpp"
#include "runtime/runtime.hpp"

namespace sidelight::api {

using namespace runtime;

namespace {

using Handler = void (*)(void*, int, MPI_Datatype, void*, int, MPI_Datatype, void*, int,
                         MPI_Datatype, int, int);

/// What a program says again and again: all but where the data are.
struct Said {
    const WindowObject* object = nullptr;
    std::uint64_t life = 0;    ///< of that
    std::uint64_t changes = 0; ///< of operations, anywhere
    MPI_Op op{};
    MPI_Datatype input{};
    MPI_Datatype target_input{};
    MPI_Datatype output{};
    MPI_Datatype target_output{};
    MPI_Datatype persistent{};
    MPI_Count input_count = 0;
    MPI_Count output_count = 0;
    MPI_Count count = 0;
    MPI_Count segments = 0;
};

/// What that means. Predefined types and what is registered last, so it may be kept.
struct Meaning {
    Said said;
    const ActiveOperation* operation = nullptr; ///< null: it takes the long way
    rma::ActiveMessages* active = nullptr;
    std::size_t input_bytes = 0;
    std::size_t output_bytes = 0;
    std::size_t persistent_bytes = 0;
    std::size_t room = 0;                ///< that a segment takes
    std::uintptr_t output_unaligned = 0; ///< bits that its address may not have
    int input_elements = 0;
    int output_elements = 0;
};

thread_local Meaning latest;

/// Whether it is what was said last: compared where it lies, which is half of the whole call.
[[gnu::always_inline]] inline bool is_latest(const Said& said, const WindowObject& object,
                                             const ActiveArguments& with) noexcept
{
    return said.object == &object && said.op == with.op && said.segments == with.segments &&
           said.input == with.input.type && said.target_input == with.input.target_type &&
           said.output == with.output.type && said.target_output == with.output.target_type &&
           said.persistent == with.type && said.input_count == with.input.count &&
           said.output_count == with.output.count && said.count == with.count &&
           said.life == object.life.load(std::memory_order_relaxed) &&
           said.changes == active_operations::changes();
}

Said said_of(const WindowObject& object, const ActiveArguments& with) noexcept
{
    return {.object = &object,
            .life = object.life.load(std::memory_order_relaxed),
            .changes = active_operations::changes(),
            .op = with.op,
            .input = with.input.type,
            .target_input = with.input.target_type,
            .output = with.output.type,
            .target_output = with.output.target_type,
            .persistent = with.type,
            .input_count = with.input.count,
            .output_count = with.output.count,
            .count = with.count,
            .segments = with.segments};
}

/// The long way finds what is wrong, too.
[[gnu::noinline]] void learn(const WindowObject& object, const ActiveArguments& arguments) noexcept
{
    latest = {.said = said_of(object, arguments)};
    rma::Operation operation;
    rma::ActiveCall call;
    const rma::ActiveLimits limits{.internal_bytes =
                                       static_cast<std::size_t>(settings().active_buffer),
                                   .unit = static_cast<std::uint64_t>(settings().active_unit)};
    const EngineToken token(Runtime::existing()->engine());
    if (object.region != nullptr || translate(object, arguments, operation, call) != Status::ok ||
        !rma::is_for_direct_path(operation, call, limits)) {
        return;
    }
    rma::ActiveMessages& active = object.window->parts().active;
    const ActiveOperation& known = *object.body->registered[call.handler];
    if (active.at_target || known.form != HandlerForm::plain) {
        return;
    }
    latest.input_bytes = call.input.count != 0 ? operation.origin.bytes() * call.segments : 0;
    latest.output_bytes = call.output.count != 0 ? operation.result.bytes() * call.segments : 0;
    latest.persistent_bytes = operation.layout->size * operation.count;
    latest.room = rma::room_of(call, 1).bytes;
    latest.output_unaligned =
        latest.output_bytes != 0 ? rma::active_alignment_of(call.output.layout) - 1 : 0;
    latest.input_elements = static_cast<int>(call.input.count);
    latest.output_elements = static_cast<int>(call.output.count);
    latest.active = &active;
    latest.operation = &known;
}

/// What the handler hears of a side that is not there.
MPI_Datatype told(MPI_Datatype type, int elements) noexcept
{
    return elements != 0 ? type : MPI_DATATYPE_NULL;
}

/// The output lies where it is to be.
[[gnu::always_inline]] inline void call(const Meaning& known, const ActiveArguments& with,
                                        std::byte* memory) noexcept
{
    alignas(std::max_align_t) std::array<std::byte, rma::most_direct_input> input;
    if (known.input_bytes != 0) {
        store_bytes(input.data(), with.input.address, known.input_bytes);
    }
    auto* output = static_cast<std::byte*>(const_cast<void*>(with.output.address));
    if (known.output_bytes == sizeof(std::uint64_t)) { // no call for an answer of one word
        std::memset(output, 0, sizeof(std::uint64_t));
    } else if (known.output_bytes != 0) {
        std::memset(output, 0, known.output_bytes);
    }
    const HandlerCaller::Inside inside(*known.operation);
    reinterpret_cast<Handler>(known.operation->function)(
        input.data(), known.input_elements, told(with.input.target_type, known.input_elements),
        memory, static_cast<int>(with.count), with.type, output, known.output_elements,
        told(with.output.target_type, known.output_elements), static_cast<int>(with.segments), 0);
}

} // namespace

bool run_directly(const WindowObject& object, const ActiveArguments& arguments) noexcept
{
    if (HandlerCaller::inside() || arguments.notification >= 0 || object.watched) {
        return false;
    }
    if (!is_latest(latest.said, object, arguments)) [[unlikely]] {
        learn(object, arguments);
    }
    const Meaning& known = latest;
    const bool has_buffers = (known.input_bytes == 0 || arguments.input.address != nullptr) &&
                             (known.output_bytes == 0 || arguments.output.address != nullptr);
    const bool aligned =
        (reinterpret_cast<std::uintptr_t>(arguments.output.address) & known.output_unaligned) == 0;
    if (known.operation == nullptr || !has_buffers || !aligned) {
        return false;
    }
    rma::DirectStay stay =
        rma::enter_directly(*object.mapped, known.active->exclusion,
                            {.target = arguments.target,
                             .displacement = arguments.displacement,
                             .bytes = known.persistent_bytes,
                             .room = known.room},
                            [] { return Runtime::existing()->engine().process().has_active(); });
    if (!stay.hold) [[unlikely]] {
        return false;
    }
    call(known, arguments, stay.memory);
    rma::leave_directly(*object.mapped, stay);
    return true;
}

} // namespace sidelight::api
