# SPDX-License-Identifier: BSD-3-Clause
# A program that is not linked to MPI and loads an object that is, as Python does with mpi4py; by
# itself, and behind a shell.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    set(directory ${PROJECT_BINARY_DIR}/${host}/loaded_late)
    add_executable(${host}-loader ${CMAKE_CURRENT_LIST_DIR}/loader.c)
    set_target_properties(${host}-loader PROPERTIES
        OUTPUT_NAME loader RUNTIME_OUTPUT_DIRECTORY ${directory})
    target_link_libraries(${host}-loader PRIVATE sidelight-options ${CMAKE_DL_LIBS})
    add_library(${host}-loaded-late MODULE ${CMAKE_CURRENT_LIST_DIR}/program.c)
    set_target_properties(${host}-loaded-late PROPERTIES
        PREFIX "" OUTPUT_NAME program LIBRARY_OUTPUT_DIRECTORY ${directory})
    target_link_libraries(${host}-loaded-late PRIVATE sidelight-options ${host}-mpi)

    set(runner ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py
        --build ${PROJECT_BINARY_DIR} --host ${host} -n 2 --timeout 180
        --preload ${PROJECT_BINARY_DIR}/${host}/libsidelight.so)
    add_test(NAME mpi.loaded_late.2.${host}
        COMMAND ${runner} ${directory}/loader ${directory}/program.so)
    add_test(NAME mpi.loaded_behind_shell.2.${host}
        COMMAND ${runner} /bin/sh -c "ls / > /dev/null && \"$0\" \"$@\""
            ${directory}/loader ${directory}/program.so)
    set_tests_properties(mpi.loaded_late.2.${host} mpi.loaded_behind_shell.2.${host} PROPERTIES
        LABELS "mpi;${host}" PROCESSORS 2 TIMEOUT 300)
endforeach()
