// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {

/// An argument as it comes: what a register or a place on the stack holds, whichever family's
/// handle it may be.
using Word = std::intptr_t;

template <class Type>
[[nodiscard]] [[gnu::always_inline]] inline Type narrowed(Word word) noexcept
{
    if constexpr (std::is_pointer_v<Type>) {
        return reinterpret_cast<Type>(word);
    } else {
        return static_cast<Type>(word);
    }
}

/// The host's function gets the words of the call.
template <auto host_function, class... Words>
int as_it_came(Words... words) noexcept
{
    void* function = reinterpret_cast<void*>(table().*host_function);
    return reinterpret_cast<int (*)(Words...)>(function)(words...);
}

} // namespace sidelight::host::mpi
