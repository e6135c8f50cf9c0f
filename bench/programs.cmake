# SPDX-License-Identifier: BSD-3-Clause
# build/<host>/bench/PROGRAM for each host, and once what has no MPI: build/bench/bare with its
# library of empty functions, and, where UCX has headers, build/bench/network.

set(measure ${directory}/measure.c ${directory}/agree.c)
foreach(program latency notify own_accesses thread_flush windows)
    sidelight_mpi_program(${host} ${kind} ${program}
        SOURCES ${directory}/${program}.c ${measure})
endforeach()
file(GLOB pattern_sources CONFIGURE_DEPENDS ${directory}/patterns/*.c)
sidelight_mpi_program(${host} ${kind} patterns
    SOURCES ${pattern_sources} ${directory}/epochs.c ${measure}
    LIBRARIES ${CMAKE_DL_LIBS})
file(GLOB halo_sources CONFIGURE_DEPENDS ${directory}/halo/*.c)
sidelight_mpi_program(${host} ${kind} halo
    SOURCES ${halo_sources} ${directory}/epochs.c ${measure}
    LIBRARIES ${CMAKE_DL_LIBS})
if(ZLIB_FOUND)
    sidelight_mpi_program(${host} ${kind} transactions
        SOURCES ${directory}/transactions.c ${directory}/web_graph.c ${directory}/epochs.c
            ${measure}
        LIBRARIES ZLIB::ZLIB ${CMAKE_DL_LIBS})
endif()

sidelight_mpi_program(${host} ${kind} undelayed
    SOURCES ${directory}/undelayed.c ${directory}/epochs.c ${directory}/pair.c
        ${measure}
    LIBRARIES ${CMAKE_DL_LIBS})

foreach(program memhandle ordered_put)
    sidelight_mpi_program(${host} ${kind} ${program}
        SOURCES ${directory}/${program}.c ${directory}/ways.c ${directory}/pair.c
            ${measure})
endforeach()
file(GLOB am_sources CONFIGURE_DEPENDS ${directory}/am/*.c)
sidelight_mpi_program(${host} ${kind} am SOURCES ${am_sources} ${measure})

sidelight_mpi_program(${host} ${kind} messages
    SOURCES ${directory}/messages.c ${directory}/work.c ${directory}/pair.c ${measure})
foreach(program call_times overlap_messages progress_memory)
    sidelight_mpi_program(${host} ${kind} ${program}
        SOURCES ${directory}/${program}.c ${directory}/overlap.c ${directory}/work.c
            ${measure})
endforeach()
sidelight_mpi_program(${host} ${kind} solver
    SOURCES ${directory}/solver.c ${directory}/overlap.c ${directory}/work.c
        ${measure}
    LIBRARIES m)
sidelight_mpi_program(${host} ${kind} overlap_epochs
    SOURCES ${directory}/overlap_epochs.c ${directory}/overlap.c ${directory}/work.c
        ${directory}/epochs.c ${measure}
    LIBRARIES ${CMAKE_DL_LIBS})

foreach(program flush_local get_compute_put one_sided_progress progress window_kinds)
    sidelight_mpi_program(${host} ${kind} ${program}
        SOURCES ${directory}/${program}.c ${directory}/pair.c ${measure})
endforeach()

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

if(NOT TARGET bench-simulate)
    file(GLOB simulate_sources CONFIGURE_DEPENDS ${directory}/simulate/*.cpp)
    add_executable(bench-simulate ${simulate_sources})
    set_target_properties(bench-simulate PROPERTIES
        OUTPUT_NAME simulate
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${kind})
    target_link_libraries(bench-simulate PRIVATE
        sidelight-options sidelight-sim sidelight-engine)
endif()

if(NOT TARGET bench-network AND SIDELIGHT_UCX_INCLUDE)
    file(GLOB network_sources CONFIGURE_DEPENDS ${directory}/network/*.cpp)
    add_executable(bench-network ${network_sources} ${directory}/measure.c)
    set_target_properties(bench-network PROPERTIES
        OUTPUT_NAME network
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${kind})
    target_include_directories(bench-network PRIVATE ${directory} ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(bench-network SYSTEM PRIVATE ${SIDELIGHT_UCX_INCLUDE})
    target_link_libraries(bench-network PRIVATE sidelight-options sidelight-engine)
endif()
