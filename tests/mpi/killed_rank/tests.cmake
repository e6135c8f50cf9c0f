# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are killed, what they leave behind, and what becomes of the others.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_mpi_program(${host} killed_rank sitting SOURCES ${CMAKE_CURRENT_LIST_DIR}/sitting.c)
    foreach(program surviving holding naming creating active mixed offering)
        sidelight_mpi_program(${host} killed_rank ${program}
            SOURCES ${CMAKE_CURRENT_LIST_DIR}/${program}.c)
    endforeach()
endforeach()

# mpi.killed_rank.<ranks>.<host>, nodes.<name>.<ranks>.<nodes>.<host>
function(sidelight_killed_rank_test name host ranks nodes)
    if(nodes GREATER 0)
        set(suite nodes)
        set(test nodes.${name}.${ranks}.${nodes}.${host})
    else()
        set(suite mpi)
        set(test mpi.${name}.${ranks}.${host})
    endif()
    add_test(NAME ${test} COMMAND ${SIDELIGHT_PYTHON}
        ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/test_killed_rank.py
        --host ${host} --build ${PROJECT_BINARY_DIR} -n ${ranks} --nodes ${nodes} ${ARGN})
    set_tests_properties(${test} PROPERTIES
        LABELS "${suite};${host}" PROCESSORS ${ranks} TIMEOUT 1200 SKIP_RETURN_CODE 77)
endfunction()

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    foreach(ranks 2 4)
        sidelight_killed_rank_test(killed_rank ${host} ${ranks} 0)
    endforeach()
    if(NOT host MATCHES "^mpich") # on one node its launcher ends the job nevertheless, or itself
        sidelight_killed_rank_test(killed_creating ${host} 3 0 --surviving creating --moments 3)
        sidelight_killed_rank_test(killed_active ${host} 3 0 --surviving active --moments 2)
        sidelight_killed_rank_test(killed_offering ${host} 3 0 --surviving offering --moments 6
            --env SIDELIGHT_OFFERS=1)
    endif()
endforeach()

# Across nodes, without MPICH before 4.2 (tests/nodes/tests.cmake says why). Who survives must not
# share a node with the dead: there nobody would be told (docs/design/lost-peers.md).
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    if(NOT host MATCHES "^mpich(4$|-4[.][01])")
        sidelight_killed_rank_test(killed_rank ${host} 2 2)
        sidelight_killed_rank_test(killed_rank ${host} 4 2)
        sidelight_killed_rank_test(surviving ${host} 2 2 --surviving surviving)
        sidelight_killed_rank_test(surviving ${host} 3 3 --surviving surviving)
        sidelight_killed_rank_test(killed_holding ${host} 3 3 --surviving holding)
        sidelight_killed_rank_test(killed_naming ${host} 3 3 --surviving naming --moments 4)
        sidelight_killed_rank_test(killed_active ${host} 3 3 --surviving active --moments 4)
        sidelight_killed_rank_test(killed_mixed ${host} 3 3 --surviving mixed --moments 2)
    endif()
endforeach()
