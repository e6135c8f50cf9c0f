# SPDX-License-Identifier: BSD-3-Clause
# The parts that know no MPI: sidelight-engine, and sidelight-sim for tests on simulated ranks.

function(sidelight_static_library name)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE patterns)
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    add_library(${name} STATIC ${sources})
    set_target_properties(${name} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        UNITY_BUILD ON # one unit: calls between files of a fast path are inlined
        UNITY_BUILD_BATCH_SIZE 0)
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE sidelight-library-options)
endfunction()

# UCX is loaded at run time; only its headers are needed here. Without them the library has no
# network, and says so when it is asked for one.
function(sidelight_find_ucx)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
        pkg_check_modules(UCX QUIET ucx)
    endif()
    find_path(SIDELIGHT_UCX_INCLUDE ucp/api/ucp.h HINTS ${UCX_INCLUDE_DIRS}
        DOC "The directory with ucp/api/ucp.h")
    if(NOT SIDELIGHT_UCX_INCLUDE)
        message(WARNING "UCX has no headers here: windows over several nodes will be left to the "
            "host MPI. They are in the package libucx-dev, ucx-devel or openucx.")
    endif()
endfunction()
sidelight_find_ucx()

# The carrier between nodes, for a library that contains src/fabric.
function(sidelight_network library)
    if(SIDELIGHT_UCX_INCLUDE)
        target_include_directories(${library} SYSTEM PRIVATE ${SIDELIGHT_UCX_INCLUDE})
    endif()
    target_link_libraries(${library} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
if(SIDELIGHT_UCX_INCLUDE)
    set(network_sources fabric/ucx/*.cpp)
else()
    set(network_sources fabric/no_network/*.cpp)
endif()

sidelight_static_library(sidelight-engine
    base/*.cpp datatype/*.cpp
    rma/*.cpp rma/accumulate/*.cpp rma/active/*.cpp rma/region/*.cpp rma/channel/*.cpp
    rma/operation/*.cpp rma/epoch/*.cpp rma/engine/*.cpp
    fabric/*.cpp fabric/mapped/*.cpp fabric/joined/*.cpp ${network_sources})
sidelight_network(sidelight-engine)
sidelight_static_library(sidelight-sim fabric/sim/*.cpp)
# Its loops become vector instructions, which GCC makes of hardly any at -O2. By itself, because the
# rest does not gain by that; each within a line of the instruction cache, because one in two takes
# half as long again. Functions for other processors take in only what has all their options, and
# leaf frame pointers are one that GCC forgets there.
set(loop_options -falign-loops=32)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND loop_options
        -ftree-vectorize -fvect-cost-model=dynamic -mno-omit-leaf-frame-pointer)
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/rma/accumulate/reduction.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_OPTIONS "${loop_options}")
target_link_libraries(sidelight-sim PUBLIC sidelight-engine)
