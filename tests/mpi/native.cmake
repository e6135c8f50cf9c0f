# SPDX-License-Identifier: BSD-3-Clause
# Puts and gets on memory that is not mapped, without the target's engine.

# By the kernel, whatever their size: windows whose memory stays private, on one node
set(by_the_kernel SIDELIGHT_SHARE_MEMORY=never SIDELIGHT_KERNEL_COPY=0)
sidelight_mpi_test(kernel_copy RANKS 2 ENVIRONMENT ${by_the_kernel} SIDELIGHT_PROGRESS=calls)
foreach(program created_windows dynamic_windows datatypes threads nonblocking)
    sidelight_mpi_test(kernel_copy.${program} RANKS 3 PROGRAM ${program}
        ENVIRONMENT ${by_the_kernel})
endforeach()
foreach(kind create dynamic)
    sidelight_mpi_test(kernel_copy.random_operations_${kind} RANKS 4 PROGRAM random_operations
        ARGS 4000 1 ${kind} ENVIRONMENT ${by_the_kernel})
endforeach()
