// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/word.hpp"

/// How functions are exported. A library that does not fit the MPI that is loaded hands every call
/// on as it came (host/mpi/fit.hpp), and to the other family's handles: 32 bits in one, 64 in the
/// other. So no exported name of MPI's takes its arguments as what <mpi.h> says they are, but as
/// words, which hold either:
///
/// - most calls go through `front.cpp`, whose table says who serves them: `SIDELIGHT_OWN int
///   own_X(...)` defines what this library does, and a line in front.def exports the names;
/// - calls that must not take a nanosecond longer take words themselves, and look at the fit when
///   the window is not one of theirs: `SIDELIGHT_WORDS(X, parameters) { ... }`.
///
/// Both have a second name, PMPI_X, so that a profiling tool above which defines MPI_X and calls
/// PMPI_X still ends up here. `SIDELIGHT_ENTRY` exports all else, and a line
/// `SIDELIGHT_PROFILED(X)` behind MPIX_X its second name, PMPIX_X; `SIDELIGHT_PROFILED_FORTRAN(x_)`
/// does the same for mpix_x_.
#define SIDELIGHT_ENTRY extern "C" __attribute__((visibility("default")))
#define SIDELIGHT_OWN extern "C"
#define SIDELIGHT_PROFILED(name)                                                                   \
    SIDELIGHT_ENTRY decltype(MPIX_##name) PMPIX_##name __attribute__((alias("MPIX_" #name)));
#define SIDELIGHT_PROFILED_FORTRAN(name)                                                           \
    SIDELIGHT_ENTRY decltype(mpix_##name) pmpix_##name __attribute__((alias("mpix_" #name)));
#define SIDELIGHT_WORDS(name, ...)                                                                 \
    SIDELIGHT_ENTRY int words_of_##name(__VA_ARGS__) asm("MPI_" #name);                            \
    SIDELIGHT_ENTRY int profiled_words_of_##name(__VA_ARGS__) asm("PMPI_" #name)                   \
        __attribute__((alias("MPI_" #name)));                                                      \
    int words_of_##name(__VA_ARGS__)

namespace sidelight::api {

using host::mpi::as_it_came;
using host::mpi::narrowed;
using host::mpi::Word;

} // namespace sidelight::api

#define SIDELIGHT_FRONT(name, words) SIDELIGHT_OWN decltype(PMPI_##name) own_##name;
#define SIDELIGHT_TRACED_FRONT(name, words) SIDELIGHT_FRONT(name, words)
#define SIDELIGHT_FORTRAN_FRONT(call, name, words)
#include "api/front.def"
