// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "api/entry.hpp"

/// The calls of notifications (MPI-5.1, 12.6) have their names in the standard, which no host knows
/// yet, and the same as MPIX_ and PMPIX_. The functions have other ones in here, so that a host
/// which declares them is no obstacle.
#define SIDELIGHT_NOTIFICATION(name, ...)                                                          \
    SIDELIGHT_ENTRY int notification_##name(__VA_ARGS__) noexcept asm("MPI_" #name);               \
    SIDELIGHT_ENTRY int profiled_notification_##name(__VA_ARGS__) noexcept asm("PMPI_" #name)      \
        __attribute__((alias("MPI_" #name)));                                                      \
    SIDELIGHT_ENTRY int other_notification_##name(__VA_ARGS__) noexcept asm("MPIX_" #name)         \
        __attribute__((alias("MPI_" #name)));                                                      \
    SIDELIGHT_ENTRY int profiled_other_##name(__VA_ARGS__) noexcept asm("PMPIX_" #name)            \
        __attribute__((alias("MPI_" #name)));                                                      \
    int notification_##name(__VA_ARGS__) noexcept

/// The same for Fortran, with the name in lower case.
#define SIDELIGHT_FORTRAN_NOTIFICATION(name, ...)                                                  \
    SIDELIGHT_ENTRY void fortran_##name(__VA_ARGS__) noexcept asm("mpi_" #name);                   \
    SIDELIGHT_ENTRY void profiled_fortran_##name(__VA_ARGS__) noexcept asm("pmpi_" #name)          \
        __attribute__((alias("mpi_" #name)));                                                      \
    SIDELIGHT_ENTRY void other_fortran_##name(__VA_ARGS__) noexcept asm("mpix_" #name)             \
        __attribute__((alias("mpi_" #name)));                                                      \
    SIDELIGHT_ENTRY void profiled_other_fortran_##name(__VA_ARGS__) noexcept asm("pmpix_" #name)   \
        __attribute__((alias("mpi_" #name)));                                                      \
    void fortran_##name(__VA_ARGS__) noexcept
