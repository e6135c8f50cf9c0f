# SPDX-License-Identifier: BSD-3-Clause
# The library of another host says so and steps aside: of the other family, whose handles are of
# another size, of another version of the same family, and of the MPI ABI, whose library answers
# with the version of an MPI that has other handles.

foreach(program IN LISTS SIDELIGHT_LIBRARY_HOSTS)
    foreach(library IN LISTS SIDELIGHT_LIBRARY_HOSTS)
        if(NOT library STREQUAL program)
            set(test mpi.wrong_host.${library}.${program})
            add_test(NAME ${test}
                COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py
                    --build ${PROJECT_BINARY_DIR} --host ${program} -n 2 --timeout 180
                    --preload ${PROJECT_BINARY_DIR}/${library}/libsidelight.so
                    ${PROJECT_BINARY_DIR}/${program}/tests/wrong_host)
            set_tests_properties(${test} PROPERTIES
                LABELS "mpi;${program}" PROCESSORS 2 TIMEOUT 300
                PASS_REGULAR_EXPRESSION "steps aside and leaves all calls to that MPI.*ok")
        endif()
    endforeach()
endforeach()
