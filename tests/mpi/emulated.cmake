# SPDX-License-Identifier: BSD-3-Clause
# The same programs where each process is a node of its own: everything travels as messages, as
# between nodes, on any machine. What is about shared memory and its cost is left out.

function(sidelight_emulated_test program)
    sidelight_mpi_test(emulated.${program} PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_ROUTE=emulated ${ARGN})
endfunction()

foreach(program operations datatypes atomicity lost_updates attributes created_windows
        dynamic_windows recurring_windows locks nonblocking duplicates)
    sidelight_emulated_test(${program} RANKS 4)
endforeach()
foreach(program finalize_callbacks reductions datatype_edges ordering blocking_calls two_sided
        argument_errors null_arguments error_handlers epoch_errors failed_requests
        remote_requests sessions
        nonblocking_late early_reuse own_memory duplicate_keys duplicate_threads notifications waits
        complete_requests notification_threads ordered ordered_pairs pipelines
        memory_handles active_messages smart_progress)
    sidelight_emulated_test(${program} RANKS 2)
endforeach()
foreach(program threads thread_calls)
    sidelight_mpi_test(emulated.${program} RANKS 2 PROGRAM ${program}
        ${patience} ENVIRONMENT SIDELIGHT_ROUTE=emulated)
endforeach()
foreach(program fence gats locks_in_order nonblocking_ahead polling_calls)
    sidelight_emulated_test(${program} RANKS 3)
endforeach()

# Odd ranks alone: they and the others reach the same memory by messages and by mapping it.
foreach(program operations atomicity recurring_windows locks gats fence lost_updates rows
        remote_requests duplicates notifications ordered pipelines
        memory_handles active_messages)
    sidelight_mpi_test(mixed.${program} RANKS 4 PROGRAM ${program} ODD SIDELIGHT_ROUTE=emulated)
endforeach()
# By every route at once: small puts in memory or by messages, long ones copied by the kernel or
# zero-copy.
sidelight_mpi_test(mixed.notified_storm RANKS 5 PROGRAM notified_storm ODD SIDELIGHT_ROUTE=emulated
    ENVIRONMENT SIDELIGHT_SHARE_MEMORY=never)
sidelight_mpi_test(mixed.thread_calls RANKS 3 PROGRAM thread_calls ODD SIDELIGHT_ROUTE=emulated
    ${patience})
sidelight_mpi_test(mixed.lost_updates_long RANKS 4 PROGRAM lost_updates ARGS 10000000
    TIMEOUT 600 LABEL long ODD SIDELIGHT_ROUTE=emulated)

# Active messages by each route, also where their room is both buffers or the attached one alone.
sidelight_mpi_test(emulated.active_storm RANKS 4 PROGRAM active_storm
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_AM_BUFFER=1024)
sidelight_mpi_test(emulated.active_storm_small RANKS 4 PROGRAM active_storm
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_AM_BUFFER=0 SIDELIGHT_AM_UNIT=1)
sidelight_mpi_test(emulated.active_storm_threads RANKS 2 PROGRAM active_storm ARGS 4000 8
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(mixed.active_storm RANKS 4 PROGRAM active_storm
    ODD SIDELIGHT_ROUTE=emulated)
sidelight_emulated_test(active_hostile RANKS 3)
sidelight_emulated_test(active_layouts RANKS 2 ARGS 2000)
sidelight_mpi_test(mixed.active_layouts_long RANKS 3 PROGRAM active_layouts ARGS 10000 7
    LABEL long ODD SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(emulated.active_hostile_everywhere RANKS 3 PROGRAM active_hostile
    ARGS 600 everywhere ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_PROGRESS=thread)
sidelight_mpi_test(active_hostile_long RANKS 3 PROGRAM active_hostile ARGS 5000 LABEL long)
sidelight_mpi_test(mixed.active_hostile RANKS 3 PROGRAM active_hostile
    ODD SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(emulated.active_storm_long RANKS 4 PROGRAM active_storm ARGS 1000000
    TIMEOUT 1200 LABEL long ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(mixed.active_storm_long RANKS 4 PROGRAM active_storm ARGS 1000000
    TIMEOUT 1200 LABEL long ODD SIDELIGHT_ROUTE=emulated)
sidelight_emulated_test(active_crash RANKS 2 NO_SANITIZER ARGS handler
    FAILS "has crashed, by SIGSEGV: .*active_crash.*the program was asked")

# The reader of `ordered_pairs` does see it where there is no order: sooner or later.
sidelight_mpi_test(emulated.unordered_pairs RANKS 2 PROGRAM ordered_pairs ARGS 200000 unordered
    TIMEOUT 600 LABEL long
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(emulated.smart_first_message RANKS 2 PROGRAM first_message
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_PROGRESS=smart)
sidelight_emulated_test(soak RANKS 2 NO_SANITIZER ARGS 8 TIMEOUT 600)
sidelight_emulated_test(shared_windows RANKS 4 ARGS ask)
sidelight_emulated_test(short_of_memory RANKS 2 NO_SANITIZER)
sidelight_mpi_test(mixed.shared_windows RANKS 4 PROGRAM shared_windows ARGS ask
    ODD SIDELIGHT_ROUTE=emulated)

# Closing calls that return early
sidelight_mpi_test(emulated.early_return RANKS 2 PROGRAM early_return
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_PROGRESS=smart)
sidelight_mpi_test(mixed.early_gats RANKS 4 PROGRAM gats ODD SIDELIGHT_ROUTE=emulated
    ENVIRONMENT SIDELIGHT_PROGRESS=smart SIDELIGHT_EARLY_RETURN=auto)

# With a progress thread
foreach(program computing two_sided protected_pages blocked_signals)
    sidelight_mpi_test(emulated.thread_${program} RANKS 2 PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_PROGRESS=thread)
endforeach()
