# SPDX-License-Identifier: BSD-3-Clause
# Programs across nodes: two and three of them, with two ranks each. The nodes are made of network
# namespaces on this machine (tools/sidelight_lib/namespaces.py).

# Programs of tests/mpi that run here too, as they are; what needs shared memory is left out. A
# program that wants arguments or an environment gets lines of its own below.
set(SIDELIGHT_ACROSS_NODES operations reductions datatypes datatype_edges ordering ordered
    ordered_pairs atomicity lost_updates attributes created_windows dynamic_windows communicators
    fence gats locks shared_locks nonblocking nonblocking_late nonblocking_ahead early_reuse
    argument_errors error_handlers epoch_errors threads two_sided blocking_calls own_memory
    notifications waits pipelines memory_handles active_messages smart_progress finalize_callbacks)
# With neighbours on each node as well: mapped memory and messages in one window.
set(SIDELIGHT_ACROSS_MIXED_NODES operations atomicity lost_updates created_windows dynamic_windows
    fence gats locks shared_locks nonblocking notifications notified_storm)
# On three nodes: those in which it matters that a third one is there.
set(SIDELIGHT_ACROSS_THREE_NODES created_windows gats locks)

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} tests nodes SOURCES ${CMAKE_CURRENT_LIST_DIR}/nodes.c)
    sidelight_mpi_program(${host} tests parting SOURCES ${CMAKE_CURRENT_LIST_DIR}/parting.c)
    sidelight_mpi_program(${host} tests shared_cores
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/shared_cores.c)
endforeach()
sidelight_mpi_test(nodes RANKS 2 NODES 2 ARGS 2 SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
sidelight_mpi_test(nodes RANKS 4 NODES 2 ARGS 2 SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
sidelight_mpi_test(nodes RANKS 6 NODES 3 ARGS 3 SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
# From four nodes on the barrier of MPI_Win_free is not symmetric: who is heard is not told.
sidelight_mpi_test(parting RANKS 7 NODES 7 SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})

sidelight_mpi_test(shared_cores RANKS 2 NODES 2 ENVIRONMENT SIDELIGHT_LOG=info
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})

foreach(program IN LISTS SIDELIGHT_ACROSS_NODES)
    sidelight_mpi_test(${program} RANKS 2 NODES 2 SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
endforeach()
foreach(progress thread smart)
    sidelight_mpi_test(${progress}_first_message RANKS 2 NODES 2 PROGRAM first_message
        ENVIRONMENT SIDELIGHT_PROGRESS=${progress} SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
endforeach()
foreach(program IN LISTS SIDELIGHT_ACROSS_MIXED_NODES)
    sidelight_mpi_test(${program} RANKS 4 NODES 2 SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
endforeach()
foreach(program IN LISTS SIDELIGHT_ACROSS_THREE_NODES)
    sidelight_mpi_test(${program} RANKS 6 NODES 3 SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
endforeach()
sidelight_mpi_test(random_operations RANKS 2 NODES 2 ARGS 10000 1 all
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
sidelight_mpi_test(random_operations RANKS 4 NODES 2 ARGS 10000 1 all
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
sidelight_mpi_test(early_return RANKS 2 NODES 2
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS} ENVIRONMENT SIDELIGHT_PROGRESS=smart)
sidelight_mpi_test(thread_computing RANKS 2 NODES 2 PROGRAM computing
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS} ENVIRONMENT SIDELIGHT_PROGRESS=thread)
sidelight_mpi_test(smart_computing RANKS 2 NODES 2 PROGRAM computing
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS} ENVIRONMENT SIDELIGHT_PROGRESS=smart)
foreach(program message_progress message_requests message_storm)
    sidelight_mpi_test(${program} RANKS 2 NODES 2 MESSAGES SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
endforeach()
