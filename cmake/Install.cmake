# SPDX-License-Identifier: BSD-3-Clause
# lib/sidelight holds the command's tools/, the module in python/ and one folder per host, where the
# command looks for the library; bin/sidelight leads to it. For programs that are linked to a
# library: pkg-config's sidelight-<host>, and sidelight::<host> of a CMake package. `make install`
# also strips.

# Below the prefix, so that all of it can be moved; some packagers name them in full.
foreach(directory BINDIR LIBDIR INCLUDEDIR)
    set(full ${CMAKE_INSTALL_FULL_${directory}})
    file(RELATIVE_PATH CMAKE_INSTALL_${directory} ${CMAKE_INSTALL_PREFIX} ${full})
    if(CMAKE_INSTALL_${directory} MATCHES "^\\.\\.(/|$)")
        message(FATAL_ERROR "CMAKE_INSTALL_${directory} is ${full}, which is not below "
            "CMAKE_INSTALL_PREFIX, ${CMAKE_INSTALL_PREFIX}")
    endif()
endforeach()
set(destination ${CMAKE_INSTALL_LIBDIR}/sidelight)
foreach(host IN LISTS SIDELIGHT_LIBRARY_HOSTS)
    install(TARGETS ${host}-sidelight ${host}-sidelight-messages
        LIBRARY DESTINATION ${destination}/${host})
    install(FILES ${PROJECT_BINARY_DIR}/${host}/host.json DESTINATION ${destination}/${host})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/sidelight-host.pc.in
        ${PROJECT_BINARY_DIR}/${host}/sidelight-${host}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${host}/sidelight-${host}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
# The modules as sources: what is made of them belongs to one compiler and one host.
install(FILES include/sidelight.h include/sidelight_am.h include/sidelight_notify.h
    include/sidelight_am_f08.f90 include/sidelight_am_mpi.f90
    include/sidelight_f08.f90 include/sidelight_mpi.f90 include/sidelight_notify_f08.f90
    include/sidelight_notify_mpi.f90
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The command runs with the Python of the build, which may be the only one that is recent enough.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tools/sidelight)
file(READ tools/sidelight command)
string(REGEX REPLACE "^#![^\n]*" "#!${SIDELIGHT_PYTHON}" command "${command}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/sidelight CONTENT "${command}" @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/package/sidelight DESTINATION ${destination}/tools)
install(DIRECTORY tools/sidelight_lib DESTINATION ${destination}/tools
    FILES_MATCHING PATTERN "*.py" PATTERN "page.*")
# For programs in Python; beside tools/, as in the source tree.
install(DIRECTORY python/sidelight DESTINATION ${destination}/python
    FILES_MATCHING PATTERN "*.py")
string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_BINDIR})
install(CODE "
    set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    file(MAKE_DIRECTORY \"\${prefix}/${CMAKE_INSTALL_BINDIR}\")
    file(CREATE_LINK ${up}/${destination}/tools/sidelight
        \"\${prefix}/${CMAKE_INSTALL_BINDIR}/sidelight\" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES
        \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/sidelight\")")

include(CMakePackageConfigHelpers)
set(package ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sidelightConfig.cmake.in
    ${package}/sidelightConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sidelight
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR destination
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${package}/sidelightConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
# From lib/pkgconfig up, where the library directory may have several levels.
string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_LIBDIR})
set(pc_prefix "\${libdir}/${up}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/sidelight.pc.in ${package}/sidelight.pc @ONLY)
install(FILES ${package}/sidelightConfig.cmake ${package}/sidelightConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sidelight)
install(FILES ${package}/sidelight.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
