# SPDX-License-Identifier: BSD-3-Clause
# The library of one family of hosts in a program of the other says so, and ends the program.

function(sidelight_wrong_host_test library program said)
    if(NOT library IN_LIST SIDELIGHT_FOUND_HOSTS OR NOT program IN_LIST SIDELIGHT_FOUND_HOSTS)
        return()
    endif()
    add_test(NAME mpi.wrong_host.${library}.${program}
        COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py --host ${program} -n 2
            --preload ${PROJECT_BINARY_DIR}/${library}/libsidelight.so
            ${PROJECT_BINARY_DIR}/${program}/tests/operations)
    set_tests_properties(mpi.wrong_host.${library}.${program} PROPERTIES
        LABELS "mpi;${program}" PROCESSORS 2 TIMEOUT 120 PASS_REGULAR_EXPRESSION ${said})
endfunction()

sidelight_wrong_host_test(mpich4 openmpi4 "built for MPICH, but the program has loaded Open MPI")
sidelight_wrong_host_test(openmpi4 mpich4 "built for Open MPI, but the program has loaded MPICH")
