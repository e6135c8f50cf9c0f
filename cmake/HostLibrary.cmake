# SPDX-License-Identifier: BSD-3-Clause
# build/<host>/libsidelight.so: the engine and the parts that are compiled against the host's
# <mpi.h>.

# Some systems have the library of C++ that is linked into it in a package of its own.
if(SIDELIGHT_LIBRARY_HOSTS)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++)
    check_cxx_source_compiles("#include <new>\nint main() { delete new int; }"
        SIDELIGHT_HAS_STATIC_LIBSTDCXX)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    if(NOT SIDELIGHT_HAS_STATIC_LIBSTDCXX)
        unset(SIDELIGHT_HAS_STATIC_LIBSTDCXX CACHE)
        message(FATAL_ERROR "${CMAKE_CXX_COMPILER} does not link with -static-libstdc++: Fedora "
            "and its relatives have the package libstdc++-static for it")
    endif()
endif()

# It is not linked to the host: what it calls there it finds at run time, so that it can be
# preloaded into any program, and an MPI function called by name is a link error. What it calls of
# the C library is bound when it is loaded, so that no operation waits for the dynamic linker.
function(sidelight_host_library host)
    set(src ${PROJECT_SOURCE_DIR}/src)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
        ${src}/api/*.cpp ${src}/runtime/*.cpp ${src}/host/*.cpp ${src}/datatype/mpi/*.cpp)
    foreach(source IN LISTS sources)
        get_filename_component(folder ${source} DIRECTORY)
        file(RELATIVE_PATH folder ${src} ${folder})
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
    endforeach()
    # What is inlined on the shortest ways is not for their neighbours to decide.
    set_source_files_properties(${src}/api/operations.cpp ${src}/api/synchronization.cpp
        ${src}/api/request_operations.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set(name ${host}-sidelight)
    set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    add_library(${name} SHARED ${sources})
    set_target_properties(${name} PROPERTIES
        OUTPUT_NAME sidelight
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${host}
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        UNITY_BUILD ON # a unit per folder: it is the headers that take the time
        UNITY_BUILD_MODE GROUP
        LINK_DEPENDS ${exports})
    target_compile_options(${name} PRIVATE -include ${PROJECT_BINARY_DIR}/${host}/weak_symbols.h)
    target_compile_definitions(${name} PRIVATE SIDELIGHT_VERSION="${PROJECT_VERSION}")
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PRIVATE
        sidelight-engine sidelight-library-options ${host}-headers ${CMAKE_DL_LIBS})
    target_link_options(${name} PRIVATE
        -static-libstdc++ -static-libgcc -Wl,--no-undefined -Wl,-z,now
        -Wl,--version-script=${exports} -Wl,--exclude-libs,ALL)
endfunction()

# build/<host>/libsidelight_messages.so: progress of the host's own messages and collectives. It is
# preloaded above the other one where that is asked for, and never else. No engine is in it.
function(sidelight_message_library host)
    set(src ${PROJECT_SOURCE_DIR}/src)
    file(GLOB sources CONFIGURE_DEPENDS ${src}/messages/*.cpp)
    set(name ${host}-sidelight-messages)
    set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    add_library(${name} SHARED ${sources}
        ${src}/base/alarm.cpp ${src}/base/futex.cpp ${src}/base/held_file.cpp ${src}/base/log.cpp
        ${src}/base/settings.cpp ${src}/base/shared_memory.cpp
        ${src}/host/library_threads.cpp ${src}/host/node/own_thread.cpp
        ${src}/host/mpi/errors.cpp ${src}/host/mpi/fit.cpp ${src}/host/mpi/large_counts.cpp
        ${src}/host/mpi/session_level.cpp ${src}/host/mpi/table.cpp ${src}/host/mpi/version.cpp)
    set_target_properties(${name} PROPERTIES
        OUTPUT_NAME sidelight_messages
        UNITY_BUILD ON
        UNITY_BUILD_BATCH_SIZE 0
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${host}
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        LINK_DEPENDS ${exports})
    target_compile_options(${name} PRIVATE -include ${PROJECT_BINARY_DIR}/${host}/weak_symbols.h)
    target_link_libraries(${name} PRIVATE
        sidelight-library-options ${host}-headers ${CMAKE_DL_LIBS})
    target_link_options(${name} PRIVATE
        -static-libstdc++ -static-libgcc -Wl,--no-undefined -Wl,-z,now
        -Wl,--version-script=${exports} -Wl,--exclude-libs,ALL)
    add_dependencies(${host}-sidelight ${name})
endfunction()

# The public header must compile alone as strict C99 and as C++.
function(sidelight_header_check host)
    set(directory ${PROJECT_BINARY_DIR}/${host}/header)
    foreach(extension c cpp)
        file(CONFIGURE OUTPUT ${directory}/alone.${extension} CONTENT "#include <sidelight.h>\n")
    endforeach()
    add_library(${host}-header-check OBJECT ${directory}/alone.c ${directory}/alone.cpp)
    set_target_properties(${host}-header-check PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
    target_include_directories(${host}-header-check PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(${host}-header-check PRIVATE -pedantic-errors)
    target_link_libraries(${host}-header-check PRIVATE sidelight-options ${host}-headers)
endfunction()
