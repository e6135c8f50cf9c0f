# SPDX-License-Identifier: BSD-3-Clause
# Profiling tools (libraries), programs for them, and the tests that run both. A tool is preloaded,
# part of the program, or a library that the program is linked to.

function(sidelight_profiling_library host name)
    add_library(${host}-${name} SHARED ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}.c)
    set_target_properties(${host}-${name} PROPERTIES
        OUTPUT_NAME ${name}
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${host}/profiler)
    target_link_libraries(${host}-${name} PRIVATE sidelight-options ${host}-mpi)
endfunction()

function(sidelight_profiler_test name host)
    add_test(NAME mpi.${name}.2.${host} COMMAND ${SIDELIGHT_PYTHON}
        ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/test_profiler.py
        --host ${host} --build ${PROJECT_BINARY_DIR} ${ARGN})
    set_tests_properties(mpi.${name}.2.${host} PROPERTIES
        LABELS "mpi;${host}" PROCESSORS 2 TIMEOUT 600)
endfunction()

set(program ${CMAKE_CURRENT_LIST_DIR}/profiled.c)
set(tool ${CMAKE_CURRENT_LIST_DIR}/counting_tool.c)
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_profiling_library(${host} counting_tool)
    sidelight_mpi_program(${host} profiler profiled SOURCES ${program})
    sidelight_mpi_program(${host} profiler profiled_by_itself SOURCES ${program} ${tool})
    sidelight_mpi_program(${host} profiler profiled_by_library SOURCES ${program}
        LIBRARIES ${host}-counting_tool)
    sidelight_mpi_program(${host} profiler profiled_linked SOURCES ${program}
        LIBRARIES ${host}-counting_tool ${host}-sidelight)
    sidelight_profiler_test(profiler ${host})
    sidelight_mpi_program(${host} tests profiled_extensions
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/extensions.c)

    if(host IN_LIST hosts_with_fortran)
        sidelight_profiling_library(${host} fortran_tool)
        foreach(flavour IN LISTS flavours)
            sidelight_fortran_program(${host} profiled_${flavour}
                SOURCES ${CMAKE_CURRENT_LIST_DIR}/../fortran/checks.F90
                    ${CMAKE_CURRENT_LIST_DIR}/profiled.F90
                FLAGS -D${macro_of_${flavour}})
        endforeach()
        sidelight_profiler_test(profiler_fortran ${host} --fortran)
    endif()
endforeach()
sidelight_mpi_test(profiled_extensions RANKS 2)
