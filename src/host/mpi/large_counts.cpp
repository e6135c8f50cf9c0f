// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/large_counts.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>

#include "host/mpi/errors.hpp"
#include "host/mpi/fit.hpp"
#include "host/mpi/word.hpp"

namespace sidelight::host::mpi {
namespace {

template <class Type>
using AsWord = Word;

/// Counts and displacement units, which are wider in the large form, have to be such of the other.
template <class Small, class Large>
bool can_be(Word word) noexcept
{
    if constexpr (sizeof(Small) < sizeof(Large)) {
        return std::in_range<Small>(word);
    }
    return true;
}

/// Beside an MPI that this library does not fit, neither its handlers nor its classes are known,
/// but for the number of this one, which all have.
template <class Handle>
int refuse(int (*answer)(Status, Handle), Word handle)
{
    return fits_host() ? answer(Status::unsupported, narrowed<Handle>(handle)) : MPI_ERR_COUNT;
}

/// `handle` is the place of the argument whose error handler `answer` calls.
template <auto small, auto answer, std::size_t handle, class... Small, class... Large>
void* smaller(int (* /*small*/)(Small...), int (* /*large*/)(Large...)) noexcept
{
    int (*function)(AsWord<Large>...) = [](AsWord<Large>... words) {
        return (can_be<Small, Large>(words) && ...)
                   ? as_it_came<small>(words...)
                   : refuse(answer, std::get<handle>(std::tuple(words...)));
    };
    return reinterpret_cast<void*>(function);
}

/// The unit comes out, and always fits.
int shared_query(Word win, Word rank, Word size, MPI_Aint* disp_unit, Word base) noexcept
{
    int unit = 0;
    const int code = as_it_came<&Table::Win_shared_query>(win, rank, size, &unit, base);
    if (code == MPI_SUCCESS) {
        *disp_unit = unit;
    }
    return code;
}

struct Substitute {
    const char* symbol;
    void* function;
};

} // namespace

void* in_place_of(const char* symbol) noexcept
{
#define SIDELIGHT_SMALLER(name, answer, handle)                                                    \
    Substitute                                                                                     \
    {                                                                                              \
        "PMPI_" #name "_c", smaller<&Table::name, &answer, handle>(&PMPI_##name, &PMPI_##name##_c) \
    }
    static const std::array substitutes{
        SIDELIGHT_SMALLER(Win_create, answer_comm, 4),
        SIDELIGHT_SMALLER(Win_allocate, answer_comm, 3),
        SIDELIGHT_SMALLER(Win_allocate_shared, answer_comm, 3),
        SIDELIGHT_SMALLER(Put, answer_window, 7),
        SIDELIGHT_SMALLER(Get, answer_window, 7),
        SIDELIGHT_SMALLER(Accumulate, answer_window, 8),
        SIDELIGHT_SMALLER(Get_accumulate, answer_window, 11),
        SIDELIGHT_SMALLER(Rput, answer_window, 7),
        SIDELIGHT_SMALLER(Rget, answer_window, 7),
        SIDELIGHT_SMALLER(Raccumulate, answer_window, 8),
        SIDELIGHT_SMALLER(Rget_accumulate, answer_window, 11),
        Substitute{"PMPI_Win_shared_query_c", reinterpret_cast<void*>(&shared_query)},
    };
#undef SIDELIGHT_SMALLER
    for (const Substitute& substitute : substitutes) {
        if (std::strcmp(substitute.symbol, symbol) == 0) {
            return substitute.function;
        }
    }
    return nullptr;
}

} // namespace sidelight::host::mpi
