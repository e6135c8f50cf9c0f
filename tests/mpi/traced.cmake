# SPDX-License-Identifier: BSD-3-Clause
# The same programs while they are traced: all calls take the long way, and mean what they meant.

foreach(program fence gats locks nonblocking nonblocking_ahead operations atomicity duplicates
        dynamic_windows memory_handles notifications epoch_errors)
    sidelight_mpi_test(traced.${program} RANKS 3 PROGRAM ${program} TRACED)
endforeach()
# The report of its trace: tests/tools/test_report_programs.py.
sidelight_mpi_test(traced.late_notifications RANKS 3 PROGRAM late_notifications TRACED)
sidelight_mpi_test(traced.spawned RANKS 2 PROGRAM spawned TRACED
    ENVIRONMENT SIDELIGHT_TEST_SIZE=3
    SKIP_HOSTS mpich4 "starts no processes, as Debian has it"
        openmpi5 "its launcher has no way to give variables to processes that ranks start")
sidelight_mpi_test(traced.thread_calls RANKS 3 PROGRAM thread_calls TRACED ${patience})
sidelight_mpi_test(traced.emulated.gats RANKS 3 PROGRAM gats TRACED
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
