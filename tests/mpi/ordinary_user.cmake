# SPDX-License-Identifier: BSD-3-Clause
# What depends on rights, without those of root: how files of memory are opened, and copies
# by the kernel.

foreach(program allocated_memory created_windows dynamic_windows atomicity own_memory
        locks_beside)
    sidelight_mpi_test(ordinary_user.${program} RANKS 3 PROGRAM ${program} ORDINARY_USER)
endforeach()
sidelight_mpi_test(ordinary_user.kernel_copy RANKS 2 PROGRAM kernel_copy ORDINARY_USER TIMEOUT 600
    ENVIRONMENT ${by_the_kernel} SIDELIGHT_PROGRESS=calls)
