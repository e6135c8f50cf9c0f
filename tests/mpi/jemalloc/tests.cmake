# SPDX-License-Identifier: BSD-3-Clause
# A program with another allocator: jemalloc, where it is installed.

find_library(SIDELIGHT_JEMALLOC NAMES libjemalloc.so.2 jemalloc)
if(SIDELIGHT_JEMALLOC)
    foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
        sidelight_mpi_program(${host} tests beside_jemalloc
            SOURCES ${CMAKE_CURRENT_LIST_DIR}/beside_jemalloc.c LIBRARIES ${SIDELIGHT_JEMALLOC})
    endforeach()
    # Pages go back at once.
    set(eager MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0)
    sidelight_mpi_test(beside_jemalloc RANKS 2 NO_SANITIZER ENVIRONMENT ${eager})
    sidelight_mpi_test(inplace.beside_jemalloc RANKS 2 NO_SANITIZER PROGRAM beside_jemalloc
        ENVIRONMENT ${eager} SIDELIGHT_SHARE_MEMORY=inplace)
else()
    message(STATUS "jemalloc: not found, so its test is left out (package libjemalloc2)")
endif()
