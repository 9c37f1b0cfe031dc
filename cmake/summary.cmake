# SPDX-License-Identifier: Apache-2.0
# summary.cmake - the lines printed at the end of configure: what is built how, what is left out.

set_property(GLOBAL PROPERTY HEADWAY_SUMMARY "")

function(summary_line name text)
	string(LENGTH "${name}" width)
	while(width LESS 14)
		string(APPEND name " ")
		math(EXPR width "${width} + 1")
	endwhile()
	set_property(GLOBAL APPEND PROPERTY HEADWAY_SUMMARY "${name} ${text}")
endfunction()

function(summary_print)
	get_property(lines GLOBAL PROPERTY HEADWAY_SUMMARY)
	message(STATUS "Headway ${PROJECT_VERSION} (${CMAKE_BUILD_TYPE}, ${CMAKE_C_COMPILER_ID} "
		"${CMAKE_C_COMPILER_VERSION})")
	foreach(line IN LISTS lines)
		message(STATUS "  ${line}")
	endforeach()
endfunction()
