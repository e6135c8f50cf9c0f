# SPDX-License-Identifier: BSD-3-Clause
# One library for the programs of all MPIs that have the MPI ABI. Its engine is that of the others,
# so these are the programs in which handles, constants, types and requests of <mpi.h> count.

set(SIDELIGHT_ABI_PROGRAMS operations reductions datatypes datatype_edges attributes error_handlers
    argument_errors created_windows dynamic_windows fence gats locks nonblocking blocking_calls
    two_sided threads sessions notifications active_messages duplicates memory_handles
    null_arguments large_windows large_counts complete_requests failed_requests)

# As they are on hosts: SIDELIGHT_FOUND_HOSTS is another for what is called from here.
function(sidelight_abi_tests)
    set(SIDELIGHT_FOUND_HOSTS mpi-abi)
    foreach(program IN LISTS SIDELIGHT_ABI_PROGRAMS)
        sidelight_mpi_program(mpi-abi tests ${program}
            SOURCES ${PROJECT_SOURCE_DIR}/tests/mpi/${program}.c)
        sidelight_mpi_test(${program} RANKS 2)
    endforeach()
    foreach(program message_requests message_progress)
        sidelight_mpi_program(mpi-abi tests ${program}
            SOURCES ${PROJECT_SOURCE_DIR}/tests/mpi/${program}.c)
        sidelight_mpi_test(${program} RANKS 2 MESSAGES)
    endforeach()
    sidelight_mpi_program(mpi-abi tests wrong_host
        SOURCES ${PROJECT_SOURCE_DIR}/tests/mpi/wrong_host.c)
endfunction()

if(mpi-abi IN_LIST SIDELIGHT_LIBRARY_HOSTS AND NOT mpi-abi IN_LIST SIDELIGHT_FOUND_HOSTS)
    sidelight_abi_tests()
endif()

# The same files beside another MPI. Intel's library of the MPI ABI (2021.19) ends the program at
# its first error, whatever MPI_ERRORS_RETURN says, so the programs that make errors are left out,
# and datatype_edges, which it ends in MPI_Type_create_f90_real.
if(mpi-abi IN_LIST SIDELIGHT_LIBRARY_HOSTS AND impi IN_LIST SIDELIGHT_FOUND_HOSTS)
    foreach(program operations reductions datatypes created_windows fence gats locks nonblocking
            blocking_calls two_sided threads large_windows large_counts complete_requests)
        set(test mpi.abi_${program}.2.impi)
        add_test(NAME ${test} COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py
            --build ${PROJECT_BINARY_DIR} --host impi -n 2 --timeout 180
            --preload ${PROJECT_BINARY_DIR}/mpi-abi/libsidelight.so
            ${PROJECT_BINARY_DIR}/mpi-abi/tests/${program})
        set_tests_properties(${test} PROPERTIES LABELS "mpi;impi" PROCESSORS 2 TIMEOUT 300)
    endforeach()
endif()
