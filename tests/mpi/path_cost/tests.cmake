# SPDX-License-Identifier: BSD-3-Clause
# Ranks that wait for each other spin: sleeping is a system call, and rightly so.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} tests path_cost
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/path_cost.c ${CMAKE_CURRENT_LIST_DIR}/counters.c)
endforeach()
set(spinning SIDELIGHT_SLEEP=0 SIDELIGHT_SPIN=1000000)
sidelight_mpi_test(path_cost RANKS 2 NO_SANITIZER ENVIRONMENT ${spinning})
sidelight_mpi_test(path_cost_threaded RANKS 2 NO_SANITIZER PROGRAM path_cost ARGS multiple
    ENVIRONMENT ${spinning})
