# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are killed, and what they leave behind.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} killed_rank sitting SOURCES ${CMAKE_CURRENT_LIST_DIR}/sitting.c)
    foreach(ranks 2 4)
        set(test mpi.killed_rank.${ranks}.${host})
        add_test(NAME ${test} COMMAND ${SIDELIGHT_PYTHON}
            ${CMAKE_CURRENT_LIST_DIR}/test_killed_rank.py
            --host ${host} --build ${PROJECT_BINARY_DIR} -n ${ranks})
        set_tests_properties(${test} PROPERTIES
            LABELS "mpi;${host}" PROCESSORS ${ranks} TIMEOUT 300)
    endforeach()
endforeach()
