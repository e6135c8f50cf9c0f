# SPDX-License-Identifier: BSD-3-Clause
# Puts and gets on memory that is not mapped, without the target's engine.

# By the kernel, whatever their size: windows whose memory stays private, on one node
set(by_the_kernel SIDELIGHT_SHARE_MEMORY=never SIDELIGHT_KERNEL_COPY=0)
sidelight_mpi_test(kernel_copy RANKS 2 TIMEOUT 600
    ENVIRONMENT ${by_the_kernel} SIDELIGHT_PROGRESS=calls)
foreach(program created_windows dynamic_windows datatypes threads nonblocking remote_requests
        pipelines duplicates notifications ordered ordered_pairs
        memory_handles active_messages)
    sidelight_mpi_test(kernel_copy.${program} RANKS 3 PROGRAM ${program}
        ENVIRONMENT ${by_the_kernel})
endforeach()
foreach(kind create dynamic)
    sidelight_mpi_test(kernel_copy.random_operations_${kind} RANKS 4 PROGRAM random_operations
        ARGS 4000 1 ${kind} ENVIRONMENT ${by_the_kernel})
endforeach()

# What who waits does for an origin that computes
sidelight_mpi_test(offers RANKS 2 ENVIRONMENT SIDELIGHT_PROGRESS=calls SIDELIGHT_OFFERS=1)
sidelight_mpi_test(offers_behind RANKS 3 ENVIRONMENT SIDELIGHT_PROGRESS=calls SIDELIGHT_OFFERS=1)
sidelight_mpi_test(offers.private_memory RANKS 2 PROGRAM offers
    ENVIRONMENT SIDELIGHT_PROGRESS=calls SIDELIGHT_SHARE_MEMORY=never SIDELIGHT_OFFERS=1)
sidelight_mpi_test(offers.early_return RANKS 2 PROGRAM early_return ARGS offered
    ENVIRONMENT SIDELIGHT_PROGRESS=calls SIDELIGHT_OFFERS=1)
foreach(program gats random_operations)
    sidelight_mpi_test(offers.early_${program} RANKS 3 PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_PROGRESS=calls SIDELIGHT_OFFERS=1 SIDELIGHT_EARLY_RETURN=auto)
endforeach()
foreach(program nonblocking_ahead fence locks)
    sidelight_mpi_test(offers.${program} RANKS 3 PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_PROGRESS=calls SIDELIGHT_OFFERS=1)
endforeach()

# By the network, also where UCX has no hardware for it: each process is a node of its own
function(sidelight_native_test program)
    sidelight_mpi_test(native.${program} PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_ROUTE=native ${ARGN})
endfunction()

foreach(program operations datatypes atomicity attributes created_windows dynamic_windows locks
        nonblocking duplicates)
    sidelight_native_test(${program} RANKS 4)
endforeach()
foreach(program reductions datatype_edges ordering blocking_calls two_sided argument_errors
        epoch_errors threads sessions nonblocking_late remote_requests notifications
        notified_storm ordered ordered_pairs pipelines
        memory_handles active_messages smart_progress)
    sidelight_native_test(${program} RANKS 2)
endforeach()
foreach(program fence gats nonblocking_ahead)
    sidelight_native_test(${program} RANKS 3)
endforeach()
# Its own memory alone is mapped.
sidelight_mpi_test(native.route RANKS 2 PROGRAM created_windows
    ENVIRONMENT SIDELIGHT_ROUTE=native SIDELIGHT_LOG=info PRINTS " 1 are mapped, 1 native")
sidelight_mpi_test(native.early_return RANKS 2 PROGRAM early_return
    ENVIRONMENT SIDELIGHT_ROUTE=native SIDELIGHT_PROGRESS=smart)
sidelight_mpi_test(native.random_operations RANKS 4 PROGRAM random_operations
    ARGS 8000 1 all ENVIRONMENT SIDELIGHT_ROUTE=native)
