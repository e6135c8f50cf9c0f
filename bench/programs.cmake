# SPDX-License-Identifier: BSD-3-Clause
# build/<host>/bench/latency for each host, and build/bench/bare once, with its
# library of empty functions: it has no MPI in it.

sidelight_mpi_program(${host} ${kind} latency
    SOURCES ${directory}/latency.c ${directory}/measure.c)

if(NOT TARGET bench-bare)
    add_library(bench-bare-calls SHARED ${directory}/bare/calls/calls.c)
    set_target_properties(bench-bare-calls PROPERTIES
        OUTPUT_NAME bare_calls
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${kind})
    target_include_directories(bench-bare-calls PUBLIC ${directory}/bare/calls)
    target_link_libraries(bench-bare-calls PRIVATE sidelight-options)

    file(GLOB bare_sources CONFIGURE_DEPENDS ${directory}/bare/*.c)
    add_executable(bench-bare ${bare_sources} ${directory}/measure.c)
    set_target_properties(bench-bare PROPERTIES
        OUTPUT_NAME bare
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${kind})
    target_include_directories(bench-bare PRIVATE ${directory})
    target_link_libraries(bench-bare PRIVATE sidelight-options bench-bare-calls)
endif()
