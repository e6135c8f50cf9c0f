# SPDX-License-Identifier: BSD-3-Clause
# A host whose blocking calls do not come by the library: there the progress thread does their work,
# and starts by itself when something is left to it.

if(mpich4 IN_LIST SIDELIGHT_FOUND_HOSTS)
    set(directory ${PROJECT_BINARY_DIR}/mpich4/no_hook)
    add_library(mpich4-direct-worker MODULE ${CMAKE_CURRENT_LIST_DIR}/direct_worker.c)
    set_target_properties(mpich4-direct-worker PROPERTIES
        PREFIX "" OUTPUT_NAME direct_worker LIBRARY_OUTPUT_DIRECTORY ${directory})
    target_link_libraries(mpich4-direct-worker PRIVATE sidelight-options ${CMAKE_DL_LIBS})
    function(sidelight_no_hook_test name program progress)
        set(test mpi.no_hook_${name}.2.mpich4)
        add_test(NAME ${test}
            COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py --host mpich4 -n 2
                --timeout 180
                --preload ${directory}/direct_worker.so:$<TARGET_FILE:mpich4-sidelight>
                --env SIDELIGHT_PROGRESS=${progress}
                ${PROJECT_BINARY_DIR}/mpich4/tests/${program})
        set_tests_properties(${test} PROPERTIES LABELS "mpi;mpich4" PROCESSORS 2 TIMEOUT 300)
    endfunction()
    sidelight_no_hook_test(two_sided two_sided thread)
    sidelight_no_hook_test(blocking_calls blocking_calls thread)
    sidelight_no_hook_test(two_sided_by_itself two_sided auto)
    sidelight_no_hook_test(status failed_requests calls)
endif()
