# SPDX-License-Identifier: BSD-3-Clause
# The Python of tools/, with the test runner of the standard library.

# What is tested is what is built here. A library with a sanitizer cannot be loaded by Python.
set(build_directory "")
if(NOT SIDELIGHT_SANITIZE)
    set(build_directory SIDELIGHT_BUILD_DIR=${PROJECT_BINARY_DIR})
endif()
file(GLOB tool_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/test_*.py)
foreach(test IN LISTS tool_tests)
    get_filename_component(name ${test} NAME_WE)
    string(REPLACE "test_" "" name ${name})
    add_test(NAME tools.${name} COMMAND ${SIDELIGHT_PYTHON} ${test})
    set_tests_properties(tools.${name} PROPERTIES
        LABELS unit TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${build_directory}")
endforeach()
# Runs programs in which processes are late on purpose, as often as others take their cores.
set_tests_properties(tools.report_programs PROPERTIES TIMEOUT 1800 RUN_SERIAL ON)
