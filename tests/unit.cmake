# unit.cmake - one cmocka program for each unit/*_test.c.

find_path(CMOCKA_INCLUDE_DIR cmocka.h)
find_library(CMOCKA_LIBRARY cmocka)
mark_as_advanced(CMOCKA_INCLUDE_DIR CMOCKA_LIBRARY)
if(NOT CMOCKA_INCLUDE_DIR OR NOT CMOCKA_LIBRARY)
	summary_line("unit tests" "left out: cmocka not found (libcmocka-dev)")
	return()
endif()

file(GLOB unit_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/unit/*_test.c)
list(LENGTH unit_sources unit_count)
summary_line("unit tests" "${unit_count} programs, cmocka")

foreach(source IN LISTS unit_sources)
	get_filename_component(name ${source} NAME_WE)
	add_executable(${name} ${source})
	target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit)
	target_include_directories(${name} SYSTEM PRIVATE ${CMOCKA_INCLUDE_DIR})
	# cmocka hands every test a state that most do not use.
	target_compile_options(${name} PRIVATE -Wno-unused-parameter)
	target_link_libraries(${name} PRIVATE headway_flags ${CMOCKA_LIBRARY})
	if(TARGET headway_static)
		target_link_libraries(${name} PRIVATE headway_static)
	endif()
	test_add(unit.${name} 300 ${name})
endforeach()
