# SPDX-License-Identifier: BSD-3-Clause
# Fortran programs, where the host has Fortran: mpifort beside its mpicc, with modules that this
# compiler can read. Each is built with mpif.h, with the module mpi and with mpi_f08, and knows
# nothing of Sidelight.

# Whether <text> is a program for the host's Fortran.
function(sidelight_fortran_takes result host text)
    set(directory ${PROJECT_BINARY_DIR}/${host}/fortran-probe)
    file(WRITE ${directory}/probe.f90 "${text}")
    execute_process(WORKING_DIRECTORY ${directory}
        COMMAND ${SIDELIGHT_MPIFORT_${host}} -fallow-argument-mismatch -o probe probe.f90
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
        set(${result} TRUE PARENT_SCOPE)
    else()
        set(${result} FALSE PARENT_SCOPE)
    endif()
endfunction()

# The ways to MPI, by the macros of flavour.inc.
set(flavours mpif_h mpi mpi_f08)
set(macro_of_mpif_h MPIF_H)
set(macro_of_mpi MODULE_MPI)
set(macro_of_mpi_f08 MODULE_MPI_F08)

# sidelight_fortran_program(<host> <name> SOURCES <files> [FLAGS <flags>])
function(sidelight_fortran_program host name)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;FLAGS")
    set(program ${PROJECT_BINARY_DIR}/${host}/tests/fortran/${name})
    set(modules ${PROJECT_BINARY_DIR}/${host}/tests/fortran/modules/${name})
    # One call for several types of argument is how these bindings are used; mpif.h cannot say so.
    add_custom_command(OUTPUT ${program}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${modules}
        COMMAND ${SIDELIGHT_MPIFORT_${host}} -O1 -g -w -fallow-argument-mismatch ${arg_FLAGS}
            -J ${modules} -I ${CMAKE_CURRENT_FUNCTION_LIST_DIR} ${arg_SOURCES} -o ${program}
        DEPENDS ${arg_SOURCES} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/flavour.inc)
    add_custom_target(${host}-fortran-${name} ALL DEPENDS ${program})
endfunction()

function(sidelight_fortran_programs host)
    set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
    foreach(flavour IN LISTS flavours)
        set(flags -D${macro_of_${flavour}})
        foreach(program windows operations)
            sidelight_fortran_program(${host} ${program}_${flavour}
                SOURCES ${here}/checks.F90 ${here}/${program}.F90 FLAGS ${flags})
        endforeach()
    endforeach()
    sidelight_fortran_program(${host} fixed_form
        SOURCES ${here}/fixed_form.F FLAGS -fcray-pointer)
    sidelight_fortran_takes(large_counts ${host} "use mpi_f08\n integer(MPI_COUNT_KIND) :: n = 0\n \
        call MPI_Put(n, n, MPI_BYTE, 0, 0_MPI_ADDRESS_KIND, n, MPI_BYTE, MPI_WIN_NULL)\n end\n")
    set(flags -DMODULE_MPI_F08 $<$<BOOL:${large_counts}>:-DLARGE_COUNTS>)
    sidelight_fortran_program(${host} modern
        SOURCES ${here}/checks.F90 ${here}/modern.F90 FLAGS ${flags})
endfunction()

set(without_fortran "")
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_fortran_takes(has_fortran ${host} "use mpi_f08\n call MPI_Init\n end\n")
    if(has_fortran)
        sidelight_fortran_programs(${host})
    else()
        message(STATUS "${host}: no Fortran (${SIDELIGHT_MPIFORT_${host}} does not build a program "
            "with mpi_f08), its tests are left out")
        list(APPEND without_fortran ${host} "the host has no Fortran here")
    endif()
endforeach()

function(sidelight_fortran_test program)
    sidelight_mpi_test(fortran.${program} PROGRAM fortran/${program} RANKS 2 3 TIMEOUT 120
        ARGS sidelight SKIP_HOSTS ${without_fortran} ${ARGN})
    sidelight_mpi_test(emulated.fortran.${program} PROGRAM fortran/${program} RANKS 2 TIMEOUT 120
        ARGS sidelight SKIP_HOSTS ${without_fortran} ENVIRONMENT SIDELIGHT_ROUTE=emulated)
endfunction()

sidelight_fortran_test(fixed_form)
sidelight_fortran_test(modern)
foreach(flavour IN LISTS flavours)
    sidelight_fortran_test(windows_${flavour})
    sidelight_fortran_test(operations_${flavour})
endforeach()
