# SPDX-License-Identifier: BSD-3-Clause
# The library of another host says so and steps aside: of the other family, whose handles are of
# another size, of another version of the same family, and of the MPI ABI, whose library answers
# with the version of an MPI that has other handles.

foreach(host IN LISTS SIDELIGHT_LIBRARY_HOSTS)
    set(others ${SIDELIGHT_LIBRARY_HOSTS})
    list(REMOVE_ITEM others ${host})
    foreach(library IN LISTS others)
        foreach(program wrong_host large_counts)
            set(test mpi.${program}.${library}.${host})
            add_test(NAME ${test}
                COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py
                    --build ${PROJECT_BINARY_DIR} --host ${host} -n 2 --timeout 180
                    --preload ${PROJECT_BINARY_DIR}/${library}/libsidelight.so
                    --prints "steps aside and leaves all calls to that MPI"
                    ${PROJECT_BINARY_DIR}/${host}/tests/${program} beside)
            set_tests_properties(${test} PROPERTIES
                LABELS "mpi;${host}" PROCESSORS 2 TIMEOUT 300)
        endforeach()
    endforeach()
endforeach()
