# SPDX-License-Identifier: Apache-2.0
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

# The collector is no part of the library: its tests bring its sources along.
# Its clock is the test's, so that no test waits for a chunk to become old.
target_sources(spool_test PRIVATE ${collect_sources})
target_link_options(spool_test PRIVATE -Wl,--wrap=collect_now)
target_sources(spool_runs_test PRIVATE ${collect_sources})

# src/cli is no part of the library either: a test of its files names them.
file(GLOB picture_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/picture/*.c)
target_sources(picture_test PRIVATE ${picture_sources})
file(GLOB kit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/kit/*.c)
foreach(name table_test lang_test)
	target_sources(${name} PRIVATE ${kit_sources} ${picture_sources})
endforeach()

# The collector's test again under ThreadSanitizer, which cannot be mixed with the others.
include(CheckCSourceRuns)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=thread")
check_c_source_runs("int main(void) { return 0; }" HEADWAY_HAS_TSAN)
unset(CMAKE_REQUIRED_FLAGS)
if(HEADWAY_HAS_TSAN)
	add_executable(spool_test_tsan unit/spool_test.c ${collect_sources})
	target_include_directories(spool_test_tsan SYSTEM PRIVATE ${CMOCKA_INCLUDE_DIR})
	target_compile_options(spool_test_tsan PRIVATE -fsanitize=thread -O1 -Wno-unused-parameter)
	target_link_options(spool_test_tsan PRIVATE -fsanitize=thread -Wl,--wrap=collect_now)
	target_link_libraries(spool_test_tsan PRIVATE headway_plain ${CMOCKA_LIBRARY})
	test_add(unit.spool_test_tsan 300 spool_test_tsan)
else()
	summary_line("thread tests" "left out: ThreadSanitizer does not run here")
endif()
