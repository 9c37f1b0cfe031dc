# SPDX-License-Identifier: Apache-2.0
# browser.cmake - tests of the page in a headless browser; they skip with a message where there is none, or no node.
#
# page_test needs no recordings, view_test drives `headway view` on those at hand.

find_program(NODE node)
mark_as_advanced(NODE)
if(NOT NODE)
	summary_line("browser tests" "left out: no node")
	return()
endif()
file(GLOB browser_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/browser/*_test.mjs)
foreach(script IN LISTS browser_tests)
	get_filename_component(name ${script} NAME_WE)
	test_add(browser.${name} 300 ${NODE} ${script})
endforeach()
