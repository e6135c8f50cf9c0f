# SPDX-License-Identifier: BSD-3-Clause
# Fortran programs, where the host has Fortran: mpifort beside its mpicc, with modules that this
# compiler can read. Each is built with mpif.h, with the module mpi and with mpi_f08, and knows
# nothing of Sidelight but for `epochs`, `notified` and `active`, which are about its own calls.

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

# What differs between the ways to MPI: the macro of flavour.inc, and the module of Sidelight.
set(flavours mpif_h mpi mpi_f08)
set(macro_of_mpif_h MPIF_H)
set(macro_of_mpi MODULE_MPI)
set(macro_of_mpi_f08 MODULE_MPI_F08)
set(module_for_mpif_h ${PROJECT_SOURCE_DIR}/include/sidelight_mpi.f90) # its constants
set(module_for_mpi ${PROJECT_SOURCE_DIR}/include/sidelight_mpi.f90)
set(module_for_mpi_f08 ${PROJECT_SOURCE_DIR}/include/sidelight_f08.f90)
set(am_for_mpif_h "")
set(am_for_mpi ${PROJECT_SOURCE_DIR}/include/sidelight_am_mpi.f90)
set(am_for_mpi_f08 ${PROJECT_SOURCE_DIR}/include/sidelight_am_f08.f90)
set(notify_for_mpif_h ${PROJECT_SOURCE_DIR}/include/sidelight_notify_mpi.f90)
set(notify_for_mpi ${PROJECT_SOURCE_DIR}/include/sidelight_notify_mpi.f90)
set(notify_for_mpi_f08 ${PROJECT_SOURCE_DIR}/include/sidelight_notify_f08.f90)

# sidelight_fortran_program(<host> <name> SOURCES <files> [FLAGS <flags>] [LINKED])
# LINKED: to the library, ahead of the host.
function(sidelight_fortran_program host name)
    cmake_parse_arguments(PARSE_ARGV 2 arg "LINKED" "" "SOURCES;FLAGS")
    set(program ${PROJECT_BINARY_DIR}/${host}/tests/fortran/${name})
    set(modules ${PROJECT_BINARY_DIR}/${host}/tests/fortran/modules/${name})
    set(library "")
    if(arg_LINKED)
        set(library ${PROJECT_BINARY_DIR}/${host}/libsidelight.so
            -Wl,-rpath,${PROJECT_BINARY_DIR}/${host})
        set(needed ${host}-sidelight)
    endif()
    # One call for several types of argument is how these bindings are used; mpif.h cannot say so.
    add_custom_command(OUTPUT ${program}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${modules}
        COMMAND ${SIDELIGHT_MPIFORT_${host}} -O1 -g -w -fallow-argument-mismatch ${arg_FLAGS}
            -J ${modules} -I ${CMAKE_CURRENT_FUNCTION_LIST_DIR} ${arg_SOURCES} ${library}
            -o ${program}
        DEPENDS ${arg_SOURCES} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/flavour.inc ${needed})
    add_custom_target(${host}-fortran-${name} ALL DEPENDS ${program})
endfunction()

# The modules are for all compilers and all warnings.
function(sidelight_fortran_module_check host)
    set(modules ${PROJECT_BINARY_DIR}/${host}/tests/fortran/modules/checked)
    set(stamp ${modules}/stamp)
    add_custom_command(OUTPUT ${stamp}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${modules}
        COMMAND ${SIDELIGHT_MPIFORT_${host}} -std=f2018 -Wall -Wextra -pedantic -Werror
            -fsyntax-only -J ${modules} ${module_for_mpi} ${module_for_mpi_f08}
            ${notify_for_mpi} ${notify_for_mpi_f08} ${am_for_mpi} ${am_for_mpi_f08}
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ${module_for_mpi} ${module_for_mpi_f08} ${notify_for_mpi} ${notify_for_mpi_f08}
            ${am_for_mpi} ${am_for_mpi_f08})
    add_custom_target(${host}-fortran-module-check ALL DEPENDS ${stamp})
endfunction()

function(sidelight_fortran_programs host)
    set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
    foreach(flavour IN LISTS flavours)
        set(flags -D${macro_of_${flavour}})
        foreach(program windows operations messages)
            sidelight_fortran_program(${host} ${program}_${flavour}
                SOURCES ${here}/checks.F90 ${here}/${program}.F90 FLAGS ${flags})
        endforeach()
        sidelight_fortran_program(${host} epochs_${flavour} LINKED FLAGS ${flags}
            SOURCES ${module_for_${flavour}} ${here}/checks.F90 ${here}/epochs.F90)
        sidelight_fortran_program(${host} notified_${flavour} LINKED FLAGS ${flags}
            SOURCES ${notify_for_${flavour}} ${here}/checks.F90 ${here}/notified.F90)
        sidelight_fortran_program(${host} active_${flavour} LINKED FLAGS ${flags}
            SOURCES ${am_for_${flavour}} ${notify_for_${flavour}} ${here}/checks.F90
                ${here}/active.F90)
    endforeach()
    sidelight_fortran_program(${host} fixed_form
        SOURCES ${here}/fixed_form.F FLAGS -fcray-pointer)
    sidelight_fortran_takes(large_counts ${host} "use mpi_f08\n integer(MPI_COUNT_KIND) :: n = 0\n \
        call MPI_Put(n, n, MPI_BYTE, 0, 0_MPI_ADDRESS_KIND, n, MPI_BYTE, MPI_WIN_NULL)\n end\n")
    set(flags -DMODULE_MPI_F08 $<$<BOOL:${large_counts}>:-DLARGE_COUNTS>)
    sidelight_fortran_program(${host} modern
        SOURCES ${here}/checks.F90 ${here}/modern.F90 FLAGS ${flags})
    sidelight_fortran_module_check(${host})
endfunction()

set(hosts_with_fortran "")
set(without_fortran "")
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    sidelight_fortran_takes(has_fortran ${host} "use mpi_f08\n call MPI_Init\n end\n")
    if(has_fortran)
        sidelight_fortran_programs(${host})
        list(APPEND hosts_with_fortran ${host})
    else()
        message(STATUS "${host}: no Fortran (${SIDELIGHT_MPIFORT_${host}} does not build a program "
            "with mpi_f08), its tests are left out")
        list(APPEND without_fortran ${host} "the host has no Fortran here")
    endif()
endforeach()

function(sidelight_fortran_test program)
    sidelight_mpi_test(fortran.${program} PROGRAM fortran/${program} RANKS 3
        ARGS sidelight SKIP_HOSTS ${without_fortran} ${ARGN})
    sidelight_mpi_test(emulated.fortran.${program} PROGRAM fortran/${program} RANKS 2
        ARGS sidelight SKIP_HOSTS ${without_fortran} ENVIRONMENT SIDELIGHT_ROUTE=emulated)
endfunction()

sidelight_fortran_test(fixed_form)
sidelight_fortran_test(modern)
foreach(flavour IN LISTS flavours)
    sidelight_fortran_test(windows_${flavour})
    sidelight_fortran_test(operations_${flavour})
    # What a linked program needs is in it.
    sidelight_fortran_test(epochs_${flavour} NO_PRELOAD)
    sidelight_fortran_test(notified_${flavour} NO_PRELOAD)
    sidelight_fortran_test(active_${flavour} NO_PRELOAD)
endforeach()

foreach(flavour IN LISTS flavours)
    sidelight_mpi_test(fortran.messages_${flavour} PROGRAM fortran/messages_${flavour} RANKS 2
        MESSAGES SKIP_HOSTS ${without_fortran})
endforeach()

# Between nodes the bindings are the same: one program will do.
sidelight_mpi_test(fortran.operations_mpi_f08 PROGRAM fortran/operations_mpi_f08 RANKS 4 NODES 2
    ARGS sidelight SKIP_HOSTS ${without_fortran} ${SIDELIGHT_FINALIZE_HANGS})

# The names of its bindings, called from C.
sidelight_mpi_test(fortran_attributes RANKS 2 SKIP_HOSTS ${without_fortran})
sidelight_mpi_test(fortran_attributes_local RANKS 2 PROGRAM fortran_attributes ARGS local
    SKIP_HOSTS ${without_fortran})
