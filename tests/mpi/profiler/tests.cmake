# SPDX-License-Identifier: BSD-3-Clause
# A profiling tool (a library to preload), a program for it, and the test that runs both.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} profiler profiled SOURCES ${CMAKE_CURRENT_LIST_DIR}/profiled.c)
    add_library(${host}-counting-tool SHARED ${CMAKE_CURRENT_LIST_DIR}/counting_tool.c)
    set_target_properties(${host}-counting-tool PROPERTIES
        OUTPUT_NAME counting_tool
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${host}/profiler)
    target_link_libraries(${host}-counting-tool PRIVATE sidelight-options ${host}-mpi)
    add_test(NAME mpi.profiler.2.${host} COMMAND ${SIDELIGHT_PYTHON}
        ${CMAKE_CURRENT_LIST_DIR}/test_profiler.py --host ${host} --build ${PROJECT_BINARY_DIR})
    set_tests_properties(mpi.profiler.2.${host} PROPERTIES
        LABELS "mpi;${host}" PROCESSORS 2 TIMEOUT 200)
endforeach()
