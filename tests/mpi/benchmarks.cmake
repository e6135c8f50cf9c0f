# SPDX-License-Identifier: BSD-3-Clause
# Programs of bench/ that check what they measure.

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
sidelight_mpi_test(transactions RANKS 3 4 PROGRAM ../bench/transactions ARGS --quick)
sidelight_mpi_test(transactions_nonblocking RANKS 3 4 PROGRAM ../bench/transactions
    ARGS --quick --nonblocking --key)
sidelight_mpi_test(emulated.transactions_nonblocking RANKS 4 PROGRAM ../bench/transactions
    ARGS --quick --nonblocking --key ENVIRONMENT SIDELIGHT_ROUTE=emulated)
foreach(way persistent isend gats nonblocking)
    sidelight_mpi_test(halo_${way} RANKS 3 4 PROGRAM ../bench/halo ARGS --quick --way=${way})
endforeach()
sidelight_mpi_test(emulated.halo_nonblocking RANKS 4 PROGRAM ../bench/halo
    ARGS --quick --way=nonblocking ENVIRONMENT SIDELIGHT_ROUTE=emulated)
