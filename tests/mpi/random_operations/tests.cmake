# SPDX-License-Identifier: BSD-3-Clause
# Windows that are Sidelight's own; each kind by itself, so that each has its share of operations.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} tests random_operations
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/random_operations.c)
endforeach()
foreach(kind allocate allocate_shared create dynamic)
    sidelight_mpi_test(random_operations_${kind} RANKS 2 4 PROGRAM random_operations
        ARGS 4000 1 ${kind})
endforeach()

sidelight_mpi_test(emulated.random_operations RANKS 4 PROGRAM random_operations
    ARGS 8000 1 all ENVIRONMENT SIDELIGHT_ROUTE=emulated)

# A hundred thousand operations on each kind: minutes, so under a label of their own.
foreach(kind allocate allocate_shared create dynamic)
    sidelight_mpi_test(random_operations_long_${kind} RANKS 4 PROGRAM random_operations
        ARGS 100000 1 ${kind} TIMEOUT 900 ENVIRONMENT SIDELIGHT_TEST_SECONDS=900)
    foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
        set_tests_properties(mpi.random_operations_long_${kind}.4.${host} PROPERTIES
            LABELS long)
    endforeach()
endforeach()

# And on windows of every kind by messages alone, on one node and on two.
sidelight_mpi_test(emulated.random_operations_long RANKS 4 PROGRAM random_operations
    ARGS 100000 1 all TIMEOUT 900
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_TEST_SECONDS=900)
sidelight_mpi_test(random_operations_long RANKS 4 NODES 2 PROGRAM random_operations
    ARGS 100000 1 all TIMEOUT 900 ENVIRONMENT SIDELIGHT_TEST_SECONDS=900)
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    set_tests_properties(mpi.emulated.random_operations_long.4.${host}
        hosts.random_operations_long.4.2.${host} PROPERTIES LABELS long)
endforeach()
