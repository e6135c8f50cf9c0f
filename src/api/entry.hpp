// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"

/// How an MPI function is exported: `SIDELIGHT_ENTRY int MPI_X(...) { ... }`, then
/// `SIDELIGHT_PROFILED(X);` gives it its second name, PMPI_X, so that a profiling tool above which
/// defines MPI_X and calls PMPI_X still ends up here.
#define SIDELIGHT_ENTRY extern "C" __attribute__((visibility("default")))
#define SIDELIGHT_PROFILED(name)                                                                   \
    SIDELIGHT_ENTRY decltype(PMPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))
