# SPDX-License-Identifier: BSD-3-Clause
# Finds the host MPIs. For each, two targets: <host>-headers to compile against its <mpi.h>, and
# <host>-mpi to link a program to it as its mpicc would. SIDELIGHT_FOUND_HOSTS holds their names,
# and SIDELIGHT_LIBRARY_HOSTS those and mpi-abi, which is no MPI of its own: it has the library, and
# only the programs and tests of tests/mpi/abi.cmake, unless SIDELIGHT_HOSTS names it.
# SIDELIGHT_MPICC_<host> its compiler, SIDELIGHT_MPIFORT_<host> where that for Fortran would be.

# Ask mpicc for its flags; compile and link flags are told apart by their first letters.
function(sidelight_ask_mpicc mpicc)
    execute_process(COMMAND ${mpicc} -show
        OUTPUT_VARIABLE shown OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(words UNIX_COMMAND "${shown}")
    # Intel MPI's way to pass a path to the linker, as the others write it.
    string(REPLACE "-Xlinker;" "-Wl," words "${words}")
    string(REPLACE "-Wl,-rpath;-Wl," "-Wl,-rpath," words "${words}")
    list(POP_FRONT words)
    set(directories ${words})
    list(FILTER directories INCLUDE REGEX "^-I")
    list(TRANSFORM directories REPLACE "^-I" "")
    set(definitions ${words}) # MPI_ABI, by which an <mpi.h> is that of the MPI ABI
    list(FILTER definitions INCLUDE REGEX "^-D")
    list(TRANSFORM definitions REPLACE "^-D" "")
    set(link_flags ${words})
    list(FILTER link_flags INCLUDE REGEX "^(-L|-l|-Wl,|-pthread)")
    set(include_directories ${directories} PARENT_SCOPE)
    set(definitions ${definitions} PARENT_SCOPE)
    set(link_flags ${link_flags} PARENT_SCOPE)
endfunction()

# The data symbols that this host's <mpi.h> declares (Open MPI's predefined handles), made weak: the
# library must also load where no MPI is, in a shell or an interpreter between mpiexec and the rank.
# Where that header is, the preprocessor says: -show leaves out folders that are searched anyway.
function(sidelight_weak_symbols output mpicc)
    set(source ${PROJECT_BINARY_DIR}/CMakeFiles/header.c)
    file(WRITE ${source} "#include <mpi.h>\n")
    execute_process(COMMAND ${mpicc} -E ${source}
        OUTPUT_VARIABLE preprocessed COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "\n# 1 \"([^\n\"]*/mpi\\.h)\"" ignored "${preprocessed}")
    file(STRINGS "${CMAKE_MATCH_1}" declarations REGEX "^OMPI_DECLSPEC +extern [^(]*;")
    set(pragmas "")
    set(directives "")
    foreach(declaration IN LISTS declarations)
        string(REGEX MATCH "([A-Za-z0-9_]+) *;" ignored "${declaration}")
        string(APPEND pragmas "#pragma weak ${CMAKE_MATCH_1}\n")
        string(APPEND directives "asm(\".weak ${CMAKE_MATCH_1}\");\n")
    endforeach()
    # Clang warns of each name that a source does not declare, and cannot be told not to.
    file(CONFIGURE OUTPUT ${output} @ONLY
        CONTENT "#ifdef __clang__\n${directives}#else\n${pragmas}#endif\n")
endfunction()

function(sidelight_add_host host mpicc)
    sidelight_ask_mpicc(${mpicc})
    sidelight_weak_symbols(${PROJECT_BINARY_DIR}/${host}/weak_symbols.h ${mpicc})

    add_library(${host}-headers INTERFACE)
    target_include_directories(${host}-headers SYSTEM INTERFACE ${include_directories})
    # The C++ bindings that MPI removed; the two macros are the hosts' own.
    target_compile_definitions(${host}-headers INTERFACE
        MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX ${definitions})

    # GCC takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array that is too small.
    target_compile_options(${host}-headers INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow>)

    add_library(${host}-mpi INTERFACE)
    target_link_libraries(${host}-mpi INTERFACE ${host}-headers ${link_flags})
endfunction()

# Lines `name=mpicc` from the one module that knows the hosts; the sidelight command uses it too.
function(sidelight_list_hosts result)
    set(question "import sys; sys.exit(sys.version_info < (3, 10))")
    execute_process(COMMAND ${SIDELIGHT_PYTHON} -c ${question}
        RESULT_VARIABLE too_old ERROR_QUIET)
    if(too_old)
        message(FATAL_ERROR "${SIDELIGHT_PYTHON} is no Python of version 3.10 or later: name one, "
            "make SIDELIGHT_PYTHON=/path/to/python3 or cmake -DSIDELIGHT_PYTHON=/path/to/python3")
    endif()
    execute_process(COMMAND ${SIDELIGHT_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/list_hosts.py
        ${PROJECT_BINARY_DIR} ${SIDELIGHT_MPICC}
        OUTPUT_VARIABLE listed OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" listed "${listed}")
    set(${result} ${listed} PARENT_SCOPE)
endfunction()

set(SIDELIGHT_FOUND_HOSTS "")
set(SIDELIGHT_LIBRARY_HOSTS "")
set(hosts_present "")
set(compilers "")
if(SIDELIGHT_MPICC OR NOT SIDELIGHT_HOSTS STREQUAL none)
    sidelight_list_hosts(hosts_present)
endif()
if(NOT SIDELIGHT_MPICC AND NOT SIDELIGHT_HOSTS MATCHES "^(all|none)$")
    list(TRANSFORM hosts_present REPLACE "=.*" "" OUTPUT_VARIABLE found)
    set(unknown ${SIDELIGHT_HOSTS})
    list(REMOVE_ITEM unknown "" ${found})
    if(unknown)
        message(FATAL_ERROR "SIDELIGHT_HOSTS names ${unknown}, and the hosts found here are "
            "'${found}'. Several names are separated by ;")
    endif()
endif()
foreach(line IN LISTS hosts_present)
    string(REPLACE "=" ";" fields "${line}")
    list(GET fields 0 host)
    list(GET fields 1 mpicc)
    if(SIDELIGHT_MPICC OR SIDELIGHT_HOSTS STREQUAL all OR host IN_LIST SIDELIGHT_HOSTS)
        sidelight_add_host(${host} ${mpicc})
        if(mpicc MATCHES "mpicc[^/]*$")
            string(REGEX REPLACE "mpicc([^/]*)$" "mpifort\\1" SIDELIGHT_MPIFORT_${host} ${mpicc})
        else() # such as Intel's mpiicx
            string(REGEX REPLACE "[^/]*$" "mpifort" SIDELIGHT_MPIFORT_${host} ${mpicc})
        endif()
        set(SIDELIGHT_MPICC_${host} ${mpicc})
        list(APPEND compilers ${mpicc})
        list(APPEND SIDELIGHT_LIBRARY_HOSTS ${host})
        if(SIDELIGHT_MPICC OR NOT host STREQUAL mpi-abi OR host IN_LIST SIDELIGHT_HOSTS)
            list(APPEND SIDELIGHT_FOUND_HOSTS ${host})
        endif()
    endif()
endforeach()
# Where a bare name leads may be another place the next time, as behind sudo.
if(SIDELIGHT_MPICC)
    set_property(CACHE SIDELIGHT_MPICC PROPERTY VALUE "${compilers}")
endif()
if(SIDELIGHT_HOSTS STREQUAL all AND NOT SIDELIGHT_LIBRARY_HOSTS)
    message(WARNING "No host MPI is found, so no library will be built: name the compiler of "
        "yours, make MPICC=/path/to/mpicc or -DSIDELIGHT_MPICC=/path/to/mpicc, or install "
        "libmpich-dev or libopenmpi-dev of Debian.")
endif()
message(STATUS "Host MPIs: ${SIDELIGHT_LIBRARY_HOSTS}")
