# SPDX-License-Identifier: BSD-3-Clause
# The same program in three ways, and plainly. search_active includes <sidelight.h>; the others use
# the MPI standard alone.
if(NOT ZLIB_FOUND)
    return()
endif()
set(search_sources search_main.c search_check.c search_input.c search_part.c)
list(TRANSFORM search_sources PREPEND ${directory}/)
foreach(program search_active search_get search_plain search_server)
    sidelight_mpi_program(${host} ${kind} ${program}
        SOURCES ${directory}/${program}.c ${search_sources} LIBRARIES ZLIB::ZLIB)
endforeach()
