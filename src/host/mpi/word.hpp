// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
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

/// The host's function gets the words of the call. Not noexcept: the host may call an error handler
/// of the program's, which throws, or be where the thread is cancelled.
template <auto host_function, class... Words>
int as_it_came(Words... words)
{
    void* function = reinterpret_cast<void*>(table().*host_function);
    return reinterpret_cast<int (*)(Words...)>(function)(words...);
}

/// A function of which the name alone is known, called with the words of its call.
using Named = void();

template <class... Words>
[[gnu::always_inline]] inline Word call_named(Named* function, Words... words)
{
    return reinterpret_cast<Word (*)(Words...)>(function)(words...);
}

template <class Function>
constexpr std::size_t words_of = 0;
template <class Result, class... Arguments>
constexpr std::size_t words_of<Result(Arguments...)> = sizeof...(Arguments);

} // namespace sidelight::host::mpi

/// The words of a call that has so many, as parameters and by their names. An exported function has
/// as many as its call and no more: a parameter on the stack is the function's own, and compilers
/// write to it. One that the caller never gave is a variable of the caller's.
#define SIDELIGHT_WORD_PARAMETERS(count) SIDELIGHT_WORD_PARAMETERS_##count
#define SIDELIGHT_WORD_PARAMETERS_0
#define SIDELIGHT_WORD_PARAMETERS_1 Word a
#define SIDELIGHT_WORD_PARAMETERS_2 SIDELIGHT_WORD_PARAMETERS_1, Word b
#define SIDELIGHT_WORD_PARAMETERS_3 SIDELIGHT_WORD_PARAMETERS_2, Word c
#define SIDELIGHT_WORD_PARAMETERS_4 SIDELIGHT_WORD_PARAMETERS_3, Word d
#define SIDELIGHT_WORD_PARAMETERS_5 SIDELIGHT_WORD_PARAMETERS_4, Word e
#define SIDELIGHT_WORD_PARAMETERS_6 SIDELIGHT_WORD_PARAMETERS_5, Word f
#define SIDELIGHT_WORD_PARAMETERS_7 SIDELIGHT_WORD_PARAMETERS_6, Word g
#define SIDELIGHT_WORD_PARAMETERS_8 SIDELIGHT_WORD_PARAMETERS_7, Word h
#define SIDELIGHT_WORD_PARAMETERS_9 SIDELIGHT_WORD_PARAMETERS_8, Word i
#define SIDELIGHT_WORD_PARAMETERS_10 SIDELIGHT_WORD_PARAMETERS_9, Word j
#define SIDELIGHT_WORD_PARAMETERS_11 SIDELIGHT_WORD_PARAMETERS_10, Word k
#define SIDELIGHT_WORD_PARAMETERS_12 SIDELIGHT_WORD_PARAMETERS_11, Word l
#define SIDELIGHT_WORD_PARAMETERS_13 SIDELIGHT_WORD_PARAMETERS_12, Word m

#define SIDELIGHT_WORD_NAMES(count) SIDELIGHT_WORD_NAMES_##count
#define SIDELIGHT_WORD_NAMES_0
#define SIDELIGHT_WORD_NAMES_1 a
#define SIDELIGHT_WORD_NAMES_2 SIDELIGHT_WORD_NAMES_1, b
#define SIDELIGHT_WORD_NAMES_3 SIDELIGHT_WORD_NAMES_2, c
#define SIDELIGHT_WORD_NAMES_4 SIDELIGHT_WORD_NAMES_3, d
#define SIDELIGHT_WORD_NAMES_5 SIDELIGHT_WORD_NAMES_4, e
#define SIDELIGHT_WORD_NAMES_6 SIDELIGHT_WORD_NAMES_5, f
#define SIDELIGHT_WORD_NAMES_7 SIDELIGHT_WORD_NAMES_6, g
#define SIDELIGHT_WORD_NAMES_8 SIDELIGHT_WORD_NAMES_7, h
#define SIDELIGHT_WORD_NAMES_9 SIDELIGHT_WORD_NAMES_8, i
#define SIDELIGHT_WORD_NAMES_10 SIDELIGHT_WORD_NAMES_9, j
#define SIDELIGHT_WORD_NAMES_11 SIDELIGHT_WORD_NAMES_10, k
#define SIDELIGHT_WORD_NAMES_12 SIDELIGHT_WORD_NAMES_11, l
#define SIDELIGHT_WORD_NAMES_13 SIDELIGHT_WORD_NAMES_12, m
