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

sidelight_static_library(sidelight-engine
    base/*.cpp rma/*.cpp datatype/*.cpp fabric/*.cpp fabric/mapped/*.cpp)
sidelight_static_library(sidelight-sim fabric/sim/*.cpp)
target_link_libraries(sidelight-sim PUBLIC sidelight-engine)
