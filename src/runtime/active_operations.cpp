// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/active_operations.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "datatype/mpi/predefined.hpp"
#include "host/crash_line.hpp"
#include "host/mpi/fortran_handles.hpp"
#include "runtime/active_runner.hpp"

namespace sidelight::runtime {

namespace {

struct Known {
    MPI_Op handle;
    std::shared_ptr<const ActiveOperation> operation;
};

std::mutex mutex;
/// Never destroyed: threads may run handlers until the process ends.
std::vector<Known>& operations()
{
    static auto* const made = new std::vector<Known>;
    return *made;
}

/// The predefined types, by the numbers that Fortran has for them: the same in all processes.
constexpr std::size_t most_small_codes = 256;
struct TypeCodes {
    const datatype::PredefinedTable* table = nullptr; ///< types that come later have no number
    std::vector<std::pair<std::int32_t, MPI_Datatype>> by_code; ///< sorted
    std::vector<MPI_Datatype> by_small_code;                    ///< for Open MPI's, quicker
    MPI_Fint null = 0; ///< what Fortran has for MPI_DATATYPE_NULL
    std::array<std::int32_t, std::size_t{1} << datatype::PredefinedTable::bits>
        by_slot{}; ///< of it
};
const TypeCodes* type_codes = nullptr; ///< likewise

void make_codes()
{
    auto made = std::make_unique<TypeCodes>();
    made->table = datatype::predefined_table.load();
    made->null = host::mpi::fortran_handle(MPI_DATATYPE_NULL);
    const datatype::PredefinedTable& table = *made->table;
    for (std::size_t slot = 0; slot < table.slots.size(); ++slot) {
        if (table.slots[slot].layout != nullptr) {
            made->by_slot[slot] = host::mpi::fortran_handle(table.slots[slot].type);
            made->by_code.emplace_back(made->by_slot[slot], table.slots[slot].type);
        }
    }
    std::sort(made->by_code.begin(), made->by_code.end(),
              [](const auto& one, const auto& other) { return one.first < other.first; });
    made->by_small_code.assign(most_small_codes, MPI_DATATYPE_NULL);
    for (const auto& [code, type] : made->by_code) {
        if (code > 0 && static_cast<std::size_t>(code) < most_small_codes) {
            made->by_small_code[static_cast<std::size_t>(code)] = type;
        }
    }
    type_codes = made.release();
}

MPI_Datatype type_of_code(std::int32_t code) noexcept
{
    if (code >= 0 && static_cast<std::size_t>(code) < type_codes->by_small_code.size()) {
        return type_codes->by_small_code[static_cast<std::size_t>(code)];
    }
    const auto& codes = type_codes->by_code;
    const auto found = std::lower_bound(
        codes.begin(), codes.end(), code,
        [](const auto& entry, std::int32_t wanted) { return entry.first < wanted; });
    return code != 0 && found != codes.end() && found->first == code ? found->second
                                                                     : MPI_DATATYPE_NULL;
}

} // namespace

void active_operations::add(MPI_Op handle, ActiveOperation operation)
{
    operation.name = host::name_of_function(operation.function);
    auto made = std::make_shared<const ActiveOperation>(std::move(operation));
    remove(handle);
    const std::scoped_lock lock(mutex);
    operations().push_back({handle, std::move(made)});
}

std::shared_ptr<const ActiveOperation> active_operations::find(MPI_Op handle) noexcept
{
    const std::scoped_lock lock(mutex);
    for (const Known& known : operations()) {
        if (known.handle == handle) {
            return known.operation;
        }
    }
    return nullptr;
}

void active_operations::remove(MPI_Op handle) noexcept
{
    const std::scoped_lock lock(mutex);
    if (std::erase_if(operations(), [&](const Known& known) { return known.handle == handle; }) >
        0) {
        note_change();
    }
}

std::int32_t code_of_type(MPI_Datatype type) noexcept
{
    const datatype::PredefinedTable& table = *type_codes->table;
    const std::size_t slot = table.index_of(type);
    return table.slots[slot].type == type ? type_codes->by_slot[slot] : 0;
}

/// Without std::call_once, from which an exception would pass through the C library: that ends the
/// process, since this library has its own part that unwinds.
void learn_type_codes()
{
    [[maybe_unused]] static const bool learnt = [] {
        make_codes();
        return true;
    }();
}

namespace {

template <class Count>
using InC = void (*)(void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, void*, Count,
                     MPI_Datatype, Count, Count);
template <class Count>
using InFortran = void (*)(void*, const Count*, const MPI_Fint*, void*, const Count*,
                           const MPI_Fint*, void*, const Count*, const MPI_Fint*, const Count*,
                           const Count*);

/// Counts that the form cannot hold were refused where the message was issued.
template <class Count>
void call_in_c(void* function, const rma::ActiveInvocation& with) noexcept
{
    const auto count = [](std::uint64_t number) { return static_cast<Count>(number); };
    reinterpret_cast<InC<Count>>(function)(
        with.input, count(with.input_count), type_of_code(with.input_type), with.persistent,
        count(with.persistent_count), type_of_code(with.persistent_type), with.output,
        count(with.output_count), type_of_code(with.output_type), count(with.segments),
        count(with.offset));
}

template <class Count>
void call_in_fortran(void* function, const rma::ActiveInvocation& with) noexcept
{
    const auto count = [](std::uint64_t number) { return static_cast<Count>(number); };
    const std::array<Count, 5> counts{count(with.input_count), count(with.persistent_count),
                                      count(with.output_count), count(with.segments),
                                      count(with.offset)};
    const auto type = [](std::int32_t code) { return code != 0 ? code : type_codes->null; };
    const std::array<MPI_Fint, 3> types{type(with.input_type), type(with.persistent_type),
                                        type(with.output_type)};
    reinterpret_cast<InFortran<Count>>(function)(with.input, &counts[0], &types[0], with.persistent,
                                                 &counts[1], &types[1], with.output, &counts[2],
                                                 &types[2], &counts[3], &counts[4]);
}

} // namespace

void HandlerCaller::call(const rma::ActiveInvocation& with) noexcept
{
    const auto& operation = *static_cast<const ActiveOperation*>(with.handler);
    const Inside inside(operation);
    switch (operation.form) {
    case HandlerForm::plain:
        call_in_c<int>(operation.function, with);
        break;
    case HandlerForm::large:
        call_in_c<MPI_Count>(operation.function, with);
        break;
    case HandlerForm::fortran:
        call_in_fortran<MPI_Fint>(operation.function, with);
        break;
    case HandlerForm::large_fortran:
        call_in_fortran<MPI_Count>(operation.function, with);
        break;
    }
}

/// Asked in a signal handler.
const char* HandlerCaller::running() noexcept
{
    const ActiveOperation* operation = inside_;
    return operation != nullptr ? operation->name.c_str() : nullptr;
}

} // namespace sidelight::runtime
