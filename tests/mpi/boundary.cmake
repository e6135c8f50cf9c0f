# SPDX-License-Identifier: BSD-3-Clause
# What lies between the library and everything around it: threads, sessions, the host's own windows,
# profiling tools, interpreters, Fortran, the kernel.

sidelight_mpi_test(threads RANKS 2 3 ${patience})
sidelight_mpi_test(thread_scope RANKS 2)
sidelight_mpi_test(emulated.thread_scope RANKS 2 PROGRAM thread_scope ARGS messages
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(native.thread_scope RANKS 2 PROGRAM thread_scope ARGS messages
    ENVIRONMENT SIDELIGHT_ROUTE=native)
sidelight_mpi_test(kernel_copy.thread_scope RANKS 2 PROGRAM thread_scope
    ENVIRONMENT SIDELIGHT_SHARE_MEMORY=never SIDELIGHT_KERNEL_COPY=0)
# Other programs compute on every core: who waits, for a peer or for the engine, must not lose
# slices of it again and again (docs/design/waiting.md).
sidelight_mpi_test(computing.thread_scope RANKS 2 PROGRAM thread_scope ARGS messages COMPUTING 2
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(computing.ordered_pairs RANKS 2 PROGRAM ordered_pairs ARGS 2000 COMPUTING 2)
sidelight_mpi_test(computing.notifications RANKS 3 PROGRAM notifications COMPUTING 2)
# 100,000 operations by all routes, half of them in a dynamic window.
sidelight_mpi_test(thread_model RANKS 2 ARGS 50000 TIMEOUT 240)
sidelight_mpi_test(emulated.thread_model RANKS 2 PROGRAM thread_model ARGS 50000
    TIMEOUT 240 ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(native.thread_model RANKS 2 PROGRAM thread_model ARGS 50000
    TIMEOUT 240 ENVIRONMENT SIDELIGHT_ROUTE=native)
sidelight_mpi_test(kernel_copy.thread_model RANKS 2 PROGRAM thread_model ARGS 50000
    TIMEOUT 240 ENVIRONMENT SIDELIGHT_SHARE_MEMORY=never SIDELIGHT_KERNEL_COPY=0)
sidelight_mpi_test(duplicate_threads RANKS 2)
sidelight_mpi_test(callback_locks RANKS 2)
sidelight_mpi_test(thread_calls RANKS 2 3 ${patience})
sidelight_mpi_test(thread_order RANKS 3)
foreach(progress auto thread smart)
    sidelight_mpi_test(finalize_callbacks_${progress} RANKS 2 PROGRAM finalize_callbacks
        ENVIRONMENT SIDELIGHT_PROGRESS=${progress})
endforeach()
sidelight_mpi_test(finalize_callbacks_messages RANKS 2 PROGRAM finalize_callbacks MESSAGES)
foreach(way "" met open session)
    string(JOIN "_" name left_windows ${way})
    sidelight_mpi_test(emulated.${name} RANKS 3 PROGRAM left_windows ARGS ${way}
        PRINTS "served to the end" ENVIRONMENT SIDELIGHT_ROUTE=emulated)
endforeach()
sidelight_mpi_test(left_windows RANKS 4 PRINTS "served to the end")
sidelight_mpi_test(left_windows RANKS 2 NODES 2 ARGS met PRINTS "served to the end"
    SKIP_HOSTS ${SIDELIGHT_FINALIZE_HANGS})
sidelight_mpi_test(sessions RANKS 2 3)
sidelight_mpi_test(sessions_rising RANKS 2 PROGRAM sessions ARGS rising
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(sessions_rising_messages RANKS 2 MESSAGES PROGRAM sessions ARGS rising
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
sidelight_mpi_test(sessions_world RANKS 2 PROGRAM sessions ARGS world
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
# Of MPICH 5 on one rank: on two it does not start again reliably, without Sidelight either. In one
# run of a hundred its MPI_Comm_create_from_group mixes up what its ranks send each other there
# ("Message truncated", "failed to unpack address").
sidelight_mpi_test(sessions_again RANKS 1 PROGRAM sessions ARGS again
    SKIP_HOSTS mpich4 "has no windows in a session of one process"
               openmpi5 "crashes in a session after the end of the last one"
               impi "does not start again after its end")
sidelight_mpi_test(sessions_together RANKS 1 PROGRAM sessions ARGS together
    SKIP_HOSTS mpich4 "has no windows in a session of one process"
               openmpi5 "crashes in a session after the end of the last one"
               impi "does not start again after its end")
sidelight_mpi_test(sessions_raised RANKS 1 2 PROGRAM sessions ARGS raised
    SKIP_HOSTS mpich4 "has no windows in a session of one process")
sidelight_mpi_test(sessions_raised_messages RANKS 2 MESSAGES PROGRAM sessions ARGS raised
    SKIP_HOSTS mpich4 "has no windows in a session of one process")
# Others end such a session, and what is in it.
sidelight_mpi_test(sessions_strict RANKS 2 PROGRAM sessions ARGS strict
    ENVIRONMENT SIDELIGHT_ROUTE=emulated
    SKIP_HOSTS mpich4 "does not know strict_finalize"
               openmpi4 "has no sessions"
               openmpi5 "does not know strict_finalize"
               impi "does not know strict_finalize")
sidelight_mpi_test(sessions_apart RANKS 2 PROGRAM sessions ARGS apart
    SKIP_HOSTS mpich4 "does not know strict_finalize"
               openmpi4 "has no sessions"
               openmpi5 "does not know strict_finalize"
               impi "does not know strict_finalize")
# The network is closed with the last session, and opened again (JoinedFabric's tests do so, too).
sidelight_mpi_test(emulated.sessions_again RANKS 2 PROGRAM sessions ARGS again
    ENVIRONMENT SIDELIGHT_ROUTE=emulated
    SKIP_HOSTS mpich4 "has no sessions"
               mpich5 "does not start again reliably"
               openmpi4 "has no sessions"
               openmpi5 "crashes in a session after the end of the last one"
               impi "does not start again after its end")

# What is left to the host: windows that messages are needed for where there is no network, and all
# windows where the library is told so.
sidelight_mpi_test(pass_through RANKS 2 3
    ENVIRONMENT SIDELIGHT_SHARE_MEMORY=never SIDELIGHT_NETWORK=nothing)
sidelight_mpi_test(disabled RANKS 2 PROGRAM wrong_host ENVIRONMENT SIDELIGHT_ENABLE=0)
foreach(program operations large_counts)
    sidelight_mpi_test(disabled.${program} RANKS 2 PROGRAM ${program}
        ENVIRONMENT SIDELIGHT_ENABLE=0)
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/fortran/tests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/path_cost/tests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/standard_names/tests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/two_programs/tests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/jemalloc/tests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/throwing_handler/tests.cmake)
# These start programs in ways of their own, in which no sanitizer's library can be the first.
if(NOT SIDELIGHT_SANITIZE)
    include(${CMAKE_CURRENT_LIST_DIR}/profiler/tests.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/killed_rank/tests.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/loaded_late/tests.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/life_in_library/tests.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/stand_in/tests.cmake)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/no_hook/tests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/wrong_host.cmake)
