# SPDX-License-Identifier: BSD-3-Clause
# lib/sidelight holds the command's tools/ and one folder per host, where the command looks for the
# library; bin/sidelight leads to it.

set(destination ${CMAKE_INSTALL_LIBDIR}/sidelight)
foreach(host IN LISTS SIDELIGHT_FOUND_HOSTS)
    install(TARGETS ${host}-sidelight LIBRARY DESTINATION ${destination}/${host})
endforeach()
# The modules as sources: what is made of them belongs to one compiler and one host.
install(FILES include/sidelight.h include/sidelight_f08.f90 include/sidelight_mpi.f90
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(PROGRAMS tools/sidelight DESTINATION ${destination}/tools)
install(DIRECTORY tools/sidelight_lib DESTINATION ${destination}/tools
    FILES_MATCHING PATTERN "*.py")
install(CODE "
    set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    file(MAKE_DIRECTORY \"\${prefix}/${CMAKE_INSTALL_BINDIR}\")
    file(CREATE_LINK ../${destination}/tools/sidelight
        \"\${prefix}/${CMAKE_INSTALL_BINDIR}/sidelight\" SYMBOLIC)")
