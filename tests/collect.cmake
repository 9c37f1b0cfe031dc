# collect.cmake - programs for the tests of the collector: what it is loaded into, and what reads its spools.
#
# Each collect/*.c is a program of that name in the folder COLLECT; none of them is sanitized, since a
# preloaded library cannot come before a sanitizer.

set(collect_folder ${CMAKE_CURRENT_BINARY_DIR}/collect)
file(GLOB collect_programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/collect/*.c)
foreach(source IN LISTS collect_programs)
	get_filename_component(name ${source} NAME_WE)
	add_executable(collect_${name} ${source})
	set_target_properties(collect_${name} PROPERTIES
		OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${collect_folder})
	target_link_libraries(collect_${name} PRIVATE headway_plain Threads::Threads)
endforeach()

list(APPEND test_environment
	"COLLECT=${collect_folder}"
	"COLLECT_LIBRARY=$<TARGET_FILE:headway_collect>")
