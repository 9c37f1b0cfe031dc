# SPDX-License-Identifier: Apache-2.0
# fuzz.cmake - one libFuzzer program for each fuzz/*_fuzz.c, run for HEADWAY_FUZZ_SECONDS.
#
# Seeds are fuzz/corpus/NAME/ of the repository; what a run finds stays in the build tree.

set(HEADWAY_FUZZ_SECONDS 10 CACHE STRING "How long ctest runs each fuzz target")

include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=fuzzer,address,undefined")
check_c_source_compiles("
	#include <stddef.h>
	#include <stdint.h>
	int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
	int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
	{ return bytes && size == 1 ? -1 : 0; }" HEADWAY_HAS_LIBFUZZER)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT HEADWAY_HAS_LIBFUZZER)
	summary_line("fuzz targets" "left out: needs clang and its compiler-rt")
	return()
endif()

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/*_fuzz.c)
list(LENGTH fuzz_sources fuzz_count)
summary_line("fuzz targets" "${fuzz_count}, ${HEADWAY_FUZZ_SECONDS} s each")

set(prefix "")
foreach(source IN LISTS fuzz_sources)
	get_filename_component(target ${source} NAME_WE)
	string(REGEX REPLACE "_fuzz$" "" name ${target})
	set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
	set(found ${CMAKE_CURRENT_BINARY_DIR}/found/${name})
	file(MAKE_DIRECTORY ${found})
	if(NOT IS_DIRECTORY ${seeds})
		set(seeds "")
	endif()

	add_executable(${target} ${source})
	target_include_directories(${target} PRIVATE
		${CMAKE_CURRENT_SOURCE_DIR}/unit ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
	target_compile_definitions(${target} PRIVATE
		FUZZ_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data"
		FUZZ_CORPUS="${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus")
	target_link_libraries(${target} PRIVATE headway_flags headway_static)
	target_link_options(${target} PRIVATE -fsanitize=fuzzer)

	math(EXPR limit "${HEADWAY_FUZZ_SECONDS} + 120")
	test_add(fuzz.${name} ${limit} ${target}
		-max_total_time=${HEADWAY_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048 -verbosity=0
		-artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/${name}- ${found} ${seeds})
	# The long ones start first.
	set_tests_properties(fuzz.${name} PROPERTIES COST ${HEADWAY_FUZZ_SECONDS})
endforeach()
