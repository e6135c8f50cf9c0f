# SPDX-License-Identifier: BSD-3-Clause
# Programs across nodes: two and three of them, with two ranks each. The nodes are made of network
# namespaces on this machine (tools/sidelight_lib/namespaces.py).

# Programs of tests/mpi that run here too, as they are: those whose windows across nodes are not
# left to the host. A program that wants arguments or an environment gets lines of its own below.
set(SIDELIGHT_ACROSS_NODES)

set(three_nodes_skipped mpich4 "MPI_Finalize may not end over TCP before MPICH 4.2")

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} tests nodes SOURCES ${CMAKE_CURRENT_LIST_DIR}/nodes.c)
endforeach()
sidelight_mpi_test(nodes RANKS 2 NODES 2 ARGS 2)
sidelight_mpi_test(nodes RANKS 4 NODES 2 ARGS 2)
sidelight_mpi_test(nodes RANKS 6 NODES 3 ARGS 3 SKIP_HOSTS ${three_nodes_skipped})

foreach(program IN LISTS SIDELIGHT_ACROSS_NODES)
    sidelight_mpi_test(${program} RANKS 4 NODES 2)
    sidelight_mpi_test(${program} RANKS 6 NODES 3 SKIP_HOSTS ${three_nodes_skipped})
endforeach()
