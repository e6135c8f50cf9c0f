# SPDX-License-Identifier: BSD-3-Clause
# Serial programs are linked to a library that has MPI's names and not those of PMPI.

set(directory ${PROJECT_BINARY_DIR}/tests/stand_in)
add_library(stand-in SHARED ${CMAKE_CURRENT_LIST_DIR}/stand_in.c)
add_executable(stand-in-program ${CMAKE_CURRENT_LIST_DIR}/program.c)
set_target_properties(stand-in stand-in-program PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${directory} RUNTIME_OUTPUT_DIRECTORY ${directory})
target_link_libraries(stand-in PRIVATE sidelight-options)
target_link_libraries(stand-in-program PRIVATE sidelight-options stand-in)

foreach(host IN LISTS SIDELIGHT_LIBRARY_HOSTS)
    set(library $<TARGET_FILE:${host}-sidelight>)
    add_test(NAME mpi.stand_in.${host} COMMAND stand-in-program)
    add_test(NAME mpi.stand_in_messages.${host} COMMAND stand-in-program)
    set_tests_properties(mpi.stand_in.${host} mpi.stand_in_messages.${host} PROPERTIES
        LABELS "mpi;${host}" TIMEOUT 60)
    set_property(TEST mpi.stand_in.${host} PROPERTY ENVIRONMENT LD_PRELOAD=${library})
    set_property(TEST mpi.stand_in_messages.${host} PROPERTY ENVIRONMENT
        LD_PRELOAD=$<TARGET_FILE:${host}-sidelight-messages>:${library} SIDELIGHT_PROGRESS=smart)
endforeach()
