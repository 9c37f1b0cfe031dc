# SPDX-License-Identifier: Apache-2.0
# install.cmake - what `make install` puts under PREFIX.

configure_file(cmake/headway.pc.in headway.pc @ONLY)

if(TARGET headway)
	install(TARGETS headway RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET headway_static)
	install(TARGETS headway_static headway_shared
		ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
		LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
	install(FILES ${PROJECT_BINARY_DIR}/headway.pc
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
foreach(library headway_collect headway_osrt headway_opencl headway_nccl headway_mpi headway_cufft headway_cublas)
	if(TARGET ${library})
		install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/headway)
	endif()
endforeach()
install(FILES include/headway.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} OPTIONAL)
install(DIRECTORY recipes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/headway/recipes USE_SOURCE_PERMISSIONS)
# PYTHONPATH can name this folder; a wheel and the .deb have the package where Python looks (scripts/package).
install(DIRECTORY python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/headway/python PATTERN __pycache__ EXCLUDE)
# What --help calls docs/NAME.md is docs/NAME.md below this folder, so that links between the documents lead somewhere.
install(FILES LICENSE CHANGELOG.md SECURITY.md README.md README.zh.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN *.md PATTERN img EXCLUDE)
