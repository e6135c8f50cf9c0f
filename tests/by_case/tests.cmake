# SPDX-License-Identifier: BSD-3-Clause
# Cases that are told one by one, host alone beside Sidelight. The tables are for `make by-case`;
# here are the few limits of the system that tell most, and those wrong arguments that
# mpi.wrong_arguments cannot play: the library does not know what they are.

add_executable(restrict ${CMAKE_CURRENT_LIST_DIR}/restrict.c)
set_target_properties(restrict PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(restrict PRIVATE sidelight-options)

if(NOT SIDELIGHT_SANITIZE)
    foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
        add_test(NAME mpi.limits.2.${host} COMMAND ${SIDELIGHT_PYTHON}
            ${CMAKE_CURRENT_LIST_DIR}/limits --build ${PROJECT_BINARY_DIR} --hosts ${host}
            --quick --check)
        set_tests_properties(mpi.limits.2.${host} PROPERTIES
            LABELS "mpi;${host}" PROCESSORS 2 TIMEOUT 1200 SKIP_RETURN_CODE 77)
        add_test(NAME mpi.wrong_arguments.by_case.2.${host} COMMAND ${SIDELIGHT_PYTHON}
            ${CMAKE_CURRENT_LIST_DIR}/wrong_arguments --build ${PROJECT_BINARY_DIR}
            --hosts ${host} --check)
        sidelight_repeated(repeated wrong_arguments.by_case 2 ${host} 2)
        set(labels mpi ${host} ${repeated})
        set_tests_properties(mpi.wrong_arguments.by_case.2.${host} PROPERTIES
            LABELS "${labels}" PROCESSORS 2 TIMEOUT 1800
            COST 100) # a minute on Open MPI 4, of sleep: not the last one
    endforeach()
endif()
