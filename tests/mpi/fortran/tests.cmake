# SPDX-License-Identifier: BSD-3-Clause
# One Fortran program, with the module mpi and with mpif.h, where the host has a Fortran compiler:
# mpifort.<family> of Debian's hosts. The program is not recompiled for Sidelight.

set(source ${CMAKE_CURRENT_LIST_DIR}/fortran.F90)
set(without_fortran "")
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    string(REGEX REPLACE "4$" "" family ${host})
    find_program(${host}_mpifort mpifort.${family})
    if(NOT ${host}_mpifort)
        list(APPEND without_fortran ${host} "no Fortran compiler")
        continue()
    endif()
    # One call for several types of argument is how these bindings are used; mpif.h cannot say so.
    set(compile ${${host}_mpifort} -O1 -g -w -fallow-argument-mismatch ${source} -o)
    set(programs ${PROJECT_BINARY_DIR}/${host}/tests/fortran_module
        ${PROJECT_BINARY_DIR}/${host}/tests/fortran_include)
    list(GET programs 0 by_module)
    list(GET programs 1 by_include)
    add_custom_command(OUTPUT ${by_module} COMMAND ${compile} ${by_module} DEPENDS ${source})
    add_custom_command(OUTPUT ${by_include} COMMAND ${compile} ${by_include} -DMPIF_H
        DEPENDS ${source})
    add_custom_target(${host}-tests-fortran ALL DEPENDS ${programs})
endforeach()

foreach(program fortran_module fortran_include)
    sidelight_mpi_test(${program} RANKS 2 3 ARGS sidelight SKIP_HOSTS ${without_fortran})
endforeach()
