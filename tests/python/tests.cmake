# SPDX-License-Identifier: BSD-3-Clause
# The module for Python, with mpi4py.

# A library with a sanitizer cannot be loaded by Python.
if(NOT SIDELIGHT_SANITIZE)
    foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
        add_test(NAME mpi.python.2.${host} COMMAND ${SIDELIGHT_PYTHON}
            ${CMAKE_CURRENT_LIST_DIR}/run --build ${PROJECT_BINARY_DIR} --host ${host})
        set_tests_properties(mpi.python.2.${host} PROPERTIES
            LABELS "mpi;${host}" PROCESSORS 2 TIMEOUT 600 SKIP_RETURN_CODE 77)
    endforeach()
endif()
