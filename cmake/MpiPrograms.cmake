# SPDX-License-Identifier: BSD-3-Clause
# MPI programs in C, once per host: build/<host>/<kind>/<program>.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(OPENBLAS QUIET IMPORTED_TARGET openblas)
endif()
if(NOT TARGET PkgConfig::OPENBLAS)
    message(STATUS "OpenBLAS: pkg-config finds none, so no examples/lu (package libopenblas-dev)")
endif()
find_package(ZLIB)
if(NOT ZLIB_FOUND)
    message(WARNING "zlib is not found, so no examples/lu, examples/search and bench/transactions, "
        "nor their tests (package zlib1g-dev)")
endif()

# sidelight_mpi_program(<host> <kind> <name> SOURCES <files> [LIBRARIES <libraries>])
# A program that includes <sidelight.h> calls the library by name and is linked to it, ahead of the
# host; any other program knows nothing of it and is linked to the host alone.
function(sidelight_mpi_program host kind name)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "SOURCES;LIBRARIES")
    set(target ${host}-${kind}-${name})
    add_executable(${target} ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${host}/${kind})
    target_link_libraries(${target} PRIVATE sidelight-options)
    set(users "")
    foreach(source IN LISTS arg_SOURCES)
        file(STRINGS ${source} includes REGEX "^#include [<\"]sidelight.h[>\"]")
        list(APPEND users ${includes})
    endforeach()
    if(users AND TARGET ${host}-sidelight)
        target_link_libraries(${target} PRIVATE ${host}-sidelight)
    else()
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    endif()
    target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} ${host}-mpi m)
    if(kind STREQUAL examples)
        add_dependencies(examples ${target})
    endif()
endfunction()

# sidelight_mpi_directory(<host> <kind> <directory>)
# Every C file with a main function is a program; the others are linked into each of them. A folder
# with other wishes has a programs.cmake, which is included in its place and sees host, kind and
# directory.
function(sidelight_mpi_directory host kind directory)
    set(directory ${PROJECT_SOURCE_DIR}/${directory})
    include(${directory}/programs.cmake OPTIONAL RESULT_VARIABLE own_rules)
    if(own_rules)
        return()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${directory}/*.c)
    set(programs "")
    foreach(source IN LISTS sources)
        file(STRINGS ${source} main REGEX "^(int )?main\\(")
        if(main)
            list(APPEND programs ${source})
        endif()
    endforeach()
    list(REMOVE_ITEM sources ${programs})
    foreach(program IN LISTS programs)
        get_filename_component(name ${program} NAME_WE)
        sidelight_mpi_program(${host} ${kind} ${name}
            SOURCES ${program} ${sources})
    endforeach()
endfunction()
