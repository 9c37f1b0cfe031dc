# SPDX-License-Identifier: Apache-2.0
# manual.cmake - man pages and shell completion, made by the program itself from the tables that its --help is made from.
#
# A program that cannot run here (a cross build without an emulator) or is slow to (a sanitizer's) makes none.
if(NOT TARGET headway OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR) OR HEADWAY_SANITIZE OR HEADWAY_FUZZERS)
	return()
endif()

set(manual_stamp ${PROJECT_BINARY_DIR}/manual.stamp)
add_custom_command(OUTPUT ${manual_stamp}
	COMMAND ${CMAKE_COMMAND} -E rm -rf man completion
	COMMAND headway --generate man man
	COMMAND headway --generate bash completion
	COMMAND headway --generate zsh completion
	COMMAND headway --generate fish completion
	COMMAND ${CMAKE_COMMAND} -E touch ${manual_stamp}
	DEPENDS headway
	WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
	COMMENT "Making man pages and shell completion"
	VERBATIM)
add_custom_target(headway_manual ALL DEPENDS ${manual_stamp})

install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/completion/headway
	DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/completion/_headway
	DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/completion/headway.fish
	DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
