# SPDX-License-Identifier: BSD-3-Clause
# Programs of bench/ and examples/ that check what they measure.

# Who waits for the delay of another, with a delay that nothing else takes: with standard calls;
# with nonblocking ones without the reorder keys, and with them. By messages, a process that
# computes needs the progress thread.
sidelight_mpi_test(patterns RANKS 4 PROGRAM ../bench/patterns ARGS --check)
sidelight_mpi_test(patterns_nonblocking RANKS 4 PROGRAM ../bench/patterns
    ARGS --check --nonblocking)
sidelight_mpi_test(patterns_with_keys RANKS 4 PROGRAM ../bench/patterns
    ARGS --check --nonblocking --key)
sidelight_mpi_test(emulated.patterns_with_keys RANKS 4 PROGRAM ../bench/patterns
    ARGS --check --nonblocking --key
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_PROGRESS=thread)

# Each checks its own results: sums of what was added, edges that have arrived. They bind
# themselves, which a launcher that binds two ranks to a core each does not let them do.
if(ZLIB_FOUND)
    sidelight_mpi_test(transactions RANKS 3 4 PROGRAM ../bench/transactions ARGS --quick)
    sidelight_mpi_test(transactions_nonblocking RANKS 3 4 PROGRAM ../bench/transactions
        ARGS --quick --nonblocking --key)
    sidelight_mpi_test(emulated.transactions_nonblocking RANKS 4 PROGRAM ../bench/transactions
        ARGS --quick --nonblocking --key ENVIRONMENT SIDELIGHT_ROUTE=emulated)
endif()
set(lines halo_8 halo_65536 halo_1048576)
foreach(way persistent isend isend_ahead gats nonblocking ahead notified)
    sidelight_mpi_test(halo_${way} RANKS 3 4 PROGRAM ../bench/halo
        ARGS --quick --way=${way} ${lines})
endforeach()
foreach(way nonblocking ahead notified)
    sidelight_mpi_test(emulated.halo_${way} RANKS 4 PROGRAM ../bench/halo
        ARGS --quick --way=${way} ${lines} ENVIRONMENT SIDELIGHT_ROUTE=emulated)
endforeach()

# What it computes must be the solution, which is known.
sidelight_mpi_test(solver RANKS 4 PROGRAM ../bench/solver ARGS --quick 16 48)

# Programs of examples/ that check what they find: reads in a made-up genome, in three ways, and
# sums of absolute values; also where there is room for one segment at a time.
set(programs absolute_sums)
if(ZLIB_FOUND)
    list(APPEND programs search_active)
    foreach(way active get server)
        sidelight_mpi_test(search_${way} RANKS 2 3 PROGRAM ../examples/search_${way} ARGS -c)
        set(skipped ${SIDELIGHT_FINALIZE_HANGS})
        if(way STREQUAL server)
            foreach(host mpich4 mpich5)
                list(APPEND skipped ${host} "its messages to a server thread may not end over TCP")
            endforeach()
        endif()
        sidelight_mpi_test(search_${way} RANKS 2 NODES 2 PROGRAM ../examples/search_${way} ARGS -c
            SKIP_HOSTS ${skipped})
    endforeach()
endif()
sidelight_mpi_test(absolute_sums RANKS 2 4 PROGRAM ../examples/absolute_sums)
sidelight_mpi_test(absolute_sums RANKS 2 NODES 2 PROGRAM ../examples/absolute_sums
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
foreach(program IN LISTS programs)
    set(arguments "")
    if(program STREQUAL search_active)
        set(arguments ARGS -c -b 300)
    endif()
    sidelight_mpi_test(emulated.${program} RANKS 3 PROGRAM ../examples/${program} ${arguments}
        ENVIRONMENT SIDELIGHT_ROUTE=emulated)
    sidelight_mpi_test(emulated.${program}_tight RANKS 2 PROGRAM ../examples/${program} ${arguments}
        ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_AM_BUFFER=1024)
    sidelight_mpi_test(mixed.${program} RANKS 4 PROGRAM ../examples/${program} ${arguments}
        ODD SIDELIGHT_ROUTE=emulated)
endforeach()

# What comes back is looked at, in order and in none, with little room and with much: the paper's 8
# KB do not hold its large segments.
sidelight_mpi_test(am RANKS 3 4 PROGRAM ../bench/am ARGS --quick --messages 200 --concurrent
    ENVIRONMENT SIDELIGHT_AM_BUFFER=8192)
sidelight_mpi_test(emulated.am RANKS 4 PROGRAM ../bench/am ARGS --quick --messages 100
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_AM_BUFFER=8192)
sidelight_mpi_test(emulated.am_unordered RANKS 3 PROGRAM ../bench/am
    ARGS --quick --messages 100 --unordered --buffer 20000
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_AM_BUFFER=1000 SIDELIGHT_AM_UNIT=7)
