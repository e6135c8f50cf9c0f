# SPDX-License-Identifier: BSD-3-Clause
# A program of MPI-5.1, built as a user builds it: by the host's own mpicc, with no change of the
# source and no flag but those of docs/guide/notifications.md.

foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    set(program ${PROJECT_BINARY_DIR}/${host}/tests/notified_program)
    set(header ${PROJECT_SOURCE_DIR}/include/sidelight_notify.h)
    add_custom_command(OUTPUT ${program}
        COMMAND ${SIDELIGHT_MPICC_${host}} -include ${header}
            ${CMAKE_CURRENT_LIST_DIR}/notified_program.c -o ${program}
            ${PROJECT_BINARY_DIR}/${host}/libsidelight.so
            -Wl,-rpath,${PROJECT_BINARY_DIR}/${host}
        DEPENDS ${CMAKE_CURRENT_LIST_DIR}/notified_program.c ${header} ${host}-sidelight)
    add_custom_target(${host}-notified-program ALL DEPENDS ${program})
endforeach()
sidelight_mpi_test(notified_program RANKS 2 4)
sidelight_mpi_test(emulated.notified_program RANKS 2 PROGRAM notified_program
    ENVIRONMENT SIDELIGHT_ROUTE=emulated)
