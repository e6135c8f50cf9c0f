# SPDX-License-Identifier: BSD-3-Clause
# Language levels, warnings and optimisation of everything that is ours: sidelight-options.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX calls in tests and benchmarks
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
# Assertions stay on in programs and tests; the library alone is built with NDEBUG.
# Debugging information is of functions and lines, for stacks and profiles: that of variables, which
# Debug has, takes a third of the time.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")

# The presets switch it on, for those who work on it. Another compiler has warnings of its own.
option(SIDELIGHT_WARNINGS_ARE_ERRORS "A warning of the compiler ends the build" OFF)
add_library(sidelight-options INTERFACE)
target_compile_options(sidelight-options INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${SIDELIGHT_WARNINGS_ARE_ERRORS}>:-Werror> -fno-omit-frame-pointer)
target_link_libraries(sidelight-options INTERFACE Threads::Threads)
if(SIDELIGHT_SANITIZE)
    target_compile_options(sidelight-options INTERFACE
        -fsanitize=${SIDELIGHT_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(sidelight-options INTERFACE -fsanitize=${SIDELIGHT_SANITIZE})
    if(SIDELIGHT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # It says that ThreadSanitizer does not see fences. Ours order memory of other processes.
        target_compile_options(sidelight-options INTERFACE -Wno-tsan)
    endif()
    if(SIDELIGHT_SANITIZE MATCHES "undefined")
        # It opens a pipe to look at an object, and takes the object for a wrong one where it
        # cannot: some tests leave the process no descriptor.
        target_compile_options(sidelight-options INTERFACE -fno-sanitize=vptr)
    endif()
endif()

# What goes into libsidelight.so: it is preloaded, so thread-local variables may use the fast model,
# and no name leaves it unless cmake/exports.map says so.
add_library(sidelight-library-options INTERFACE)
target_link_libraries(sidelight-library-options INTERFACE sidelight-options)
target_compile_options(sidelight-library-options INTERFACE
    -ftls-model=initial-exec -momit-leaf-frame-pointer)
target_compile_definitions(sidelight-library-options INTERFACE $<$<CONFIG:RelWithDebInfo>:NDEBUG>)
target_include_directories(sidelight-library-options INTERFACE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
