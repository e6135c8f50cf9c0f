# SPDX-License-Identifier: BSD-3-Clause
# The programs of this folder, and at how many ranks each runs. See cmake/MpiTests.cmake for the
# words that a line may have, and docs/design/testing.md for how a test is added.

# Operations and data
sidelight_mpi_test(operations RANKS 2 4)
sidelight_mpi_test(large_counts RANKS 2)
# By each route: memory that is mapped, copies of the kernel, messages, a network.
sidelight_mpi_test(large_transfers RANKS 2 ARGS allocate LABEL long)
sidelight_mpi_test(kernel_copy.large_transfers RANKS 2 PROGRAM large_transfers ARGS create
    LABEL long ENVIRONMENT SIDELIGHT_SHARE_MEMORY=never)
sidelight_mpi_test(emulated.large_transfers RANKS 2 PROGRAM large_transfers ARGS create
    LABEL long ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(large_transfers RANKS 2 NODES 2 ARGS create LABEL long
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
sidelight_mpi_test(reductions RANKS 2)
sidelight_mpi_test(datatypes RANKS 2 4)
sidelight_mpi_test(datatype_edges RANKS 2)
sidelight_mpi_test(ordering RANKS 2)
sidelight_mpi_test(ordered RANKS 2 3)
sidelight_mpi_test(ordered_pairs RANKS 2)
sidelight_mpi_test(remote_requests RANKS 2 4)
sidelight_mpi_test(pipelines RANKS 2 4)
sidelight_mpi_test(notifications RANKS 2 4)
sidelight_mpi_test(notified_without_files RANKS 2)
sidelight_mpi_test(active_messages RANKS 2 4)
sidelight_mpi_test(active_storm RANKS 4)
sidelight_mpi_test(active_storm_small RANKS 4 PROGRAM active_storm
    ENVIRONMENT SIDELIGHT_AM_BUFFER=0 SIDELIGHT_AM_UNIT=1)
sidelight_mpi_test(active_storm_threads RANKS 2 PROGRAM active_storm ARGS 4000 8)
sidelight_mpi_test(active_storm_long RANKS 4 PROGRAM active_storm ARGS 1000000
    TIMEOUT 1200 LABEL long)
sidelight_mpi_test(active_threads RANKS 2)
sidelight_mpi_test(active_hostile RANKS 3)
sidelight_mpi_test(active_layouts RANKS 2 ARGS 2000)
sidelight_mpi_test(active_layouts_long RANKS 3 PROGRAM active_layouts ARGS 10000 7 LABEL long)
sidelight_mpi_test(active_crash RANKS 2 NO_SANITIZER ARGS handler
    FAILS "has crashed, by SIGSEGV: .*active_crash.*the program was asked")
sidelight_mpi_test(active_abort RANKS 2 NO_SANITIZER PROGRAM active_crash ARGS abort
    FAILS "has crashed, by SIGABRT: .*active_crash.*the program was asked")
sidelight_mpi_test(waits RANKS 2 4)
sidelight_mpi_test(callers_stack RANKS 2 NO_SANITIZER)
sidelight_mpi_test(complete_requests RANKS 1 2)
sidelight_mpi_test(notified_storm RANKS 5)
sidelight_mpi_test(notification_threads RANKS 1 2)
sidelight_mpi_test(intrinsic RANKS 2 ARGS mapped)
sidelight_mpi_test(emulated.intrinsic RANKS 2 PROGRAM intrinsic
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(intrinsic_check RANKS 2 ENVIRONMENT SIDELIGHT_CHECK_INTRINSIC=1)
sidelight_mpi_test(emulated.intrinsic_check RANKS 2 PROGRAM intrinsic_check ARGS emulated
    ENVIRONMENT SIDELIGHT_ROUTE=emulated SIDELIGHT_CHECK_INTRINSIC=1)
sidelight_mpi_test(atomicity RANKS 2 4)
sidelight_mpi_test(polling_calls RANKS 3)
sidelight_mpi_test(polls_and_streams RANKS 3)
sidelight_mpi_test(lost_updates RANKS 2 4)
sidelight_mpi_test(rows RANKS 2 4)
sidelight_mpi_test(litmus RANKS 2 ARGS 40000 TIMEOUT 1200)

# Windows
sidelight_mpi_test(shared_windows RANKS 2 4)
sidelight_mpi_test(shared_windows_private RANKS 4 PROGRAM shared_windows ARGS ask
    ENVIRONMENT SIDELIGHT_SHARE_MEMORY=never)
sidelight_mpi_test(attributes RANKS 2 4)
sidelight_mpi_test(duplicates RANKS 1 2 4)
sidelight_mpi_test(duplicate_keys RANKS 2)
sidelight_mpi_test(memory_handles RANKS 1 2 4 NO_SANITIZER)
sidelight_mpi_test(memory_handles_many RANKS 2 NO_SANITIZER PROGRAM memory_handles ARGS 100000)
sidelight_mpi_test(created_windows RANKS 2 4)
sidelight_mpi_test(dynamic_windows RANKS 2 4)
sidelight_mpi_test(locks_beside RANKS 2)
sidelight_mpi_test(spawned RANKS 2 ENVIRONMENT SIDELIGHT_TEST_SIZE=3
    SKIP_HOSTS mpich4 "starts no processes, as Debian has it"
        openmpi5 "its launcher has no way to give variables to processes that ranks start")
sidelight_mpi_test(disconnected RANKS 1 ENVIRONMENT SIDELIGHT_ROUTE=emulated
    SKIP_HOSTS mpich4 "starts no processes, as Debian has it"
        openmpi5 "its launcher has no way to give variables to processes that ranks start")

# Memory of the program: as it is, and where windows replace its pages
sidelight_mpi_test(allocated_memory RANKS 2 3)
sidelight_mpi_test(allocated_memory_private RANKS 2 PROGRAM allocated_memory ARGS private
    ENVIRONMENT SIDELIGHT_SHARE_MEMORY=never)
sidelight_mpi_test(beside_windows RANKS 2)
sidelight_mpi_test(large_windows RANKS 2 NO_SANITIZER)
foreach(program allocated_memory beside_windows locks_beside large_windows created_windows
        dynamic_windows threads)
    sidelight_mpi_test(inplace.${program} RANKS 2 PROGRAM ${program} NO_SANITIZER
        ENVIRONMENT SIDELIGHT_SHARE_MEMORY=inplace)
endforeach()
sidelight_mpi_test(communicators RANKS 2 4)
sidelight_mpi_test(short_of_memory RANKS 2 4 NO_SANITIZER)

sidelight_mpi_test(recurring_windows RANKS 2 4)
sidelight_mpi_test(many_windows RANKS 2 NO_SANITIZER ARGS 1000 750 TIMEOUT 600)
sidelight_mpi_test(soak RANKS 3 NO_SANITIZER ARGS 8 TIMEOUT 600)

# Synchronisation
sidelight_mpi_test(fence RANKS 2 3 4)
sidelight_mpi_test(gats RANKS 2 3 4)
sidelight_mpi_test(locks RANKS 2 4)
sidelight_mpi_test(shared_locks RANKS 2 4)
sidelight_mpi_test(nonblocking RANKS 2 4)
sidelight_mpi_test(nonblocking_late RANKS 2 4)
sidelight_mpi_test(early_reuse RANKS 2)
sidelight_mpi_test(nonblocking_ahead RANKS 2 3)
sidelight_mpi_test(locks_in_order RANKS 3)
foreach(program two_sided blocking_calls)
    sidelight_mpi_test(${program} RANKS 2
        SKIP_HOSTS impi "has no hook: where nothing travels, only one-sided calls make progress")
endforeach()
sidelight_mpi_test(own_memory RANKS 2 3)
sidelight_mpi_test(oversubscription RANKS 8)

# Programs with eight threads of each rank: for few cores
set(patience TIMEOUT 600)

# With a progress thread
sidelight_mpi_test(computing RANKS 2 ENVIRONMENT SIDELIGHT_PROGRESS=thread)
sidelight_mpi_test(thread_two_sided RANKS 2 PROGRAM two_sided
    ENVIRONMENT SIDELIGHT_PROGRESS=thread)
sidelight_mpi_test(thread_nonblocking RANKS 4 PROGRAM nonblocking
    ENVIRONMENT SIDELIGHT_PROGRESS=thread)
foreach(program threads thread_calls)
    sidelight_mpi_test(thread_${program} RANKS 2 PROGRAM ${program}
        ${patience} ENVIRONMENT SIDELIGHT_PROGRESS=thread)
endforeach()
sidelight_mpi_test(thread_sessions RANKS 2 PROGRAM sessions ENVIRONMENT SIDELIGHT_PROGRESS=thread)
foreach(progress thread smart)
    sidelight_mpi_test(${progress}_flushed_requests RANKS 2 NODES 2 PROGRAM flushed_requests
        ENVIRONMENT SIDELIGHT_PROGRESS=${progress} SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
endforeach()

# With an interrupt thread
sidelight_mpi_test(smart_progress RANKS 2)
sidelight_mpi_test(smart_handlers RANKS 3)
sidelight_mpi_test(smart_duplicate_keys RANKS 2 PROGRAM duplicate_keys
    ENVIRONMENT SIDELIGHT_PROGRESS=smart)
sidelight_mpi_test(smart_progress_crowded RANKS 2 PROGRAM smart_progress ARGS 1 crowded)
foreach(program computing two_sided sessions)
    sidelight_mpi_test(smart_${program} RANKS 2 PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_PROGRESS=smart)
endforeach()
foreach(program threads thread_calls)
    sidelight_mpi_test(smart_${program} RANKS 2 PROGRAM ${program}
        ${patience} ENVIRONMENT SIDELIGHT_PROGRESS=smart)
endforeach()
sidelight_mpi_test(smart_nonblocking RANKS 4 PROGRAM nonblocking
    ENVIRONMENT SIDELIGHT_PROGRESS=smart)
sidelight_mpi_test(smart_soak RANKS 3 NO_SANITIZER PROGRAM soak ARGS 3
    ENVIRONMENT SIDELIGHT_PROGRESS=smart)

# Closing calls that return early
sidelight_mpi_test(early_return RANKS 2 ENVIRONMENT SIDELIGHT_PROGRESS=smart)
sidelight_mpi_test(thread_early_return RANKS 2 PROGRAM early_return
    ENVIRONMENT SIDELIGHT_PROGRESS=thread)
foreach(program gats nonblocking random_operations)
    sidelight_mpi_test(early_${program} RANKS 3 PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_PROGRESS=smart SIDELIGHT_EARLY_RETURN=auto)
endforeach()
foreach(program blocking_calls two_sided threads error_handlers)
    sidelight_mpi_test(early_${program} RANKS 2 PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_PROGRESS=smart SIDELIGHT_EARLY_RETURN=4K)
endforeach()

# Wrong programs
sidelight_mpi_test(argument_errors RANKS 2 4)
sidelight_mpi_test(null_arguments RANKS 2)
sidelight_mpi_test(wrong_arguments RANKS 2 4)
sidelight_mpi_test(error_handlers RANKS 2 4)
sidelight_mpi_test(epoch_errors RANKS 2 4)
sidelight_mpi_test(failed_requests RANKS 2 3)

include(${CMAKE_CURRENT_LIST_DIR}/benchmarks.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/emulated.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/traced.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/native.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ordinary_user.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/boundary.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/abi.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/random_operations/tests.cmake)

# Progress of the host's own messages
sidelight_mpi_test(message_progress RANKS 2 MESSAGES)
foreach(level 1 2 3)
    sidelight_mpi_test(message_progress_level_${level} RANKS 2 MESSAGES PROGRAM message_progress
        ARGS ${level})
endforeach()
sidelight_mpi_test(message_progress_environment RANKS 2 MESSAGES PROGRAM message_progress
    ARGS environment
    ENVIRONMENT MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE OMPI_MPI_THREAD_LEVEL=3)
sidelight_mpi_test(message_progress_resumed RANKS 2 MESSAGES PROGRAM message_progress ARGS resumed)
foreach(level 0 3)
    sidelight_mpi_test(message_session_levels_${level} RANKS 2 MESSAGES PROGRAM session_levels
        ARGS ${level})
endforeach()
sidelight_mpi_test(message_requests RANKS 2 MESSAGES)
sidelight_mpi_test(message_nested RANKS 2 MESSAGES)
sidelight_mpi_test(message_partitions RANKS 2 MESSAGES)
sidelight_mpi_test(message_attributes RANKS 2 MESSAGES)
sidelight_mpi_test(message_attributes RANKS 2 NODES 2 MESSAGES
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
foreach(key late old)
    sidelight_mpi_test(message_attributes_${key} RANKS 2 MESSAGES PROGRAM message_attributes
        ARGS ${key})
endforeach()
sidelight_mpi_test(message_communicators RANKS 2 MESSAGES)
sidelight_mpi_test(message_requests_threads RANKS 2 MESSAGES PROGRAM message_requests ARGS 3)
sidelight_mpi_test(message_requests_files RANKS 2 MESSAGES PROGRAM message_requests ARGS 0 1
    ENVIRONMENT SIDELIGHT_LOG=info PRINTS "[1-9][0-9]* steps of the host's progress")
sidelight_mpi_test(message_async RANKS 2 MESSAGES PROGRAM random_operations ARGS 4000 1 create
    ENVIRONMENT MPIR_CVAR_ASYNC_PROGRESS=1)
sidelight_mpi_test(message_forks RANKS 2 MESSAGES)
sidelight_mpi_test(message_fork_at_end RANKS 1 MESSAGES ENVIRONMENT SIDELIGHT_LOG=info
    PRINTS "[1-9][0-9]* steps of the host's progress"
    SKIP_HOSTS mpich4 "crashes in a session after the end of the last one"
               openmpi4 "has no sessions"
               openmpi5 "crashes in a session after the end of the last one"
               impi "does not start again after its end")
sidelight_mpi_test(message_polls RANKS 2 MESSAGES)
sidelight_mpi_test(message_stopped RANKS 2 MESSAGES ENVIRONMENT SIDELIGHT_LOG=info
    PRINTS "woken 0 times, looked 0 times" NEVER "(woken|looked) [1-9]")
sidelight_mpi_test(message_limit RANKS 2 MESSAGES)
sidelight_mpi_test(message_limit_none RANKS 2 MESSAGES PROGRAM message_limit ARGS 0
    ENVIRONMENT SIDELIGHT_LARGE_MESSAGE=0)
sidelight_mpi_test(message_limit_high RANKS 2 MESSAGES PROGRAM message_limit ARGS 100000
    ENVIRONMENT SIDELIGHT_LARGE_MESSAGE=100000)
sidelight_mpi_test(message_refused RANKS 2 MESSAGES NO_SANITIZER)
sidelight_mpi_test(callers_stack_messages RANKS 2 MESSAGES PROGRAM callers_stack NO_SANITIZER)
# Few: where threads are preempted, Open MPI does it wrong by itself (docs/notes/hosts.md).
sidelight_mpi_test(message_storm RANKS 2 MESSAGES ARGS 4000 4)
sidelight_mpi_test(message_storm_one RANKS 2 MESSAGES PROGRAM message_storm ARGS 5000 1)
sidelight_mpi_test(message_storm_long RANKS 2 MESSAGES PROGRAM message_storm ARGS 100000
    TIMEOUT 900 LABEL long)
