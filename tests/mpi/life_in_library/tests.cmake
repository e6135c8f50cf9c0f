# SPDX-License-Identifier: BSD-3-Clause
# MPI begins before this library is initialised and ends after its end.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    set(directory ${PROJECT_BINARY_DIR}/${host}/tests)
    add_library(${host}-life-in-library SHARED ${CMAKE_CURRENT_LIST_DIR}/library.c)
    set_target_properties(${host}-life-in-library PROPERTIES
        OUTPUT_NAME life-in-library LIBRARY_OUTPUT_DIRECTORY ${directory})
    target_link_libraries(${host}-life-in-library PRIVATE sidelight-options ${host}-mpi)
    sidelight_mpi_program(${host} tests life_in_library
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/program.c
        LIBRARIES ${host}-life-in-library ${CMAKE_DL_LIBS})
endforeach()
sidelight_mpi_test(life_in_library RANKS 2)
