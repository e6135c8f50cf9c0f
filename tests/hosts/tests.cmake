# SPDX-License-Identifier: BSD-3-Clause
# Programs across nodes: two and three of them, with two ranks each. The nodes are made of network
# namespaces on this machine (tools/sidelight_lib/namespaces.py).

# Programs of tests/mpi that run here too, as they are; what needs shared memory is left out. A
# program that wants arguments or an environment gets lines of its own below.
set(SIDELIGHT_ACROSS_NODES operations reductions datatypes datatype_edges ordering atomicity
    attributes created_windows dynamic_windows fence gats locks nonblocking nonblocking_late
    nonblocking_ahead argument_errors epoch_errors threads)
# On three nodes: those in which it matters that a third one is there.
set(SIDELIGHT_ACROSS_THREE_NODES created_windows fence gats locks nonblocking)

set(three_nodes_skipped mpich4 "MPI_Finalize may not end over TCP before MPICH 4.2")

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} tests nodes SOURCES ${CMAKE_CURRENT_LIST_DIR}/nodes.c)
endforeach()
sidelight_mpi_test(nodes RANKS 2 NODES 2 ARGS 2)
sidelight_mpi_test(nodes RANKS 4 NODES 2 ARGS 2)
sidelight_mpi_test(nodes RANKS 6 NODES 3 ARGS 3 SKIP_HOSTS ${three_nodes_skipped})

foreach(program IN LISTS SIDELIGHT_ACROSS_NODES)
    sidelight_mpi_test(${program} RANKS 4 NODES 2)
endforeach()
foreach(program IN LISTS SIDELIGHT_ACROSS_THREE_NODES)
    sidelight_mpi_test(${program} RANKS 6 NODES 3 SKIP_HOSTS ${three_nodes_skipped})
endforeach()
sidelight_mpi_test(random_operations RANKS 4 NODES 2 ARGS 4000 1 all)
foreach(program two_sided blocking_calls)
    sidelight_mpi_test(${program} RANKS 2 NODES 2)
endforeach()
sidelight_mpi_test(thread_computing RANKS 2 NODES 2 PROGRAM computing
    ENVIRONMENT SIDELIGHT_PROGRESS=thread)
