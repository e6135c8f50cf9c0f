# SPDX-License-Identifier: BSD-3-Clause
# Ten thousand operations and more on each route: to oneself, in mapped memory on each kind of
# window, by messages, by both at once; across nodes in tests/nodes/tests.cmake.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} tests random_operations
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/random_operations.c)
endforeach()
sidelight_mpi_test(random_operations_self RANKS 1 PROGRAM random_operations ARGS 10000 1 all)
foreach(kind allocate allocate_shared create dynamic)
    sidelight_mpi_test(random_operations_${kind} RANKS 2 4 PROGRAM random_operations
        ARGS 4000 1 ${kind})
endforeach()
sidelight_mpi_test(emulated.random_operations RANKS 4 PROGRAM random_operations
    ARGS 10000 1 all ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(emulated.smart_random_operations RANKS 4 PROGRAM random_operations
    ARGS 4000 2 all ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_PROGRESS=smart)
sidelight_mpi_test(mixed.random_operations RANKS 4 PROGRAM random_operations
    ARGS 10000 1 all ODD SIDELIGHT_ROUTE=emulated)
# Attached regions that touch, by messages across them and at once inside of them; origins that ask
# for locks by messages, of members that take their own.
sidelight_mpi_test(mixed.random_operations_dynamic RANKS 4 PROGRAM random_operations
    ARGS 6000 1 dynamic ODD SIDELIGHT_ROUTE=emulated)

# The test of the test: updates that bring a wrong byte are noticed, and one is enough to show it.
sidelight_mpi_test(random_operations_wrong RANKS 4 PROGRAM random_operations
    ARGS 1000 1 create ENVIRONMENT SIDELIGHT_TEST_WRONG=137
    FAILS "the shortest history that fails, 1 of")

# A hundred thousand operations on each kind: minutes, so under a label of their own.
foreach(kind allocate allocate_shared create dynamic)
    sidelight_mpi_test(random_operations_long_${kind} RANKS 4 PROGRAM random_operations
        ARGS 100000 1 ${kind} TIMEOUT 900 LABEL long)
endforeach()

# And on windows of every kind by messages alone, on one node and on two.
sidelight_mpi_test(emulated.random_operations_long RANKS 4 PROGRAM random_operations
    ARGS 100000 1 all TIMEOUT 900 LABEL long
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(random_operations_long RANKS 4 NODES 2 PROGRAM random_operations
    ARGS 100000 1 all TIMEOUT 900 LABEL long
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
