# SPDX-License-Identifier: BSD-3-Clause
# A job of two executables: odd ranks run the second one.

set(here ${CMAKE_CURRENT_LIST_DIR})
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    foreach(half even odd)
        sidelight_mpi_program(${host} tests two_programs_${half}
            SOURCES ${here}/two_programs.c ${here}/${half}.c)
    endforeach()
endforeach()
sidelight_mpi_test(two_programs RANKS 2 4 PROGRAM two_programs_even ODD_PROGRAM two_programs_odd)
sidelight_mpi_test(emulated.two_programs RANKS 3 PROGRAM two_programs_even
    ODD_PROGRAM two_programs_odd ARGS messages ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(two_programs RANKS 2 NODES 2 PROGRAM two_programs_even
    ODD_PROGRAM two_programs_odd ARGS messages
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
