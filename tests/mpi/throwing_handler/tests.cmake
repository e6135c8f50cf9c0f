# SPDX-License-Identifier: BSD-3-Clause
# In C++, because it throws.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} tests throwing_handler
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/throwing_handler.cpp)
endforeach()
sidelight_mpi_test(throwing_handler RANKS 1)
