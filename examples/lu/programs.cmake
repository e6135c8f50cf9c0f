# SPDX-License-Identifier: BSD-3-Clause
# The LU programs share all but one file. lu_nonblocking includes <sidelight.h>, and is linked to
# the library for that; the others use the MPI standard alone.
if(NOT TARGET PkgConfig::OPENBLAS OR NOT ZLIB_FOUND)
    return()
endif()
set(shared_sources
    lu_main.c lu_solve.c lu_kernel.c lu_plan.c lu_ring.c lu_matrix.c lu_report.c lu_clock.c)
list(TRANSFORM shared_sources PREPEND ${directory}/)
foreach(program lu_blocking lu_blocking_early lu_overlapping lu_nonblocking lu_two_sided)
    sidelight_mpi_program(${host} ${kind} ${program}
        SOURCES ${directory}/${program}.c ${shared_sources}
        LIBRARIES PkgConfig::OPENBLAS ZLIB::ZLIB)
endforeach()
