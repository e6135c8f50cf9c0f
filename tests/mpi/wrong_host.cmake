# SPDX-License-Identifier: BSD-3-Clause
# The library of another host says so and steps aside: of the other family, whose handles are of
# another size, and of another version of the same family.

foreach(program IN LISTS SIDELIGHT_FOUND_HOSTS)
    foreach(library IN LISTS SIDELIGHT_FOUND_HOSTS)
        if(NOT library STREQUAL program)
            set(test mpi.wrong_host.${library}.${program})
            add_test(NAME ${test}
                COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py
                    --build ${PROJECT_BINARY_DIR} --host ${program} -n 2 --timeout 180
                    --preload ${PROJECT_BINARY_DIR}/${library}/libsidelight.so
                    ${PROJECT_BINARY_DIR}/${program}/tests/wrong_host)
            set_tests_properties(${test} PROPERTIES
                LABELS "mpi;${program}" PROCESSORS 2 TIMEOUT 300
                PASS_REGULAR_EXPRESSION "steps aside and leaves all calls to that MPI.*ok")
        endif()
    endforeach()
endforeach()

# The same beside the library of the MPI ABI, which answers with the version of the other one.
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    set(mpicc ${SIDELIGHT_MPICC_${host}}_abi)
    if(EXISTS ${mpicc})
        sidelight_ask_mpicc(${mpicc})
        set(target ${host}-tests-wrong_host_abi)
        add_executable(${target} ${CMAKE_CURRENT_LIST_DIR}/wrong_host.c)
        set_target_properties(${target} PROPERTIES
            OUTPUT_NAME wrong_host_abi RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${host}/tests)
        target_compile_definitions(${target} PRIVATE MPI_ABI)
        target_include_directories(${target} SYSTEM PRIVATE ${include_directories})
        target_link_libraries(${target} PRIVATE sidelight-options ${link_flags})
        set(test mpi.wrong_host.${host}.abi)
        add_test(NAME ${test}
            COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_ranks.py
                --build ${PROJECT_BINARY_DIR} --host ${host} -n 2 --timeout 180
                --preload ${PROJECT_BINARY_DIR}/${host}/libsidelight.so
                ${PROJECT_BINARY_DIR}/${host}/tests/wrong_host_abi)
        set_tests_properties(${test} PROPERTIES
            LABELS "mpi;${host}" PROCESSORS 2 TIMEOUT 300
            PASS_REGULAR_EXPRESSION "the MPI ABI.*steps aside and leaves all calls to that MPI.*ok")
    endif()
endforeach()
