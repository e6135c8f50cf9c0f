# SPDX-License-Identifier: BSD-3-Clause
# One line registers an MPI program of tests/mpi at N ranks on every host:
#
#   sidelight_mpi_test(<name> RANKS <n>... [NODES <k>] [PROGRAM <program>] [ARGS <argument>...]
#                      [TIMEOUT <seconds>] [ENVIRONMENT <NAME=value>...] [ODD <NAME=value>]
#                      [ODD_PROGRAM <program>] [NO_PRELOAD] [MESSAGES] [NO_SANITIZER]
#                      [ORDINARY_USER] [COMPUTING <n>] [TRACED]
#                      [PRINTS <regular expression>] [FAILS <regular expression>]
#                      [NEVER <regular expression>]
#                      [LABEL <label>] [SKIP_HOSTS <host> <reason> ...])
#
# The program is the one called <name> unless PROGRAM says otherwise. It runs with the library
# preloaded, unless NO_PRELOAD; with MESSAGES under SIDELIGHT_PROGRESS=smart, and that of messages
# above it. ODD is a variable for the ranks with odd numbers alone, ODD_PROGRAM the program that
# they run, with the same arguments. With PRINTS the program also has to print what matches (an
# expression of Python's). With FAILS it has to print what matches and to end by itself, whatever
# its exit status, and no check may fail. LABEL takes the place of the suite and the host: the test
# is not run with them. What matches NEVER must not be printed. NO_SANITIZER leaves a test out where
# the build has sanitizers, because it measures what they change. With ORDINARY_USER it runs without
# root's rights, with COMPUTING beside n processes that compute all the while. Defects of a host are
# data: SKIP_HOSTS, with the reason printed; a host stands there with its name, for the MPIs of
# users that are next to it as well, or with its version line (mpich-4.1). The test is
# mpi.<name>.<n>.<host>; with NODES the ranks are on k nodes made of namespaces, and it is
# nodes.<name>.<n>.<k>.<host>, skipped where the machine cannot have nodes. With TRACED each rank
# has to leave a trace, in a folder of this test's own: others that run at the same time would take
# each other's away.

# For SKIP_HOSTS of tests across nodes. Ranks wait in a barrier of the launcher's, where they make
# no progress, for others that close their connections to them: seldom with two ranks, as a rule
# with more.
set(SIDELIGHT_FINALIZE_HANGS "")
foreach(line mpich-4.0 mpich-4.1)
    list(APPEND SIDELIGHT_FINALIZE_HANGS
        ${line} "MPI_Finalize may not end over TCP before MPICH 4.2")
endforeach()

set(SIDELIGHT_TEST_TIMEOUT 180 CACHE STRING "Seconds that an MPI test may take")

# AddressSanitizer's library has to come before all others. The hosts leave memory behind when they
# end, so leaks are looked for in the unit and simulation tests alone. Some tests ask for more
# memory than there is, and hosts pass that on.
set(SIDELIGHT_TEST_SANITIZER "")
if(SIDELIGHT_SANITIZE MATCHES "address")
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
        OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(SIDELIGHT_TEST_SANITIZER
        --env LD_PRELOAD=${library}
        --env ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1)
endif()

# Where more ranks are more for the host as well: groups, communicators, processes.
set(SIDELIGHT_RANKS_COUNT attributes communicators duplicates gats nonblocking_ahead operations
    sessions two_programs)

# Sets <result> to the label `repeated` for a test that shows nothing of its host which no other
# shows, and to nothing for others; <all> are all numbers of ranks that its program runs with.
# .ci/run leaves out what is repeated, `make test` does not.
function(sidelight_repeated result test ranks host all)
    # To the end: CMake would go on replacing at each new beginning.
    string(REGEX REPLACE "^[^.]*[.](.*)$" "\\1" name ${test})
    set(repeated "")
    # A newer version of a host has no part in which way the data go, what is traced and how fast it
    # is; nor, as a rule, in how many ranks there are. Across nodes MPICH 5 stands for its family,
    # as MPICH 4 does not run there.
    if(host MATCHES "^(mpich5|openmpi5)$")
        if(".${name}." MATCHES "[.](native|mixed|kernel_copy|emulated|traced|litmus|by_case)[.]"
                OR name MATCHES "^(am|halo_.*|patterns.*|(smart_)?soak|solver|transactions.*)$"
                OR name MATCHES "^(many_windows|message_limit.*)$"
                OR (host STREQUAL openmpi5 AND test MATCHES "^nodes[.]")
                OR (ranks GREATER 2 AND 2 IN_LIST all AND NOT name IN_LIST SIDELIGHT_RANKS_COUNT))
            set(repeated repeated)
        endif()
    # Nor has a host in what the engine does by itself: one will do.
    elseif(host STREQUAL mpich4 AND ".${name}." MATCHES "[.](mixed|kernel_copy)[.]")
        set(repeated repeated)
    endif()
    set(${result} "${repeated}" PARENT_SCOPE)
endfunction()

function(sidelight_mpi_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg
        "NO_PRELOAD;MESSAGES;NO_SANITIZER;ORDINARY_USER;TRACED"
        "NODES;PROGRAM;ODD_PROGRAM;TIMEOUT;ODD;PRINTS;FAILS;NEVER;LABEL;COMPUTING"
        "RANKS;ARGS;ENVIRONMENT;SKIP_HOSTS")
    if(NOT arg_RANKS OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "sidelight_mpi_test(${name}): RANKS missing, or unknown arguments: "
            "${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(arg_NO_SANITIZER AND SIDELIGHT_SANITIZE)
        return()
    endif()
    if(NOT arg_PROGRAM)
        set(arg_PROGRAM ${name})
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT ${SIDELIGHT_TEST_TIMEOUT})
    endif()
    foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
        foreach(ranks IN LISTS arg_RANKS)
            sidelight_register_mpi_test(${host} ${ranks})
        endforeach()
    endforeach()
endfunction()

# A macro only to see the arguments of sidelight_mpi_test.
macro(sidelight_register_mpi_test host ranks)
    if(arg_NODES)
        set(suite nodes)
        set(test nodes.${name}.${ranks}.${arg_NODES}.${host})
    else()
        set(suite mpi)
        set(test mpi.${name}.${ranks}.${host})
    endif()
    # An MPI of the user's own is named by its version line, and has the defects of the host that is
    # next to it.
    string(REGEX REPLACE "^([a-z]+)-([0-9]+)[.].*" "\\1\\2" kin ${host})
    string(REGEX REPLACE "^mpich4$" "mpich-4.0" line ${host})
    set(skipped -1)
    foreach(called ${host} ${line} ${kin})
        if(skipped EQUAL -1)
            list(FIND arg_SKIP_HOSTS ${called} skipped)
        endif()
    endforeach()
    if(skipped GREATER -1)
        math(EXPR reason "${skipped} + 1")
        list(GET arg_SKIP_HOSTS ${reason} reason)
        add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
        set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
    else()
        set(options --build ${PROJECT_BINARY_DIR} --host ${host} -n ${ranks}
            --timeout ${arg_TIMEOUT} ${SIDELIGHT_TEST_SANITIZER})
        if(arg_NODES)
            list(APPEND options --nodes ${arg_NODES})
        endif()
        if(NOT arg_NO_PRELOAD)
            set(preload ${PROJECT_BINARY_DIR}/${host}/libsidelight.so)
            if(arg_MESSAGES)
                string(PREPEND preload ${PROJECT_BINARY_DIR}/${host}/libsidelight_messages.so:)
                list(APPEND options --env SIDELIGHT_PROGRESS=smart)
            endif()
            list(APPEND options --preload ${preload})
        endif()
        if(arg_ORDINARY_USER)
            list(APPEND options --ordinary-user)
        endif()
        if(arg_COMPUTING)
            list(APPEND options --computing ${arg_COMPUTING})
        endif()
        if(arg_ODD)
            list(APPEND options --odd ${arg_ODD})
        endif()
        if(arg_ODD_PROGRAM)
            list(APPEND options
                --odd-program ${PROJECT_BINARY_DIR}/${host}/tests/${arg_ODD_PROGRAM})
        endif()
        if(arg_TRACED)
            list(APPEND options --trace ${PROJECT_BINARY_DIR}/traces-of-${test})
        endif()
        if(arg_PRINTS)
            list(APPEND options --prints ${arg_PRINTS})
        endif()
        foreach(setting IN LISTS arg_ENVIRONMENT)
            list(APPEND options --env ${setting})
        endforeach()
        add_test(NAME ${test} COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py
            ${options} ${PROJECT_BINARY_DIR}/${host}/tests/${arg_PROGRAM} ${arg_ARGS})
        # The runner enforces the limit and reports where each rank was; ctest's is the last resort.
        math(EXPR limit "${arg_TIMEOUT} + 120")
        # 77 is the runner's word for a machine without namespaces.
        set_tests_properties(${test} PROPERTIES TIMEOUT ${limit} SKIP_RETURN_CODE 77)
        if(arg_NEVER)
            set_tests_properties(${test} PROPERTIES FAIL_REGULAR_EXPRESSION "${arg_NEVER}")
        endif()
        # Threads that wait keep the cores from those that they wait for (tests/mpi/workers.h): two
        # such tests beside each other take ten times as long.
        if(arg_COMPUTING OR arg_PROGRAM MATCHES "^(threads|thread_calls|thread_scope)$")
            set_tests_properties(${test} PROPERTIES RESOURCE_LOCK all-cores)
        endif()
        if(arg_FAILS)
            # Where ctest looks at what is printed it does not ask for the exit status. What must
            # not be there is said by check.h and tests/run_ranks.py.
            set_tests_properties(${test} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_FAILS}"
                FAIL_REGULAR_EXPRESSION
                ":[0-9]+: rank [0-9]+, in ;does not end, in ;[*][*][*] (no end after|process )")
        endif()
    endif()
    sidelight_repeated(repeated ${suite}.${name} ${ranks} ${host} "${arg_RANKS}")
    set(labels ${suite} ${host} ${repeated})
    if(arg_LABEL)
        set(labels ${arg_LABEL})
    endif()
    set_tests_properties(${test} PROPERTIES LABELS "${labels}" PROCESSORS ${ranks})
endmacro()
